"""Base form of the pages, and the forms for collections, members, tokens and narratives."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import slugify

from judgments.core.errors import AssayError, Conflict
from judgments.models import ApiToken, Role
from judgments.narratives import LONGEST as LONGEST_NARRATIVE


class AssayForm(forms.Form):
    """A form that can be told what a verb found wrong, and that knows which status it is answered with.

    An act in a view reads::

        form = TokenForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            with form.telling():
                ...the verb...
                return redirect(...)
        return render(request, template, {"form": form}, status=form.status)
    """

    required_css_class = "required"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        self.use_required_attribute = True
        self.conflict = False
        for field in self.fields.values():
            if field.error_messages["required"] == forms.Field.default_error_messages["required"]:
                field.error_messages["required"] = _asked_of(field)

    def tell(self, error: AssayError) -> None:
        """Put what the verb says to the fields that it names, or above the form."""
        self.conflict = isinstance(error, Conflict)
        named = {name: said for name, said in getattr(error, "fields", {}).items() if name in self.fields}
        for name, said in named.items():
            self.add_error(name, said)
        if not named:
            self.add_error(None, str(error))

    def telling(self) -> Telling:
        """Catch what a verb finds wrong and tell it to the form."""
        return Telling(self)

    @property
    def status(self) -> int:
        """200 for a form that waits, 422 for one with errors, 409 for a conflict."""
        if not self.is_bound or not self.errors:
            return 200
        return 409 if self.conflict else 422


def _asked_of(field: forms.Field) -> str:
    """What to do about a field that was left empty."""
    if isinstance(field, forms.MultipleChoiceField | forms.ModelMultipleChoiceField):
        return "Choose at least one."
    return "Choose one." if isinstance(field, forms.ChoiceField) else "Fill this in."


class Telling:
    """The context in which a verb's errors become the form's."""

    def __init__(self, form: AssayForm) -> None:
        self.form = form

    def __enter__(self) -> AssayForm:
        return self.form

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, AssayError):
            self.form.tell(error)
            return True
        return False


class CollectionForm(AssayForm):
    """A new collection."""

    name = forms.CharField(max_length=120, help_text="What is searched, for example: Outdoor shop, site search.")
    slug = forms.SlugField(
        label="Address (optional)",
        required=False,
        max_length=60,
        help_text="Letters, digits and hyphens. It stands in every link and cannot be changed later. Left empty, it is "
        "made from the name.",
        error_messages={"invalid": "Use letters, digits and hyphens only, for example shop-search."},
    )
    description = forms.CharField(
        label="What it is for (optional)",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One or two sentences for those who come later.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not cleaned["slug"]:
            cleaned["slug"] = slugify(cleaned["name"])[:60].strip("-")
        return cleaned


class CollectionSettingsForm(AssayForm):
    """What can be changed about a collection."""

    name = forms.CharField(max_length=120)
    description = forms.CharField(
        label="What it is for (optional)", required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 3})
    )
    embedding_changed_at = forms.DateTimeField(
        label="Embeddings last changed (optional)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="UTC. No number in the data shows that the vector space changed: say it here, and judgments that "
        "are older are pointed out.",
    )


ROLE_WORDS = {
    Role.RATER: "rater: grades what is handed out, and sees nothing else",
    Role.ENGINEER: "engineer: pushes runs, evaluates, reads agreement and snapshots",
    Role.LEAD: "lead: does everything, members included",
}


class MemberForm(AssayForm):
    """A person to be added to a collection."""

    username = forms.CharField(label="User name", max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    role = forms.ChoiceField(choices=list(ROLE_WORDS.items()), initial=Role.RATER, widget=forms.RadioSelect)


class TokenForm(AssayForm):
    """A new key for a program."""

    name = forms.CharField(max_length=100, help_text="What will use it, for example: nightly build.")
    scopes = forms.MultipleChoiceField(
        label="What it may do",
        choices=[(value, f"{value}: {title}") for value, title in ApiToken.Scope.choices],
        initial=[ApiToken.Scope.READ],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(
        label="Expires after",
        coerce=int,
        choices=[(7, "7 days"), (30, "30 days"), (90, "90 days"), (180, "180 days"), (365, "365 days")],
        initial=ApiToken.USUAL_DAYS,
        required=False,
        empty_value=ApiToken.USUAL_DAYS,
    )


class NarrativeForm(AssayForm):
    """What a query means."""

    narrative = forms.CharField(
        label="Need",
        required=False,
        max_length=LONGEST_NARRATIVE,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text="Who types this, to find or do what, and what would be relevant and what not.",
    )

    def clean(self) -> dict[str, Any]:
        # An empty box takes the need away; a form without the box is no form of ours.
        if "narrative" not in self.data:
            self.add_error("narrative", "Write the need.")
        return super().clean() or {}
