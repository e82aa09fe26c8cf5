"""Forms of the run pages."""

from __future__ import annotations

from django import forms

from judgments.web.forms import AssayForm
from pooling.runs.model_families import family_field


class RenameForm(AssayForm):
    """A new name for a run."""

    name = forms.CharField(max_length=120)


class FamilyForm(AssayForm):
    """The family of the language model behind a run."""

    generator_family = family_field()
