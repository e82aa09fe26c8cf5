"""How do the scored runs of a snapshot stand, by metric and by tier, and what should make a reader careful?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache

from evaluation.models import Score, Scoring
from evaluation.scoring import LEVEL, SEED
from judgments.models import Query
from judgments.templatetags.figures import percent

HEADLINE = "nDCG@10"
# Below this share of judged documents the order of runs may be the pool's doing.
TRUSTED = 0.95
MANY_TIES = 0.25
DAY = 24 * 3600


@dataclass(frozen=True)
class Row:
    """One run: its score under the metric in question, and under the others."""

    scoring: Scoring
    score: Score | None
    others: dict[str, Score]

    @property
    def name(self) -> str:
        return self.scoring.run.name

    @property
    def mean(self) -> float | None:
        return self.score.mean if self.score else None


@dataclass(frozen=True)
class TierMean:
    """A run's mean over the queries of one tier; ``low`` and ``high`` are None with a reason."""

    tier: str
    mean: float | None
    low: float | None
    high: float | None
    queries: int
    reason: str | None


def metrics(scorings: Sequence[Scoring]) -> list[str]:
    """The metrics that any run was scored with: the usual ones first, then as they came."""
    from evaluation.metrics import DEFAULT_METRICS

    known = {score.metric for scoring in scorings for score in scoring.scores.all()}
    return [name for name in DEFAULT_METRICS if name in known] + sorted(known - set(DEFAULT_METRICS))


def rows(scorings: Sequence[Scoring], metric: str) -> list[Row]:
    """The runs, the highest mean first; those without a mean stand last, by name."""
    found = []
    for scoring in scorings:
        scores = {score.metric: score for score in scoring.scores.all()}
        found.append(Row(scoring, scores.get(metric), scores))
    return sorted(found, key=lambda row: (row.mean is None, -(row.mean or 0.0), row.name))


def by_tier(found: Sequence[Row], metric: str) -> dict[str, list[TierMean]]:
    """Each run's means over head, torso and tail; empty where no query has a tier."""
    if not found:
        return {}
    collection = found[0].scoring.collection_id
    tiers = dict(Query.objects.filter(collection=collection).exclude(tier="").values_list("query_id", "tier"))
    scored = {tiers[query_id] for row in found if row.score for query_id in row.score.per_query if query_id in tiers}
    names = [tier for tier in Query.Tier.values if tier in scored]
    return {row.name: _tier_means(row, metric, names, tiers) for row in found if row.score and names}


def _tier_means(row: Row, metric: str, names: Sequence[str], tiers: Mapping[str, str]) -> list[TierMean]:
    """Ten thousand draws for each tier: computed once for a scoring and the tiers as they are."""
    computed_from = f"{sorted(tiers.items())} {metric} {row.scoring.uuid} {sorted(row.score.per_query.items())}"
    key = f"tiers:{hashlib.sha256(computed_from.encode()).hexdigest()}"
    found = cache.get(key)
    if found is None:
        found = [_tier_mean(row.score, tier, tiers) for tier in names]
        cache.set(key, found, DAY)
    return found


def _tier_mean(score: Score, tier: str, tiers: Mapping[str, str]) -> TierMean:
    from evaluation.metrics.means import bootstrap_interval, mean

    values = [value for query_id, value in sorted(score.per_query.items()) if tiers.get(query_id) == tier]
    interval = bootstrap_interval(values, LEVEL, seed=SEED)
    return TierMean(tier, mean(values), interval.low, interval.high, len(values), interval.reason)


def cautions(found: Sequence[Row]) -> list[str]:
    """What a reader should know before deciding anything by these numbers: a sentence for each kind of trouble."""
    said = []
    unjudged = [
        (row.name, percent(1 - share)) for row in found if (share := _judged(row)) is not None and share < TRUSTED
    ]
    if unjudged:
        said.append(
            f"Unjudged among the first ten: {_named(unjudged)}. Each such document counts as not relevant here; "
            "a run with many may be better than it looks."
        )
    missing = [(row.name, f"{number:,}") for row in found if (number := _diagnostic(row, "queries_missing"))]
    if missing:
        said.append(f"Judged queries without an answer, which count as 0: {_named(missing)}.")
    tied = [
        (row.name, percent(share)) for row in found if (share := row.scoring.diagnostics.get("ties", 0)) > MANY_TIES
    ]
    if tied:
        said.append(f"Rows that share their score with another row: {_named(tied)}. trec_eval’s rule orders them.")
    barren = max((_diagnostic(row, "queries_without_relevant") for row in found), default=0)
    if barren:
        number = "1 query has" if barren == 1 else f"{barren:,} queries have"
        said.append(f"{number} no relevant document: every run scores 0 there, in every metric but Judged.")
    return said


def _judged(row: Row) -> float | None:
    score = row.others.get("Judged@10")
    return score.mean if score else None


def _diagnostic(row: Row, name: str) -> int:
    return row.scoring.diagnostics.get(name, 0)


def _named(values: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values)


def plain_rows(found: Sequence[Row]) -> list[dict[str, Any]]:
    """Every run and metric as one plain row: what the CSV holds."""
    return [
        {
            "run": row.name,
            "metric": score.metric,
            "mean": score.mean,
            "low": score.low,
            "high": score.high,
            "queries": score.queries,
            "reason": score.reason,
            "run_sha256": row.scoring.run.sha256,
        }
        for row in found
        for score in row.others.values()
    ]
