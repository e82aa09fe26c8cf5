"""Forms for the next version of the guidelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from judgments.forms import AssayForm
from judgments.guidelines import LONGEST
from judgments.models import Example


class GuidelinesForm(AssayForm):
    """A new version of the guidelines, and which of the waiting examples it holds."""

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
        help_text="They wait no more once the version is there. Clear the box of one that you took out of the text.",
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
        """The examples that were ticked."""
        ticked = set(self.cleaned_data.get("examples", ()))
        return [one for one in self.waiting if str(one.uuid) in ticked]


class GuidelinesFileForm(AssayForm):
    """A file that was taken from here, or written elsewhere."""

    file = forms.FileField(
        label="A Markdown file",
        help_text="As it was downloaded here, or any other. Nothing is stored before you have read what it changes.",
    )
