"""What may be typed into the pages of this room?"""

from __future__ import annotations

from typing import Any

from django import forms

from judgments.core.errors import AssayError
from judgments.forms import AssayForm
from judgments.models import Collection, Snapshot
from pooling.models import Run


class RunChoice(forms.ModelMultipleChoiceField):
    def label_from_instance(self, run: Run) -> str:
        return f"{run.name}, {run.rows:,} rows"


class ScoreForm(AssayForm):
    """Which runs to score on which snapshot, with which metrics."""

    snapshot = forms.ModelChoiceField(
        Snapshot.objects.none(), to_field_name="uuid", empty_label=None, widget=forms.HiddenInput
    )
    runs = RunChoice(
        Run.objects.none(),
        to_field_name="uuid",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one run."},
    )
    metrics = forms.CharField(
        required=False,
        max_length=400,
        help_text="Names as ir_measures writes them, for example nDCG@5 P(rel=2)@10. Empty: the usual six.",
    )

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["snapshot"].queryset = collection.snapshots.all()
        self.fields["runs"].queryset = collection.runs.all()

    def clean_metrics(self) -> list[str] | None:
        """The canonical names, or None for the usual ones."""
        text = self.cleaned_data["metrics"].strip()
        if not text:
            return None
        from evaluation.metrics.names import parse_metrics

        try:
            return [metric.name for metric in parse_metrics(text)]
        except AssayError as error:
            raise forms.ValidationError(str(error)) from error
