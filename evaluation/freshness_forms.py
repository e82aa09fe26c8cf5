"""Forms of the freshness page: recorded changes, document fields and engine files."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django import forms
from django.utils import timezone

from evaluation.feeding import MOST_BYTES
from judgments import declarations
from judgments.forms import AssayForm
from judgments.models import Collection, Declaration

WORDS = {
    "schema": "The schema or an analyzer changed",
    "embedding": "The embedding model changed",
    "category": "A new category came",
    "language": "A new language came",
}


class DeclarationForm(AssayForm):
    """What happened, when, and a word about it."""

    kind = forms.ChoiceField(label="What happened", choices=list(WORDS.items()), widget=forms.RadioSelect)
    on = forms.DateField(
        label="On which day", widget=forms.DateInput(attrs={"type": "date"}), help_text="UTC. Ratings of before count."
    )
    note = forms.CharField(
        label="A word about it (optional)",
        required=False,
        max_length=300,
        help_text="The model’s or field’s name; for a category or a language its name.",
    )

    def clean_on(self) -> dt.date:
        on: dt.date = self.cleaned_data["on"]
        if on > timezone.now().date():
            raise forms.ValidationError("This day has not come yet. Say it once it has happened.")
        return on

    @property
    def happened_at(self) -> dt.datetime:
        """The end of that day, or now where it is today: ratings of the same day may be older."""
        return min(dt.datetime.combine(self.cleaned_data["on"], dt.time.max, dt.UTC), timezone.now())


class FieldsForm(AssayForm):
    """Where documents tell their category and their language."""

    category = forms.CharField(label="Category stands in the field", max_length=100)
    language = forms.CharField(label="Language stands in the field", max_length=100)

    @classmethod
    def of(cls, collection: Collection, data: Any = None) -> FieldsForm:
        """The form with the fields that are read now."""
        return cls(data, initial=declarations.fields_of(collection))


class FeedForm(AssayForm):
    """A file from an engine."""

    what = forms.ChoiceField(
        label="What it is",
        choices=[
            (Declaration.Kind.UNRATED, "a reply of _rank_eval, as JSON"),
            (Declaration.Kind.INDEX, "the ids of all documents in the index, one a line"),
        ],
        widget=forms.RadioSelect,
    )
    file = forms.FileField(label="File")
    name = forms.CharField(
        label="Name of the system (optional)", required=False, max_length=120, help_text="A newer reply replaces it."
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError("The file has more than 32 MB. Split it, or hand in a shorter reply.")
        return file
