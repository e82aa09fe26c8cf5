"""Ranges of a run's means over the order of tied documents and over missing judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from assay.core.run import Run
from assay.metrics.hypothetical_grades import joined
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, Mask
from assay.metrics.matching import Match
from assay.metrics.means import TIE, mean
from assay.metrics.metric import BoundMetric
from assay.metrics.metric_bounds import bounds
from assay.scoring.tie_orders import Blocks, Orders, blocks


@dataclass(frozen=True)
class Range:
    """The lowest and the highest mean."""

    low: float
    high: float


@dataclass(frozen=True)
class TiedRange(Range):
    """The lowest and the highest mean over all orders of tied documents."""

    queries: int = 0


@dataclass
class Ranges:
    """Ranges of the means, collected while the parts of a run are processed.

    Only the ranks and grades of judged documents are kept, and evaluated together after the whole run.
    """

    metrics: Sequence[BoundMetric]
    grades: Floats
    _codes: list[Integers] = field(default_factory=list)
    _rankings: list[JudgedRankings] = field(default_factory=list)
    _tied: list[Blocks] = field(default_factory=list)

    def look(self, run: Run, matched: Match) -> None:
        """Process some queries of the run."""
        self._codes.append(matched.codes)
        self._rankings.append(matched.rankings)
        cutoffs = [one.cutoff for one in self.metrics if _is_cut(one)]
        tied = blocks(run, matched, int(max(cutoffs))) if cutoffs else None  # type: ignore[type-var, arg-type]
        if tied is not None:
            self._tied.append(tied)

    def bounds(self, values: Floats) -> dict[str, Range]:
        """Return the range of each mean over all grades of the unjudged documents that were returned within the
        cutoff."""
        codes, rankings = np.concatenate(self._codes), joined(self._rankings)
        by_metric = {}
        for at, metric in enumerate(self.metrics):
            of = bounds(metric, rankings, values[codes, at], self.grades)
            if of is not None and (means := _means(values[:, at], codes, of, metric)):
                by_metric[metric.name] = Range(*means)
        return by_metric

    def ties(self, values: Floats) -> dict[str, TiedRange]:
        """Return the range of each mean over all orders of tied documents, if they make a difference; as `bounds`."""
        tied = [(one.matched.codes, of) for one in self._tied if (of := one.orders()) is not None]
        if not tied:
            return {}
        codes = np.concatenate([codes[of.places] for codes, of in tied])
        worst, best = joined([of.worst for _, of in tied]), joined([of.best for _, of in tied])
        orders = [of for _, of in tied]
        by_metric = {}
        for at, metric in enumerate(self.metrics):
            if not _is_cut(metric):
                continue
            low, high = metric(worst), metric(best)
            if (high - low > TIE).any() and (means := _means(values[:, at], codes, (low, high), metric)):
                by_metric[metric.name] = TiedRange(*means, _crossing(orders, int(metric.cutoff or 0), high - low > TIE))
        return by_metric


def _crossing(tied: Sequence[Orders], cutoff: int, differs: Mask) -> int:
    """Return how many queries have a block across the cutoff whose order makes a difference."""
    first = np.cumsum([0, *(len(one.places) for one in tied)])
    return sum(
        int(np.count_nonzero(differs[begin + one.crossing(cutoff)]))
        for begin, one in zip(first[:-1].tolist(), tied, strict=True)
    )


def _is_cut(metric: BoundMetric) -> bool:
    return isinstance(metric.cutoff, int) and metric.response is not None


def _means(
    values: Floats, codes: Integers, of: tuple[Floats, Floats], metric: BoundMetric
) -> tuple[float, float] | None:
    """Return the means with other values for some queries; NaN if a query does not count."""
    bounds = []
    for changed in of:
        column = values.copy()
        column[codes] = changed
        bounds.append(mean(column[~np.isnan(column)].tolist(), metric.metric.mean))
    low, high = bounds
    return None if low is None or high is None else (low, high)
