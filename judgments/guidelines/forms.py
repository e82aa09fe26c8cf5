"""Forms for the next version of the guidelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from judgments.guidelines.guidelines import LONGEST
from judgments.models import Example
from judgments.web.forms import AssayForm


class GuidelinesForm(AssayForm):
    """Form for a new version of the guidelines, with the pending examples it contains."""

    markdown = forms.CharField(
        label="Guidelines",
        max_length=LONGEST,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 30, "class": "input--tall", "spellcheck": "true"}),
        help_text="Markdown: # headings, - lists, **bold**, tables. HTML is shown as text.",
    )
    examples = forms.MultipleChoiceField(
        label="Examples in this text",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Selected examples become part of this version. Clear the box of an example that you removed.",
    )

    def __init__(self, *args: Any, waiting: Sequence[Example] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting = waiting
        if not waiting:
            del self.fields["examples"]
            return
        self.fields["examples"].choices = [
            (str(one.uuid), f"{one.grade} · “{one.query_text}”: {one.document_text}") for one in waiting
        ]
        self.fields["examples"].initial = [str(one.uuid) for one in waiting]

    @property
    def written(self) -> list[Example]:
        """The selected examples."""
        ticked = set(self.cleaned_data.get("examples", ()))
        return [one for one in self.waiting if str(one.uuid) in ticked]


class GuidelinesFileForm(AssayForm):
    """Form to upload a guidelines file."""

    file = forms.FileField(
        label="Markdown file",
        help_text="Any Markdown file, for example one downloaded here. You see the changes before anything is stored.",
    )
