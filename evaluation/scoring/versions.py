"""Versions of one system among the runs, and the changes between successive versions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.core.cache import cache

from evaluation.models import Score
from evaluation.scoring import job
from evaluation.scoring.significance_groups import Against, steps
from judgments.models import Snapshot
from judgments.snapshots import snapshots
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


def versions(
    run: Run, snapshot: Snapshot, scores: Mapping[str, Score], *, left_out: Collection[str] = ()
) -> list[Version]:
    """Return the runs whose names differ from this run's name only by a version, oldest first."""
    rows = run.collection.runs.defer("report", "health").order_by("created_at", "pk")
    series = [other for other in rows if stem(other.name) == stem(run.name)][-MOST_VERSIONS:]
    if len(series) < 2:
        return []
    scored = [scores.get(one.name) for one in series]
    apart = _steps(scored, left_out)
    shared = [None, *(overlap(before, after, snapshot) for before, after in pairwise(series))]
    return [Version(*each) for each in zip(series, scored, shared, apart, strict=True)]


def _steps(scored: Sequence[Score | None], left_out: Collection[str]) -> list[Against | None]:
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
    if job.too_large([before, after]):
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
    for query_id in snapshots.qrels_of(snapshot).query_ids:
        tops = set(first.ranking(query_id)[:DEPTH]), set(second.ranking(query_id)[:DEPTH])
        longest = max(map(len, tops))
        shares += [len(tops[0] & tops[1]) / longest] if longest else []
    return sum(shares) / len(shares) if shares else None
