"""Forms of the evaluation app: runs, snapshot, metrics and intervals to score."""

from __future__ import annotations

from typing import Any

from django import forms

from assay.core.counted_nouns import amount
from assay.core.errors import AssayError
from evaluation.scoring import scoring
from judgments.models import Collection, Snapshot
from judgments.web.figures import isolated
from judgments.web.forms import AssayForm
from pooling.models import Run


class RunChoice(forms.ModelMultipleChoiceField):
    def label_from_instance(self, run: Run) -> str:
        return f"{isolated(run.name)}, {amount(run.rows, 'row')}"


class SnapshotChoice(forms.ModelChoiceField):
    def label_from_instance(self, snapshot: Snapshot) -> str:
        queries, labels = snapshot.summary["queries"], snapshot.summary["labels"]
        return f"{snapshot.name}, {amount(queries, 'query', 'queries')}, {amount(labels, 'label')}"


LEVELS = [(0.9, "90%"), (0.95, "95%"), (0.99, "99%")]


class ScoreForm(AssayForm):
    """Runs, snapshot, metrics and intervals to score."""

    snapshot = SnapshotChoice(Snapshot.objects.none(), to_field_name="uuid", empty_label=None)
    runs = RunChoice(
        Run.objects.none(),
        to_field_name="uuid",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one run."},
    )
    metrics = forms.CharField(
        required=False,
        max_length=scoring.MOST_WRITTEN,
        help_text="ir_measures names separated by spaces, for example nDCG@5 P(rel=2)@10. Leave empty for the six "
        "defaults.",
    )
    method = forms.ChoiceField(label="Interval", required=False)
    level = forms.TypedChoiceField(
        label="Level", choices=LEVELS, coerce=float, empty_value=scoring.LEVEL, required=False
    )

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        from assay.scoring.intervals import METHODS

        super().__init__(*args, **kwargs)
        self.fields["snapshot"].queryset = collection.snapshots(manager="of_documents").defer("manifest")
        self.fields["runs"].queryset = collection.runs.active().defer("report", "health")
        level = self.initial.get("level")
        if level and level not in dict(LEVELS):
            # The API may have used another level; the form keeps it.
            self.fields["level"].choices = [*LEVELS, (level, f"{level:.4g}")]
        self.fields["method"].choices = [(name, f"{name}: {description}") for name, description in METHODS.items()]

    def clean_method(self) -> str:
        return self.cleaned_data["method"] or scoring.METHOD

    def clean_metrics(self) -> list[str] | None:
        """Return the canonical names, or None for the defaults."""
        try:
            return scoring.metric_names(self.cleaned_data["metrics"])
        except AssayError as error:
            raise forms.ValidationError(str(error)) from error
