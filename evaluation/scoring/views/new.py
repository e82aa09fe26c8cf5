"""Form page for scoring runs on a snapshot."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from assay.core.errors import AssayError
from assay.core.text_rules import amount
from evaluation.scoring import scoring
from evaluation.scoring.scoring import relevant_from, usual_metrics
from judgments.models import Collection, Snapshot
from judgments.snapshots.snapshots import chosen_snapshot
from judgments.web import access
from judgments.web.figures import isolated
from judgments.web.forms import AssayForm
from judgments.web.pages import form_page
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
        help_text="Metric names as in ir_measures, separated by spaces, for example nDCG@5 P(rel=2)@10. Leave empty "
        "for the six defaults.",
    )
    method = forms.ChoiceField(label="Interval method", required=False)
    level = forms.TypedChoiceField(
        label="Confidence level", choices=LEVELS, coerce=float, empty_value=scoring.LEVEL, required=False
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


# With this many runs, the list gets a filter field.
MANY_RUNS = 12


@form_page
def scores_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    if snapshot is None:
        return render(request, "evaluation/scoring/scores_empty.html", {"collection": collection, "step": "scores"})
    begun = _initial(collection, snapshot, request.GET.getlist("run"))
    form = ScoreForm(request.POST or None, initial=begun, collection=collection)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            return _score(request, collection, form.cleaned_data)
    from assay.metrics import METRICS

    context = {
        "collection": collection,
        "step": "scores",
        "snapshot": snapshot,
        "form": form,
        "runs": collection.runs.active().count(),
        "many": collection.runs.active().count() > MANY_RUNS,
        "known": known_metrics(),
        "by_subtopic": [name for name in METRICS if METRICS[name].by_subtopic],
    }
    return render(request, "evaluation/scoring/scores_new.html", context, status=form.status)


def _initial(collection: Collection, snapshot: Snapshot, run_uuids: list[str]) -> dict[str, Any]:
    """Return the settings used last, with the runs in the URL or those without scores."""
    runs = collection.runs.active().defer("report", "health")
    left = runs.exclude(pk__in=snapshot.scorings.values("run"))
    wanted = [run for run in runs if str(run.uuid) in run_uuids] or list(left) or list(runs)
    last = scoring.used_last(collection)
    return {
        "snapshot": snapshot.uuid,
        "runs": [run.uuid for run in wanted],
        # Show the defaults by name if the scale's threshold differs from that of a bare metric name.
        "metrics": " ".join(last["metrics"] or (usual_metrics(snapshot) if relevant_from(snapshot) != 1 else [])),
        "method": last["method"],
        "level": last["level"],
    }


def _score(request: HttpRequest, collection: Collection, data: dict[str, Any]) -> HttpResponse:
    runs, snapshot = list(data["runs"]), data["snapshot"]
    options = {"actor": request.user, **{name: data[name] for name in ("metrics", "level", "method")}}
    if scoring.too_large(runs):
        return redirect("job", scoring.score_later(snapshot, runs, **options).uuid)
    scoring.score_runs(snapshot, runs, **options)
    messages.success(request, f"Scored {len(runs):,} run{'' if len(runs) == 1 else 's'} on {snapshot}.")
    shown = {"snapshot": snapshot.uuid} | ({"metric": data["metrics"][0]} if data["metrics"] else {})
    return redirect(f"{reverse('scores', args=[collection.slug])}?{urlencode(shown)}")


def known_metrics() -> list[dict[str, str]]:
    """Return the names of all metrics that a snapshot can be scored with."""
    from assay.metrics import METRICS

    members = [METRICS[name] for name in METRICS]
    return [
        {
            "name": metric.example,
            "pattern": metric.pattern,
            "title": metric.title,
            "description": metric.description,
        }
        for metric in members
        if not metric.by_subtopic
    ]
