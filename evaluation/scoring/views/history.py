"""Score history page: the scores of the runs on the snapshots, and the changes between them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection as Some
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify

from assay.core.text_rules import amount
from evaluation.models import Score
from evaluation.scoring import charts as score_charts
from evaluation.scoring import history, leaderboard, scoring
from evaluation.scoring.significance_groups import Against, steps
from judgments.charts import intervals
from judgments.charts.charts import FORMS, picture
from judgments.labels import grade_visibility
from judgments.models import Collection, Snapshot
from judgments.snapshots import snapshots
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import attachment
from judgments.web.lists import Listing, download
from judgments.web.pages import get_page
from pooling.models import Run
from pooling.runs import runs as stored_runs

DEPTH = 10
# At most this many versions, newest first, because each step reads two runs.
MOST_VERSIONS = 12
MONTH = 30 * 24 * 3600
# A version at the end of a name: ranker-v2, ranker_2024-05-01, ranker.3; bm25 has none.
VERSION = re.compile(r"(?<=.)[-_. ]v?\d[\d._-]*$", re.IGNORECASE)


@dataclass(frozen=True)
class Version:
    """One version of a system: its score, and its difference from the previous version."""

    run: Run
    score: Score | None
    overlap: float | None
    against: Against | None


def stem(name: str) -> str:
    """Return the name without a version at its end."""
    return VERSION.sub("", name)


def versions(run: Run, snapshot: Snapshot, scores: Mapping[str, Score], *, left_out: Some[str] = ()) -> list[Version]:
    """Return the runs whose names differ from this run's name only by a version, oldest first."""
    rows = run.collection.runs.defer("report", "health").order_by("created_at", "pk")
    series = [other for other in rows if stem(other.name) == stem(run.name)][-MOST_VERSIONS:]
    if len(series) < 2:
        return []
    scored = [scores.get(one.name) for one in series]
    apart = _steps(scored, left_out)
    shared = [None, *(overlap(before, after, snapshot) for before, after in pairwise(series))]
    return [Version(*each) for each in zip(series, scored, shared, apart, strict=True)]


def _steps(scored: Sequence[Score | None], left_out: Some[str]) -> list[Against | None]:
    """Compare each version with the previous one if both were scored."""
    both = [at for at in range(1, len(scored)) if scored[at - 1] and scored[at]]
    pairs: list[Any] = [(scored[at - 1], scored[at]) for at in both]
    tested = steps([(before.pk, after.pk) for before, after in pairs], left_out)
    comparisons: list[Against | None] = [None] * len(scored)
    for at, one in zip(both, tested, strict=True):
        comparisons[at] = one
    return comparisons


def overlap(before: Run, after: Run, snapshot: Snapshot) -> float | None:
    """Return the mean share of the first ten documents that two runs have in common, over the judged queries."""
    if scoring.too_large([before, after]):
        return None
    pair = f"{before.sha256}:{after.sha256}:{snapshot.content_sha256}:{snapshot.pk}"
    key = f"share:{hashlib.sha256(pair.encode()).hexdigest()}"
    entry: dict[str, float | None] | None = cache.get(key)
    if entry is None:
        entry = {"share": _overlap(before, after, snapshot)}
        cache.set(key, entry, MONTH)
    return entry["share"]


def _overlap(before: Run, after: Run, snapshot: Snapshot) -> float | None:
    first, second = stored_runs.ranked(before), stored_runs.ranked(after)
    shares = []
    for query_id in snapshot.qrels().query_ids:
        tops = set(first.ranking(query_id)[:DEPTH]), set(second.ranking(query_id)[:DEPTH])
        longest = max(map(len, tops))
        shares += [len(tops[0] & tops[1]) / longest] if longest else []
    return sum(shares) / len(shares) if shares else None


MOST_SNAPSHOTS = 24
# This many lines can be distinguished in one chart; the file contains all runs.
MOST_RUNS = 6
COUNTS = ("labels_added", "labels_changed", "labels_removed", "queries_added", "queries_removed")
HISTORY = Listing(
    name="scores-over-time",
    noun=("score", "scores"),
    columns=tuple(
        Column(key, key)
        for key in (
            "snapshot",
            "content_sha256",
            "frozen_at",
            *COUNTS,
            "run",
            "run_sha256",
            "metric",
            *history.NUMBERS,
            "reason",
        )
    ),
    order="",
)


@dataclass(frozen=True)
class Cell:
    """One run on one snapshot; ``step`` is the difference from the previous snapshot, None if one is missing."""

    score: Score | None
    step: float | None


@get_page
def scores_history(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    metrics = history.metrics_of(collection)
    name = request.GET.get("metric", "")
    metric = name if name in metrics else next(iter(metrics), leaderboard.HEADLINE)
    run = history.chosen_run(collection, request.GET.get("run", ""))
    points = history.points_for(request.user, collection, metric, MOST_SNAPSHOTS)
    answer = FILES.get(request.GET.get("format", ""))
    if answer is not None:
        return answer(request.user, collection, metric, points, run)
    return render(
        request, "evaluation/scoring/scores_history.html", _context(request, collection, metric, points, run, metrics)
    )


def _context(
    request: HttpRequest,
    collection: Collection,
    metric: str,
    points: list[history.Point],
    run: Run | None,
    metrics: list[str],
) -> dict[str, Any]:
    shown = _shown(points, run)
    newest = next((point for point in reversed(points) if point.scores), None)
    withheld = snapshots.withheld_queries(request.user, newest.snapshot) if newest else frozenset()
    return {
        "collection": collection,
        "step": "scores",
        "metric": metric,
        "metrics": metrics,
        "run": run,
        "runs": list(collection.runs.defer("report", "health")),
        "points": points,
        "rows": [(point, cells) for point, cells in zip(points, _cells(points, shown), strict=True)][::-1],
        "shown": shown,
        "others": len({name for point in points for name in point.scores}) - len(shown),
        "older": collection.snapshots(manager="of_documents").count() - len(points),
        "chart": _chart(points, shown, metric, run),
        "left_out": bool(withheld),
        "newest": newest,
        "versions": versions(run, newest.snapshot, newest.scores, left_out=withheld) if run and newest else [],
        "address": urlencode({"metric": metric} | ({"run": run.uuid} if run else {})),
    }


def _shown(points: Sequence[history.Point], run: Run | None) -> list[str]:
    """Return the runs to draw: the chosen run, then the best runs on the newest snapshot with their scores."""
    last: dict[str, float] = {}
    for point in points:
        last.update({name: score.mean for name, score in point.scores.items() if score.mean is not None})
    best = sorted(last, key=lambda name: (-last[name], name))
    chosen = [run.name] if run else []
    return [*chosen, *(name for name in best if name not in chosen)][:MOST_RUNS]


def _cells(points: Sequence[history.Point], shown: Sequence[str]) -> list[list[Cell]]:
    rows = []
    before: Mapping[str, Score] = {}
    for point in points:
        rows.append([Cell(point.scores.get(name), _step(before.get(name), point.scores.get(name))) for name in shown])
        before = point.scores
    return rows


def _step(before: Score | None, after: Score | None) -> float | None:
    if before is None or after is None or before.mean is None or after.mean is None:
        return None
    return after.mean - before.mean


def _chart(points: Sequence[history.Point], shown: Sequence[str], metric: str, run: Run | None) -> Any:
    lines = {name: [_estimate(name, point.scores.get(name)) for point in points] for name in shown}
    label = (
        f"{metric} of {amount(len(shown), 'run')} on {amount(len(points), 'snapshot')}, oldest first, with intervals"
    )
    here = run.name if run else next(iter(shown), "")
    return score_charts.over_time([point.snapshot.name for point in points], lines, label, here, metric)


def _estimate(name: str, score: Score | None) -> intervals.NamedInterval | None:
    if score is None or score.mean is None:
        return None
    return intervals.NamedInterval(name, score.mean, score.low, score.high)


def _as_picture(
    reader: Any, collection: Collection, metric: str, points: list[history.Point], run: Run | None, *, form: str
) -> HttpResponse:
    return picture(_chart(points, _shown(points, run), metric, run), f"{collection.slug} {metric} over time", form)


def _as_csv(
    reader: Any, collection: Collection, metric: str, points: list[history.Point], run: Run | None
) -> HttpResponse:
    rows = [row for point in points for row in _plain(point, metric) if run is None or row["run"] == run.name]
    shown = grade_visibility.may_read_hashes(reader, collection)
    listing = HISTORY if shown else HISTORY.without("content_sha256")
    return download(listing.read({}, rows), {"collection": collection})


def _as_json(
    reader: Any, collection: Collection, metric: str, points: list[history.Point], run: Run | None
) -> HttpResponse:
    content = snapshots.redacted_for(reader, collection, history.as_json(metric, points, run))
    body = json.dumps(content, ensure_ascii=False, indent=1)
    return attachment(f"{slugify(f'{collection.slug} scores over time')}.json", body)


def _plain(point: history.Point, metric: str) -> list[dict[str, Any]]:
    """Return one row per run; a snapshot without scores has a row of its own, so that its changes are not lost."""
    snapshot = point.snapshot
    head = {"snapshot": snapshot.name, "content_sha256": snapshot.content_sha256, "metric": metric}
    head |= {"frozen_at": snapshot.created_at.isoformat()}
    head |= {name: getattr(point.change, name) if point.change else None for name in COUNTS}
    empty = dict.fromkeys(("run", "run_sha256", *history.NUMBERS, "reason"))
    scored = [
        {
            "run": name,
            "run_sha256": score.scoring.run.sha256,
            **{key: getattr(score, key) for key in history.NUMBERS},
            "reason": score.reason,
        }
        for name, score in sorted(point.scores.items())
    ]
    return [head | empty | row for row in scored or [{}]]


FILES = {form: partial(_as_picture, form=form) for form in FORMS} | {"csv": _as_csv, "json": _as_json}
