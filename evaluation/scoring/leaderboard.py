"""Leaderboard of a snapshot's scored runs by metric and by tier, with cautions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.text_rules import agree, amount
from evaluation.models import Score, Scoring
from evaluation.scoring.significance_groups import SignificanceGroups, significance_groups
from evaluation.scoring.stored_scores import metrics_of as metrics
from evaluation.scoring.stored_scores import tier_place, unjudged
from judgments.web.figures import isolated, percent

__all__ = ["HEADLINE", "Row", "TierMean", "Tiers", "by_tier", "cautions", "compared", "metrics", "rows", "weighting"]

HEADLINE = "nDCG@10"
# Above this share of unjudged documents, the ranking of runs may be an effect of the pool.
TRUSTED = 0.05
MANY_TIES = 0.25
FEW_QUERIES = 10
MOST_NAMED = 6


@dataclass(frozen=True)
class Row:
    """One run with its score under the selected metric and under the others."""

    scoring: Scoring
    score: Score | None
    others: dict[str, Score]
    weighted: bool = False

    @property
    def name(self) -> str:
        return self.scoring.run.name

    @property
    def mean(self) -> float | None:
        return self.of(self.score)

    @property
    def low(self) -> float | None:
        return None if self.score is None else self.score.weighted_low if self.weighted else self.score.low

    @property
    def high(self) -> float | None:
        return None if self.score is None else self.score.weighted_high if self.weighted else self.score.high

    @property
    def reason(self) -> str:
        """Why the mean or its interval is missing."""
        return "" if self.score is None else self.score.weighted_reason if self.weighted else self.score.reason

    def of(self, score: Score | None) -> float | None:
        """Return the mean of any of its scores, with the same weighting."""
        return None if score is None else score.weighted if self.weighted else score.mean


@dataclass(frozen=True)
class TierMean:
    """A run's mean over the queries of one tier; missing values have a reason."""

    tier: str
    mean: float | None
    low: float | None
    high: float | None
    queries: int
    reason: str | None


@dataclass(frozen=True)
class Tiers:
    """The tiers with their numbers of queries, and each run's mean in each tier."""

    names: list[str]
    queries: list[int]
    runs: dict[str, list[TierMean]]

    @property
    def heads(self) -> list[tuple[str, int]]:
        return list(zip(self.names, self.queries, strict=True))

    @property
    def few(self) -> list[str]:
        """The tiers with too few queries for an interval."""
        return [name for name, number in self.heads if number < FEW_QUERIES]


def rows(scorings: Sequence[Scoring], metric: str, *, weighted: bool = False) -> list[Row]:
    """Return the runs, highest mean first; runs without a mean come last, by name."""
    rows = []
    for scoring in scorings:
        scores = {score.metric: score for score in scoring.scores.all()}
        rows.append(Row(scoring, scores.get(metric), scores, weighted))
    return sorted(rows, key=lambda row: (row.mean is None, -(row.mean or 0.0), row.name))


def by_tier(rows: Sequence[Row]) -> Tiers | None:
    """Return each run's means over head, torso and tail; None if no query has a tier."""
    sizes: dict[str, int] = {}
    for row in rows:
        for tier, values in (row.score.by_tier if row.score else {}).items():
            sizes[tier] = max(sizes.get(tier, 0), values["queries"])
    names = sorted(sizes, key=tier_place)
    if not names:
        return None
    runs = {row.name: [_tier_mean(row, tier) for tier in names] for row in rows if row.score}
    return Tiers(names, [sizes[name] for name in names], runs)


def _tier_mean(row: Row, tier: str) -> TierMean:
    values: Mapping[str, Any] | None = row.score.by_tier.get(tier) if row.score else None
    if values is None:
        return TierMean(tier, None, None, None, 0, "scored before Assay stored tiers; score the run again")
    shown = ("weighted", "weighted_low", "weighted_high") if row.weighted else ("mean", "low", "high")
    mean, low, high = (values.get(name) for name in shown)
    reason = values.get("weighted_reason" if row.weighted else "reason")
    return TierMean(tier, mean, low, high, values["queries"], reason)


def compared(rows: Sequence[Row], left_out: Collection[str] = (), *, every_pair: bool = False) -> SignificanceGroups:
    """Return which of the runs differ significantly, without the hidden queries ``left_out``."""
    scores = {row.name: row.score for row in rows if row.score and row.mean is not None}
    if not scores:
        return SignificanceGroups()
    level = next(iter(scores.values())).level
    traffic = rows[0].scoring.snapshot if rows[0].weighted else None
    baseline = "" if every_pair else next((row.name for row in rows if row.scoring.run.baseline), "")
    runs = {name: score.pk for name, score in scores.items()}
    return significance_groups(runs, level, left_out, traffic, baseline if baseline in runs else "")


def weighting(rows: Sequence[Row]) -> tuple[bool, str]:
    """Return whether a mean weighted by traffic is available, with a note about it."""
    scores = [row.score for row in rows if row.score]
    if not scores:
        return False, ""
    design: dict[str, Any] = next((row.scoring.design for row in rows if row.scoring.design), {})
    if not all(score.weighted is not None or score.mean is None for score in scores):
        reason = design.get("reason", "")
        return False, f"A mean weighted by traffic is not available: {reason}." if reason else ""
    judged, drawn = design["judged"], design["drawn"]
    effective = next((score.effective_queries for score in scores if score.effective_queries is not None), None)
    note = (
        f"Weighting by traffic leaves an effective sample size of {effective:,.1f} of {judged:,} queries."
        if effective
        else ""
    )
    if drawn > judged:
        note += (
            f" {judged:,} of the {drawn:,} drawn queries "
            f"{agree(judged, 'is judged. It represents', 'are judged. They represent')} the others only if they were "
            "selected at random within each tier."
        )
    return True, note.strip()


def cautions(rows: Sequence[Row]) -> list[str]:
    """Return the cautions that a reader should know before deciding by these numbers."""
    sentences = []
    shares = [(row.name, share) for row in rows if (share := unjudged(row.scoring)) is not None and share > TRUSTED]
    unjudged_first = [(name, percent(share)) for name, share in shares]
    if unjudged_first:
        sentences.append(
            f"Unjudged documents in the first 10: {_named(unjudged_first)}. Each of them counts as not relevant, so "
            "a run with many of them may be better than its score."
        )
    missing = [(row.name, f"{number:,}") for row in rows if (number := _diagnostic(row, "queries_missing"))]
    if missing:
        sentences.append(f"Judged queries without results, which are scored 0: {_named(missing)}.")
    tied = [(row.name, percent(share)) for row in rows if (share := row.scoring.diagnostics.get("ties", 0)) > MANY_TIES]
    if tied:
        sentences.append(f"Rows with tied scores: {_named(tied)}. Assay orders these rows by trec_eval’s rule.")
    contradicted = [(row.name, f"{number:,}") for row in rows if (number := _diagnostic(row, "ranks_contradicted"))]
    if contradicted:
        sentences.append(f"Rows whose rank contradicts their score: {_named(contradicted)}. Assay uses the score.")
    barren = max((_diagnostic(row, "queries_without_relevant") for row in rows), default=0)
    if barren:
        number = amount(barren, "query has", "queries have")
        sentences.append(
            f"{number} no relevant document. Every run scores 0 for such queries in every metric except Judged."
        )
    return sentences


def _diagnostic(row: Row, name: str) -> int:
    return row.scoring.diagnostics.get(name, 0)


def _named(values: Sequence[tuple[str, str]]) -> str:
    more = len(values) - MOST_NAMED
    named = ", ".join(f"{isolated(name)} {value}" for name, value in values[:MOST_NAMED])
    return f"{named} and {more:,} more" if more > 0 else named
