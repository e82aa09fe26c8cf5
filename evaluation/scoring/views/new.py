"""Form page for scoring runs on a snapshot."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from evaluation.scoring import job, scoring
from evaluation.scoring.default_metrics import relevant_from, usual_metrics
from evaluation.scoring.forms import ScoreForm
from judgments.models import Collection, Snapshot
from judgments.snapshots.snapshots import chosen_snapshot
from judgments.web import access

# With this many runs, the list gets a filter field.
MANY_RUNS = 12


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
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
    if job.too_large(runs):
        return redirect("job", job.score_later(snapshot, runs, **options).uuid)
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
