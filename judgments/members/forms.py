"""Forms for collections, members and API tokens."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import slugify

from judgments.models import ApiToken, Role
from judgments.web.forms import AssayForm


class CollectionForm(AssayForm):
    name = forms.CharField(max_length=120, help_text="For example: Outdoor shop, site search.")
    slug = forms.SlugField(
        label="Address (optional)",
        required=False,
        max_length=60,
        help_text="Letters, digits and hyphens. It is part of every link and can’t be changed later. Leave empty to "
        "derive it from the name.",
        error_messages={"invalid": "Use letters, digits and hyphens only, for example shop-search."},
    )
    description = forms.CharField(
        label="Description (optional)",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One or two sentences about the purpose of the collection.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not cleaned["slug"]:
            cleaned["slug"] = slugify(cleaned["name"])[:60].strip("-")
        return cleaned


class CollectionSettingsForm(AssayForm):
    name = forms.CharField(max_length=120)
    description = forms.CharField(
        label="Description (optional)", required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 3})
    )
    embedding_changed_at = forms.DateTimeField(
        label="Embeddings last changed (optional)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="UTC. Assay cannot detect a change of the vector space. Enter its date to flag older judgments.",
    )


ROLE_WORDS = {
    Role.RATER: "rater: grades assigned pairs and sees nothing else",
    Role.ENGINEER: "engineer: adds runs, evaluates, views agreement and snapshots",
    Role.LEAD: "lead: does everything, including managing members",
}


class MemberForm(AssayForm):
    username = forms.CharField(label="User name", max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    role = forms.ChoiceField(choices=list(ROLE_WORDS.items()), initial=Role.RATER, widget=forms.RadioSelect)


class TokenForm(AssayForm):
    name = forms.CharField(max_length=100, help_text="The program that will use it, for example: nightly build.")
    scopes = forms.MultipleChoiceField(
        label="Permissions",
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
