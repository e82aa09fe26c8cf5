"""Results of a comparison of runs: each pair with its effect size, and the agreement between metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.result import Result
from assay.metrics.means import TIE
from assay.significance.paired_differences import scaled_weights
from assay.significance.paired_t import standard_error
from assay.significance.power import ALPHA, detectable, queries_needed
from assay.significance.rank_correlation import RankCorrelation
from assay.significance.sign_flips import Floats
from assay.significance.significance_groups import letters

if TYPE_CHECKING:
    from assay.core.qrels import MachineSource

NO_SPREAD = "the differences do not vary: no effect size"


@dataclass(frozen=True)
class Effect:
    """The size of a difference."""

    difference: float
    size: float | None
    wins: int
    ties: int
    losses: int
    detectable: float | None
    queries_needed: int | None = None
    reason: str | None = None


def effect(first: Floats, second: Floats, weights: Sequence[float] | None = None) -> Effect:
    """Describe the paired difference of two runs.

    Parameters
    ----------
    first, second : float64 array, shape (queries,)
        A metric of two runs on the same queries, at least one.
    weights : sequence of float, optional
        For each query its share of traffic divided by its inclusion probability, above 0.

    Returns
    -------
    Effect
        Weights enter the mean and the standard deviation, and varying weights make the difference harder to detect: its
        standard error replaces sd / sqrt(n). Source of d_z: Cohen 1988.

    Examples
    --------
    >>> found = effect(np.array([0.1, 0.5, 0.5]), np.array([0.4, 0.5, 0.9]))
    >>> found.wins, found.ties, found.losses, round(found.size, 4)
    (2, 1, 0, 1.1209)
    """
    differences, queries = second - first, len(first)
    scale = scaled_weights(weights, queries)
    mean = math.fsum((differences * scale).tolist()) / queries
    wins, losses = int((differences > TIE).sum()), int((differences < -TIE).sum())
    counts = (wins, queries - wins - losses, losses)
    sd = math.sqrt(float((scale * (differences - mean) ** 2).sum()) / (queries - 1)) if queries > 1 else 0.0
    if sd <= 1e-12 * float(np.abs(differences).max()):
        return Effect(mean, None, *counts, None, None, NO_SPREAD)
    # The standard deviation per query that would give the same uncertainty with equal weights.
    spread = standard_error(differences, scale, [np.arange(queries)]) * math.sqrt(queries)
    needed = queries_needed(0.0 if abs(mean) <= 1e-12 * sd else mean, spread)
    return Effect(mean, mean / sd, *counts, detectable(spread, queries), needed.queries, needed.reason)


@dataclass(frozen=True)
class PairComparison:
    """Two runs compared on a metric; the difference is ``b`` minus ``a``."""

    metric: str
    a: str
    b: str
    effect: Effect
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None
    queries: int
    reason: str | None = None

    def differs(self, alpha: float = ALPHA) -> bool:
        """Return whether the corrected p, or the raw p without a correction, is below alpha."""
        decisive = self.p if self.p_corrected is None else self.p_corrected
        return decisive is not None and decisive < alpha

    def as_json(self) -> dict[str, Any]:
        """Return plain numbers under plain names; the reason only if present."""
        plain = {
            "metric": self.metric,
            "a": self.a,
            "b": self.b,
            "difference": self.effect.difference,
            "low": self.low,
            "high": self.high,
            "p": self.p,
            "p_corrected": self.p_corrected,
            "effect": self.effect.size,
            "wins": self.effect.wins,
            "ties": self.effect.ties,
            "losses": self.effect.losses,
            "queries": self.queries,
            "detectable": self.effect.detectable,
            "queries_needed": self.effect.queries_needed,
        }
        return plain | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Ranking:
    """Agreement of two metrics, ``a`` and ``b``, on the order of the runs by their means."""

    a: str
    b: str
    agreement: RankCorrelation

    def as_json(self) -> dict[str, Any]:
        """Return the two metrics and the coefficients."""
        return {"a": self.a, "b": self.b, **self.agreement.as_json()}


@dataclass(frozen=True)
class Comparison(Result):
    """Several runs compared with each other or with a baseline."""

    runs: Mapping[str, Mapping[str, float]]
    pairs: tuple[PairComparison, ...]
    settings: Mapping[str, Any]
    rankings: tuple[Ranking, ...] = ()
    machine: MachineSource | None = None

    def of_metric(self, metric: str) -> list[PairComparison]:
        """Return the comparisons of a metric, which are corrected together."""
        return [pair for pair in self.pairs if pair.metric == metric]

    def groups(self, metric: str, alpha: float = ALPHA) -> dict[str, str] | None:
        """Give runs that do not differ a common letter."""
        if self.settings.get("baseline") is not None:
            return None
        order = sorted(self.runs, key=lambda run: -self.runs[run][metric])
        return letters(order, {frozenset((pair.a, pair.b)) for pair in self.of_metric(metric) if pair.differs(alpha)})

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dict for each metric and pair of runs."""
        return [pair.as_json() for pair in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``assay compare --format json``."""
        return self.as_json()

    def as_json(self) -> dict[str, Any]:
        """Return the content of ``assay compare --format json``; groups are null if there is a baseline."""
        alpha = self.settings.get("alpha", ALPHA)
        metrics = dict.fromkeys(pair.metric for pair in self.pairs)
        return {
            "runs": {name: dict(means) for name, means in self.runs.items()},
            "groups": {metric: self.groups(metric, alpha) for metric in metrics},
            "pairs": [pair.as_json() for pair in self.pairs],
            "rankings": [ranking.as_json() for ranking in self.rankings],
            "settings": dict(self.settings),
        }
