"""Ranges of a run's means over the order of tied documents and over missing judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from assay.core.run import Run
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, Mask, Match
from assay.metrics.metric import TIE, BoundMetric, mean
from assay.metrics.metric_bounds import bounds, chosen, joined

if TYPE_CHECKING:
    from assay.scoring.results import Evaluation, RunScores
    from assay.significance.results import Comparison, PairComparison


# With equal scores, the order depends on the document ids, which are arbitrary.
@dataclass(frozen=True, eq=False)
class Orders:
    """The queries of a run whose judged documents are tied with others."""

    places: Integers
    worst: JudgedRankings
    best: JudgedRankings
    block_query: Integers
    block_first: Integers
    block_last: Integers

    def crossing(self, cutoff: int) -> Integers:
        """Return the queries, as positions in ``places``, in which a block with different grades spans a rank."""
        queries = self.block_query[(self.block_first <= cutoff) & (self.block_last > cutoff)]
        return queries[np.diff(queries, prepend=-1) > 0]


def orders(run: Run, matched: Match, deepest: int) -> Orders | None:
    """Sort the tied documents of a run into their worst and best order.

    Examples
    --------
    >>> from assay.metrics.judged_rankings import match
    >>> from assay.core.qrels import Qrels
    >>> run = Run.from_dict({"q1": {"a": 2.0, "b": 1.0, "c": 1.0}})
    >>> of = orders(run, match(Qrels.from_dict({"q1": {"c": 3}}), run), 10)
    >>> of.worst.ranks, of.best.ranks, of.crossing(2)
    (array([3]), array([2]), array([0]))
    """
    of = blocks(run, matched, deepest)
    return None if of is None else of.orders()


@dataclass(frozen=True, eq=False)
class Blocks:
    """The judged documents that are tied with others."""

    matched: Match
    slots: Integers
    first: Integers
    last: Integers

    def orders(self) -> Orders | None:
        """Sort the blocks into their worst and best order; None if no block has different grades."""
        return _orders(self.matched.rankings, self.slots, self.first, self.last)


def blocks(run: Run, matched: Match, deepest: int) -> Blocks | None:
    """Find the blocks of equal scores with judged documents; parameters are those of `orders`."""
    tied = run.tied_with_next
    if not tied.any():
        return None
    behind = np.concatenate(([False], tied[:-1]))
    begins, ends = np.flatnonzero(tied & ~behind), np.flatnonzero(behind & ~tied)
    block = np.searchsorted(begins, matched.rows, side="right") - 1
    query = matched.rankings.query
    inside = (block >= 0) & (matched.rows <= ends[block])
    inside[inside] &= begins[block[inside]] - matched.starts[query[inside]] < deepest
    slots = np.flatnonzero(inside)
    if not len(slots):
        return None
    above = matched.starts[query[slots]] - 1
    return Blocks(matched, slots, begins[block[slots]] - above, ends[block[slots]] - above)


def _orders(rankings: JudgedRankings, slots: Integers, first: Integers, last: Integers) -> Orders | None:
    query, grades = rankings.query[slots], np.maximum(rankings.grades[slots], 0.0)
    heads = np.flatnonzero(np.diff(first, prepend=0) | np.diff(query, prepend=-1))
    sizes = np.diff(heads, append=len(slots))
    # A fully judged block may have a single grade; with an unjudged document its lowest grade is 0.
    lowest = np.where(sizes > last[heads] - first[heads], np.minimum.reduceat(grades, heads), 0.0)
    differ = np.maximum.reduceat(grades, heads) > lowest
    if not differ.any():
        return None
    # Slots are sorted by query, and so are blocks.
    of_block = query[heads][differ]
    new = np.diff(of_block, prepend=-1) > 0
    differing = np.repeat(differ, sizes)
    worst, best = _ordered(rankings, slots[differing], sizes[differ], first[differing], last[differing])
    places, ends = of_block[new], (first[heads][differ], last[heads][differ])
    return Orders(places, chosen(worst, places), chosen(best, places), np.cumsum(new) - 1, *ends)


def _ordered(
    rankings: JudgedRankings, slots: Integers, sizes: Integers, first: Integers, last: Integers
) -> Iterator[JudgedRankings]:
    """Yield the rankings with the grades of each block ascending, and then descending."""
    count = np.repeat(sizes, sizes)
    head = np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.arange(len(slots)) - head
    grades = rankings.grades[slots]
    ascending = grades[np.lexsort((grades, head))]
    for ordered, down in ((ascending, False), (ascending[head + count - 1 - place], True)):
        # Documents with a gain go to one end of the block and the other judged documents to the other end, with the
        # unjudged documents in between.
        upper = (ordered > 0) == down
        new_ranks, new_grades = rankings.ranks.copy(), rankings.grades.copy()
        new_ranks[slots] = np.where(upper, first + place, last + 1 - count + place)
        new_grades[slots] = ordered
        yield replace(rankings, ranks=new_ranks, grades=new_grades)


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


@dataclass(frozen=True)
class TieDoubt:
    """A mean that depends strongly on the order of tied documents."""

    run: str
    metric: str
    low: float
    high: float
    queries: int
    others: tuple[str, ...]


def tie_doubts(evaluation: Evaluation) -> list[TieDoubt]:
    """Find the means that the order of tied documents can move by over half of their interval, or past another run.

    Examples
    --------
    >>> from evaluation import evaluate
    >>> from assay.core import Qrels, Run
    >>> tied = Run.from_dict({"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, "tied")
    >>> plain = Run.from_dict({"q": {"b": 2.0, "a": 1.0}}, "plain")
    >>> found = evaluate(Qrels.from_dict({"q": {"a": 1}}), [tied, plain], "RR@10")
    >>> [(one.run, one.others) for one in tie_doubts(found)]
    [('tied', ('plain',))]
    """
    doubts = []
    for run in evaluation.runs:
        for metric, tied in run.diagnostics.ties_at.items():
            others = tuple(other.name for other in evaluation.runs if other is not run and _swap(run, other, metric))
            if others or tied.high - tied.low > _half_width(run, metric):
                doubts.append(TieDoubt(run.name, metric, tied.low, tied.high, tied.queries, others))
    return doubts


def _half_width(run: RunScores, metric: str) -> float:
    one = run.metrics[metric]
    return float("inf") if one.low is None or one.high is None else (one.high - one.low) / 2


def _swap(run: RunScores, other: RunScores, metric: str) -> bool:
    """Return whether other orders of both runs' tied documents could reverse the order of the runs."""
    first, second = run.metrics[metric].mean, other.metrics[metric].mean
    if first is None or second is None:
        return False
    mine, theirs = _range(run, metric, first), _range(other, metric, second)
    return mine[0] < theirs[1] if first > second else mine[1] > theirs[0]


def _range(run: RunScores, metric: str, mean: float) -> tuple[float, float]:
    tied = run.diagnostics.ties_at.get(metric)
    return (mean, mean) if tied is None else (tied.low, tied.high)


@dataclass(frozen=True)
class OpenPair:
    """Two runs that differ significantly although their bounds overlap."""

    pair: PairComparison
    a: Range
    b: Range

    @property
    def sentence(self) -> str:
        """Return the finding as a sentence."""
        ranges = [f"{one.low:.4f} to {one.high:.4f}" for one in (self.a, self.b)]
        return (
            f"{self.pair.a}, {self.pair.b}: {self.pair.metric} differs, but depending on the grades of "
            f"unjudged documents, the scores range from {ranges[0]} and from {ranges[1]}; these ranges overlap"
        )


def open_pairs(comparison: Comparison, evaluation: Evaluation, alpha: float) -> list[OpenPair]:
    """Find the pairs that differ at `alpha` although missing judgments could reverse the difference."""
    bounds = {run.name: run.diagnostics.bounds for run in evaluation.runs}
    open_ones = []
    for pair in comparison.pairs:
        first, second = bounds[pair.a].get(pair.metric), bounds[pair.b].get(pair.metric)
        if pair.differs(alpha) and first and second and first.low < second.high and second.low < first.high:
            open_ones.append(OpenPair(pair, first, second))
    return open_ones
