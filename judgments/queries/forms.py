"""Form for the need of a query."""

from __future__ import annotations

from typing import Any

from django import forms

from judgments.queries.narratives import LONGEST
from judgments.web.forms import AssayForm


class NarrativeForm(AssayForm):
    """Form for the need of a query."""

    narrative = forms.CharField(
        label="Need",
        required=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text="Describe the searcher's goal, and what is relevant and what is not.",
    )

    def clean(self) -> dict[str, Any]:
        # An empty field removes the need; a request without the field is invalid.
        if "narrative" not in self.data:
            self.add_error("narrative", "Enter the need.")
        return super().clean() or {}
