"""Which runs stand where on a snapshot, and may one trust it?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods

from evaluation import charts, leaderboard, scoring
from evaluation.forms import ScoreForm
from evaluation.views.pictures import picture
from judgments import access
from judgments.core.errors import NotFound
from judgments.models import Collection, Snapshot
from judgments.views.downloads import attachment
from judgments.views.lists import Column, Listing, download
from pooling.charts import Chart

SCORES = Listing(
    name="scores",
    noun=("score", "scores"),
    columns=tuple(
        Column(key, key) for key in ("run", "metric", "mean", "low", "high", "queries", "reason", "run_sha256")
    ),
    order="",
)
AXIS = (8.0, 252.0)


@dataclass(frozen=True)
class Line:
    """One row of the leaderboard with its picture and the other metrics in the order of the columns."""

    row: leaderboard.Row
    chart: Chart | None
    cells: list[Any]

    @property
    def holes(self) -> int | None:
        return self.row.scoring.diagnostics.get("holes@10")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def scores(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    form = ScoreForm(request.POST or None, collection=collection)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            return _score(request, collection, form.cleaned_data)
    snapshot = chosen_snapshot(collection, request.POST.get("snapshot") or request.GET.get("snapshot", ""))
    if snapshot is None:
        return render(request, "evaluation/scores_empty.html", _nothing(collection))
    found = list(snapshot.scorings.select_related("run", "snapshot").prefetch_related("scores").order_by("run__name"))
    if request.method != "POST" and request.GET.get("format") in DOWNLOADS:
        return DOWNLOADS[request.GET["format"]](collection, snapshot, found, request.GET.get("metric", ""))
    context = _context(collection, snapshot, found, request.GET.get("metric", ""), form)
    return render(request, "evaluation/scores.html", context, status=form.status)


def chosen_snapshot(collection: Collection, uuid: str) -> Snapshot | None:
    """The snapshot with this id, the newest when none is named; None where there is none at all.

    Raises
    ------
    NotFound
        The collection has no such snapshot.
    """
    rows = collection.snapshots.defer("manifest")
    if not uuid:
        return rows.first()
    found = next((row for row in rows if str(row.uuid) == uuid), None)
    if found is None:
        raise NotFound("This collection has no such snapshot.")
    return found


def _score(request: HttpRequest, collection: Collection, asked: dict[str, Any]) -> HttpResponse:
    runs = list(asked["runs"])
    options = {"actor": request.user, "metrics": asked["metrics"]}
    if scoring.too_large(runs):
        return redirect("job", scoring.score_later(asked["snapshot"], runs, **options).uuid)
    scoring.score_runs(asked["snapshot"], runs, **options)
    messages.success(request, f"Scored {len(runs)} run{'' if len(runs) == 1 else 's'} on {asked['snapshot']}.")
    return redirect(f"{reverse('scores', args=[collection.slug])}?snapshot={asked['snapshot'].uuid}")


def _context(
    collection: Collection, snapshot: Snapshot, found: list[Any], metric: str, form: ScoreForm
) -> dict[str, Any]:
    metrics = leaderboard.metrics(found)
    metric = _known(metric, metrics)
    rows = leaderboard.rows(found, metric)
    done = {scored.run_id for scored in found}
    runs = list(collection.runs.defer("report"))
    tiers = leaderboard.by_tier(rows, metric)
    return {
        "collection": collection,
        "step": "scores",
        "snapshot": snapshot,
        "snapshots": list(collection.snapshots.defer("manifest")),
        "metric": metric,
        "metrics": metrics,
        "lines": _lines(rows, metric, metrics),
        "axis": charts.axis_head(_axis(rows)),
        "tiers": tiers,
        "tier_heads": next(iter(tiers.values()), []),
        "cautions": leaderboard.cautions(rows),
        "runs": runs,
        "unscored": [run for run in runs if run.pk not in done],
        "best": [row.scoring for row in rows[:2]],
        "form": form,
        "links": {
            "run": reverse("runs_new", args=[collection.slug]),
            "snapshot": reverse("snapshot", args=[snapshot.uuid]),
        },
    }


def _known(metric: str, metrics: list[str]) -> str:
    return metric if metric in metrics else next(iter(metrics), leaderboard.HEADLINE)


def _estimates(rows: list[leaderboard.Row]) -> list[charts.Estimate]:
    return [charts.Estimate(row.name, row.mean, row.score.low, row.score.high) for row in rows if row.mean is not None]


def _axis(rows: list[leaderboard.Row]) -> charts.Axis:
    return charts.axis_over(_estimates(rows), *AXIS)


def _lines(rows: list[leaderboard.Row], metric: str, metrics: list[str]) -> list[Line]:
    axis = _axis(rows)
    pictures = {one.name: charts.row_dot(axis, one, best=place == 0) for place, one in enumerate(_estimates(rows))}
    others = [name for name in metrics if name != metric]
    return [Line(row, pictures.get(row.name), [row.others.get(name) for name in others]) for row in rows]


def _nothing(collection: Collection) -> dict[str, Any]:
    links = {
        "snapshot": reverse("snapshot_new", args=[collection.slug]),
        "home": reverse("collection", args=[collection.slug]),
    }
    return {"collection": collection, "step": "scores", "links": links}


def _as_csv(collection: Collection, snapshot: Snapshot, found: list[Any], metric: str) -> HttpResponse:
    rows = leaderboard.plain_rows(leaderboard.rows(found, leaderboard.HEADLINE))
    return download(SCORES.read({}, rows), {"collection": collection})


def _as_json(collection: Collection, snapshot: Snapshot, found: list[Any], metric: str) -> HttpResponse:
    body = json.dumps(scoring.as_json(snapshot, found), ensure_ascii=False, indent=1)
    return attachment(f"{slugify(f'{collection.slug} {snapshot} scores')}.json", body)


def _as_svg(collection: Collection, snapshot: Snapshot, found: list[Any], metric: str) -> HttpResponse:
    metric = _known(metric, leaderboard.metrics(found))
    estimates = _estimates(leaderboard.rows(found, metric))
    chart = charts.leaders(estimates, f"{metric} on {snapshot}, 95 % intervals", metric, most=len(estimates))
    return picture(chart, f"{collection.slug} {snapshot} {metric}")


DOWNLOADS = {"csv": _as_csv, "json": _as_json, "svg": _as_svg}
