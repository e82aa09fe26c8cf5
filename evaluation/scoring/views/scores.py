"""Scores page: the leaderboard of a snapshot, and how reliable it is."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify

from assay.core.text_rules import amount
from assay.metrics.metric import TIE
from evaluation.freshness import freshness
from evaluation.models import Score, Scoring
from evaluation.scoring import charts as score_charts
from evaluation.scoring import leaderboard, scoring
from evaluation.scoring.significance_groups import Against, SignificanceGroups
from evaluation.scoring.stored_scores import report_of, scorings_of
from judgments.charts import intervals
from judgments.charts.charts import FORMS, Chart, picture
from judgments.labels import grade_visibility
from judgments.models import Collection, Snapshot
from judgments.snapshots import snapshots
from judgments.snapshots.snapshots import chosen_snapshot
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import attachment
from judgments.web.figures import percent
from judgments.web.lists import Listing, download
from judgments.web.pages import get_page
from pooling.runs import downloads

AXIS = (8.0, 252.0)
# The page shows more runs than this only on request.
MOST_LINES = 100
# Number of further metrics on the page; the others can be selected and are in the files.
MOST_BESIDE = 6
TRAFFIC = "traffic"
# File name endings of the writers of `assay.scoring.results`.
ENDINGS = {"csv": "csv", "json": "json", "trec": "txt", "latex": "tex"}
PICTURES = (*FORMS, *(f"tiers.{form}" for form in FORMS))
DIAGNOSTICS = "trust.csv"


@dataclass(frozen=True)
class Line:
    """One row of the leaderboard: its chart, its comparison with the reference, and further metrics in column order."""

    row: leaderboard.Row
    chart: Chart | None
    verdict: str
    against: Against | None
    cells: list[tuple[Score | None, float | None]]

    @property
    def holes(self) -> int | None:
        return self.row.scoring.diagnostics.get("holes@10")

    @property
    def bounds(self) -> dict[str, float] | None:
        """Range of the run's mean over all possible grades of its unjudged documents; None if they change nothing."""
        return self._range("bounds")

    @property
    def ties(self) -> dict[str, float] | None:
        """Range of the run's mean over all orders of tied documents."""
        return self._range("ties_at")

    def _range(self, name: str) -> dict[str, float] | None:
        metric = self.row.score.metric if self.row.score else ""
        bounds: dict[str, float] | None = self.row.scoring.diagnostics.get(name, {}).get(metric)
        return bounds if bounds and bounds["high"] - bounds["low"] > TIE else None


@get_page
def scores(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    if snapshot is None:
        return render(request, "evaluation/scoring/scores_empty.html", {"collection": collection, "step": "scores"})
    file = request.GET.get("format", "")
    left_out = snapshots.withheld_queries(request.user, snapshot)
    if file in ENDINGS:
        scorings = scorings_of(snapshot, per_query=True, left_out=left_out)
        return _file(request.user, snapshot, scorings, file, per_query=request.GET.get("queries") != "none")
    scorings = scorings_of(snapshot, left_out=left_out)
    if file == DIAGNOSTICS:
        return _diagnostics(collection, scorings)
    metric = known_metric(request.GET.get("metric", ""), leaderboard.metrics(scorings))
    weighted = request.GET.get("weight") == TRAFFIC and leaderboard.weighting(leaderboard.rows(scorings, metric))[0]
    rows = leaderboard.rows(scorings, metric, weighted=weighted)
    if file in PICTURES:
        return _picture(snapshot, rows, metric, file)
    board = _board(snapshot, rows, metric, left_out, whole=request.GET.get("runs") == "all")
    hashes = {"hashes": grade_visibility.may_read_hashes(request.user, collection)}
    return render(request, "evaluation/scoring/scores.html", _around(snapshot, scorings) | board | hashes)


def known_metric(metric: str, metrics: list[str]) -> str:
    """Return the requested metric if it is one of these, otherwise the first."""
    return metric if metric in metrics else next(iter(metrics), leaderboard.HEADLINE)


def _around(snapshot: Snapshot, scorings: list[Scoring]) -> dict[str, Any]:
    """Return the context around the leaderboard: snapshots to choose from, runs left to score, a running job."""
    collection = snapshot.collection
    done = {scored.run_id for scored in scorings}
    runs = list(collection.runs.active().defer("report", "health"))
    return {
        "collection": collection,
        "step": "scores",
        "snapshot": snapshot,
        "snapshots": list(collection.snapshots(manager="of_documents").defer("manifest")),
        "runs": runs,
        "unscored": [run for run in runs if run.pk not in done],
        "job": scoring.last_job(snapshot),
        "last": scoring.used_last(collection),
    }


def _board(
    snapshot: Snapshot, rows: list[leaderboard.Row], metric: str, left_out: frozenset[str], *, whole: bool
) -> dict[str, Any]:
    metrics = leaderboard.metrics([row.scoring for row in rows])
    weighted = any(row.weighted for row in rows)
    can_weigh, weights = leaderboard.weighting(rows)
    scores = [row.score for row in rows if row.score]
    shown = rows if whole else rows[:MOST_LINES]
    apart = leaderboard.compared(rows, left_out)
    beside = [name for name in metrics if name != metric][:MOST_BESIDE]
    params = {"snapshot": str(snapshot.uuid), "metric": metric} | ({"weight": TRAFFIC} if weighted else {})
    return {
        "metric": metric,
        "metrics": metrics,
        "weighted": weighted,
        "can_weigh": can_weigh,
        "weights": weights,
        "address": urlencode(params),
        "lines": _lines(shown, apart, beside),
        "beside": beside,
        "not_beside": len(metrics) - 1 - len(beside),
        "left_out": len(left_out),
        "more": len(rows) - len(shown),
        "apart": apart,
        "levels": (levels := sorted({score.level for score in scores})),
        "interval_head": f"{percent(levels[0])} interval" if len(levels) == 1 else "Interval",
        "methods": sorted({score.method for score in scores}),
        "axis": intervals.axis_head(_axis(shown)),
        "tiers": (tiers := leaderboard.by_tier(rows)),
        "tier_heads": [f"{tier}, {amount(many, 'query', 'queries')}" for tier, many in tiers.heads] if tiers else [],
        "tier_chart": _tier_chart(rows, metric),
        "cautions": leaderboard.cautions(rows),
        "reference_uuid": next((row.scoring.run.uuid for row in rows if row.name == apart.reference), ""),
        "best": (two := _two_to_compare(rows, apart)),
        "gate_command": _gate_command(two, metric) if apart.baseline and len(two) > 1 else "",
    }


def _two_to_compare(rows: list[leaderboard.Row], apart: SignificanceGroups) -> list[Scoring]:
    """Return the best run other than the baseline, and the baseline; without a baseline the two best runs."""
    scored = [row for row in rows if row.mean is not None]
    if not apart.baseline:
        return [row.scoring for row in scored[:2]]
    return [
        *[row.scoring for row in scored if row.name != apart.reference][:1],
        *[row.scoring for row in scored if row.name == apart.reference],
    ]


def _gate_command(two: list[Scoring], metric: str) -> str:
    """Return the command that tests the best candidate against the baseline, with the names of the downloaded files."""
    candidate, baseline = (downloads.filename(one.run, "trec-run") for one in two)
    rule = shlex.quote(f"drop({metric}) <= 0.02 unless p >= 0.05")
    return f"assay gate qrels.txt --baseline {baseline} --candidate {candidate} --rule {rule}"


def _estimates(rows: list[leaderboard.Row]) -> list[intervals.NamedInterval]:
    return [intervals.NamedInterval(row.name, row.mean, row.low, row.high) for row in rows if row.mean is not None]


def _axis(rows: list[leaderboard.Row]) -> intervals.Axis:
    return intervals.axis_over(_estimates(rows), *AXIS)


def _lines(rows: list[leaderboard.Row], apart: Any, others: list[str]) -> list[Line]:
    axis = _axis(rows)
    pictures = {one.name: intervals.row_dot(axis, one, best=place == 0) for place, one in enumerate(_estimates(rows))}
    return [
        Line(
            row,
            pictures.get(row.name),
            apart.in_words(row.name),
            apart.against.get(row.name),
            [(row.others.get(name), row.of(row.others.get(name))) for name in others],
        )
        for row in rows
    ]


def _tier_chart(rows: list[leaderboard.Row], metric: str) -> Chart | None:
    tiers = leaderboard.by_tier(rows)
    if tiers is None:
        return None
    under = [
        (
            f"{name}, {queries:,} {'query' if queries == 1 else 'queries'}",
            [
                intervals.NamedInterval(run, means[place].mean, means[place].low, means[place].high)
                for run, means in tiers.runs.items()
                if means[place].mean is not None
            ],
        )
        for place, (name, queries) in enumerate(zip(tiers.names, tiers.queries, strict=True))
    ]
    return score_charts.tier_rows(under, f"{metric} by tier, with intervals for tiers with at least 10 queries", metric)


def _file(reader: Any, snapshot: Snapshot, scorings: list[Scoring], kind: str, *, per_query: bool) -> HttpResponse:
    """Download every score of the snapshot, as ``assay evaluate`` writes it."""
    from assay.scoring.score_files import WRITERS

    report = report_of(snapshot, scorings, per_query=per_query)
    report = replace(
        report,
        qrels=snapshots.redacted_for(reader, snapshot.collection, {"qrels": report.qrels})["qrels"],
        settings={**report.settings, "freshness": freshness.look(snapshot).as_json()},
    )
    name = slugify(f"{snapshot.collection.slug} {snapshot} scores")
    return attachment(f"{name}.{ENDINGS[kind]}", WRITERS[kind](report))


def _diagnostics(collection: Collection, scorings: list[Scoring]) -> HttpResponse:
    """Return the diagnostics of each run, with one column for each kind."""
    rows = []
    for one in scorings:
        judged = next((score.mean for score in one.scores.all() if score.metric == "Judged@10"), None)
        plain = {name: value for name, value in one.diagnostics.items() if isinstance(value, int | float | str)}
        rows.append({"run": one.run.name, "Judged@10": judged, **plain})
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = tuple(Column(key, key, value=lambda row, key=key: row.get(key)) for key in keys)
    listing = Listing(name="scores-diagnostics", noun=("run", "runs"), columns=columns, order="")
    return download(listing.read({}, rows), {"collection": collection})


def _picture(snapshot: Snapshot, rows: list[leaderboard.Row], metric: str, file: str) -> HttpResponse:
    name = f"{snapshot.collection.slug} {snapshot} {metric}"
    tiers = _tier_chart(rows, metric) if file.startswith("tiers.") else None
    if tiers is not None:
        return picture(tiers, f"{name} by tier", file)
    estimates = _estimates(rows)
    label = f"{metric} on {snapshot}{', by traffic' if rows and rows[0].weighted else ''}, with intervals"
    return picture(intervals.leaders(estimates, label, metric, most=len(estimates)), name, file)
