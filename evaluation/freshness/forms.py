"""Forms of the freshness page: recorded changes, document fields and engine files."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django import forms
from django.utils import timezone

from evaluation.freshness.uploads import MOST_BYTES
from judgments.members import recorded_changes
from judgments.models import Collection, Declaration
from judgments.web.forms import AssayForm

WORDS = {
    "schema": "Schema or analyzer changed",
    "embedding": "Embedding model changed",
    "category": "New category",
    "language": "New language",
}


class DeclarationForm(AssayForm):
    """Kind, date and note of a recorded change."""

    kind = forms.ChoiceField(label="Change", choices=list(WORDS.items()), widget=forms.RadioSelect)
    on = forms.DateField(
        label="Date", widget=forms.DateInput(attrs={"type": "date"}), help_text="UTC. Assay flags older ratings."
    )
    note = forms.CharField(
        label="Note (optional)",
        required=False,
        max_length=300,
        help_text="The name of the model, field, category or language.",
    )

    def clean_on(self) -> dt.date:
        on: dt.date = self.cleaned_data["on"]
        if on > timezone.now().date():
            raise forms.ValidationError("This date is in the future. Record the change after it has happened.")
        return on

    @property
    def happened_at(self) -> dt.datetime:
        """Return the end of that day, or now if the day is today, because earlier ratings of the same day may be
        affected."""
        return min(dt.datetime.combine(self.cleaned_data["on"], dt.time.max, dt.UTC), timezone.now())


class FieldsForm(AssayForm):
    """The document fields that hold category and language."""

    category = forms.CharField(label="Category field", max_length=100)
    language = forms.CharField(label="Language field", max_length=100)

    @classmethod
    def of(cls, collection: Collection, data: Any = None) -> FieldsForm:
        """Return the form with the current fields."""
        return cls(data, initial=recorded_changes.fields_of(collection))


class FeedForm(AssayForm):
    """A file from an engine."""

    what = forms.ChoiceField(
        label="File contains",
        choices=[
            (Declaration.Kind.UNRATED, "a _rank_eval response as JSON"),
            (Declaration.Kind.INDEX, "the ids of all documents in the index, one per line"),
        ],
        widget=forms.RadioSelect,
    )
    file = forms.FileField(label="File")
    name = forms.CharField(
        label="System name (optional)",
        required=False,
        max_length=120,
        help_text="A newer response with the same name replaces the older one.",
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError("The file is larger than 32 MB. Split it, or upload a smaller response.")
        return file
