"""Bounds of a metric: its lowest and highest value if all documents that the run returned were judged.

Each unjudged document within the metric's cutoff may independently get any grade of the scale. Documents that the run
did not return keep their labels. A metric declares its response to a new grade, which makes the bounds exact, that is,
attained by some set of grades, and determines which judgments could reverse a comparison. A metric without a declared
response has no bounds or decision-critical pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from assay.core.text_column import spans
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, Mask, alike
from assay.metrics.metric import BoundMetric

# All of these take the metric's parameters as keyword arguments.
Gain = Callable[..., Floats]
Weight = Callable[..., Floats]
Ideal = Callable[..., Floats]


@dataclass(frozen=True)
class Additive:
    """A metric that sums the gains of documents at their ranks, divided by a value that does not depend on ranks."""

    gain: Gain
    weight: Weight
    base: Callable[..., float] = lambda cutoff, **_: 1.0
    ideal: Ideal | None = None


@dataclass(frozen=True)
class Response:
    """How a metric responds to judgments; all shapes guarantee that swapping a better document above a worse document
    never lowers the value.
    """

    shape: Literal["rising", "first", "promoted"]
    additive: Additive | None = None
    unknown: Callable[..., Floats] | None = None
    bounds: Callable[..., tuple[Floats, Floats]] | None = None
    outside: Callable[..., tuple[Floats, Floats]] | None = None


def reaching(grades: Floats, rel: float = 1, **_: object) -> Floats:
    """Return a gain of 1 for relevant grades."""
    return (grades >= rel).astype(np.float64)


def labels(grades: Floats, **_: object) -> Floats:
    """Return the grade as the gain, or 0 if it is negative."""
    return np.maximum(grades, 0.0)


def within(ranks: Integers, cutoff: int | None, **_: object) -> Floats:
    """Weight all ranks within the cutoff equally."""
    return np.ones(len(ranks)) if cutoff is None else (ranks <= cutoff).astype(np.float64)


def share_of_ranks(ranks: Integers, cutoff: int, **_: object) -> Floats:
    """Weight all ranks within the cutoff equally, with a total of 1."""
    return within(ranks, cutoff) / cutoff


def nothing(cutoff: int | None, **_: object) -> float:
    """Return 0, so that the divisor is only the ideal."""
    return 0.0


# Counts and flags are summed as integers, weights as floats.
Columns = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Holes:
    """The unjudged documents of some queries, down to a depth."""

    places: Integers
    rankings: JudgedRankings
    open: Mask

    @property
    def depth(self) -> int:
        """Return the number of rank columns."""
        return int(self.open.shape[1])

    @cached_property
    def ranks(self) -> Integers:
        """Return the rank of each column."""
        return np.arange(1, self.depth + 1)

    @cached_property
    def seen(self) -> Integers:
        """Return the number of unjudged documents down to each rank."""
        return np.cumsum(self.open, axis=1)

    def spread(self, values: Floats | Mask) -> Floats:
        """Put a value of each returned judged document in the column of its rank; 0 elsewhere."""
        spread_values = np.zeros(self.open.shape, dtype=np.float64)
        there = self.rankings.ranks <= self.depth
        spread_values[self.rankings.query[there], self.rankings.ranks[there] - 1] = values[there]
        return spread_values


def holes(rankings: JudgedRankings, cutoff: int | None) -> Iterator[Holes]:
    """Yield the unjudged documents within a cutoff, in blocks of queries with similar depth.

    Examples
    --------
    >>> (found,) = holes(JudgedRankings.of((2, {2: 1.0}, [1.0]), (9, {1: 0.0}, [0.0])), 3)
    >>> found.open.astype(int).tolist(), found.seen[:, -1].tolist()
    ([[1, 0, 0], [0, 1, 1]], [1, 2])
    """
    depths = rankings.returned if cutoff is None else np.minimum(rankings.returned, cutoff)
    for places in alike(depths):
        yield _of(rankings, places, depths[places])


def _of(rankings: JudgedRankings, places: Integers, depths: Integers) -> Holes:
    part = rankings if len(places) == rankings.queries else chosen(rankings, places)
    unjudged = np.arange(1, int(depths.max(initial=0)) + 1) <= depths[:, np.newaxis]
    there = part.ranks <= unjudged.shape[1]
    unjudged[part.query[there], part.ranks[there] - 1] = False
    return Holes(places, part, unjudged)


def with_none(columns: Columns) -> Columns:
    """Prepend a column for no documents."""
    return np.concatenate((np.zeros((len(columns), 1), dtype=columns.dtype), columns), axis=1)


def from_below(columns: Columns) -> Columns:
    """Sum from the last column back to each column."""
    sums: Columns = np.cumsum(columns[:, ::-1], axis=1)[:, ::-1]
    return sums


@dataclass(frozen=True, eq=False)
class Grading:
    """Grades for unjudged documents."""

    query: Integers
    rank: Integers
    grade: Floats


def chosen(rankings: JudgedRankings, places: Integers) -> JudgedRankings:
    """Return the rankings of some queries, in the given order; a query may be repeated.

    Examples
    --------
    >>> rankings = JudgedRankings.of((3, {1: 2.0}, [2.0]), (5, {4: 1.0}, [1.0, 0.0]))
    >>> twice = chosen(rankings, np.array([1, 1]))
    >>> twice.returned.tolist(), twice.ranks.tolist(), twice.judged.tolist()
    ([5, 5], [4, 4], [1.0, 0.0, 1.0, 0.0])
    """
    counts, sizes = np.diff(rankings.offsets)[places], np.diff(rankings.judged_offsets)[places]
    rows, judged = spans(rankings.offsets[places], counts), spans(rankings.judged_offsets[places], sizes)
    return JudgedRankings(
        returned=rankings.returned[places],
        offsets=np.concatenate(([0], np.cumsum(counts))),
        ranks=rankings.ranks[rows],
        grades=rankings.grades[rows],
        judged=rankings.judged[judged],
        judged_offsets=np.concatenate(([0], np.cumsum(sizes))),
    )


def joined(parts: Sequence[JudgedRankings]) -> JudgedRankings:
    """Concatenate the queries of several rankings."""
    if len(parts) == 1:
        return parts[0]
    counts = np.concatenate([np.diff(one.offsets) for one in parts])
    sizes = np.concatenate([np.diff(one.judged_offsets) for one in parts])
    return JudgedRankings(
        returned=np.concatenate([one.returned for one in parts]),
        offsets=np.concatenate(([0], np.cumsum(counts))),
        ranks=np.concatenate([one.ranks for one in parts]),
        grades=np.concatenate([one.grades for one in parts]),
        judged=np.concatenate([one.judged for one in parts]),
        judged_offsets=np.concatenate(([0], np.cumsum(sizes))),
    )


def graded(rankings: JudgedRankings, new: Grading) -> JudgedRankings:
    """Return the rankings with these grades added to the labels.

    Examples
    --------
    >>> rankings = JudgedRankings.of((3, {1: 2.0}, [2.0]))
    >>> found = graded(rankings, Grading(np.array([0, 0]), np.array([3, 0]), np.array([1.0, 3.0])))
    >>> found.ranks.tolist(), found.grades.tolist(), found.judged.tolist()
    ([1, 3], [2.0, 1.0], [3.0, 2.0, 1.0])
    """
    here = new.rank > 0
    query = np.concatenate((rankings.query, new.query[here]))
    ranks = np.concatenate((rankings.ranks, new.rank[here]))
    grades = np.concatenate((rankings.grades, new.grade[here]))
    order = np.lexsort((ranks, query))
    judged_query = np.concatenate((rankings.judged_query, new.query))
    judged = np.concatenate((rankings.judged, new.grade))
    ideal = np.lexsort((-judged, judged_query))
    return JudgedRankings(
        returned=rankings.returned,
        offsets=_offsets(query, rankings.queries),
        ranks=ranks[order],
        grades=grades[order],
        judged=judged[ideal],
        judged_offsets=_offsets(judged_query, rankings.queries),
    )


def _offsets(query: Integers, queries: int) -> Integers:
    return np.concatenate(([0], np.cumsum(np.bincount(query, minlength=queries))))


MOST_PASSES = 64


@dataclass(frozen=True, eq=False)
class Steps:
    """The gains of grades, as steps."""

    rises: Floats
    grades: Floats
    divisor: Floats
    ideals: tuple[Floats, ...]

    @property
    def height(self) -> float:
        """Return the gain of the top step."""
        return float(self.rises.sum())

    def part(self, rows: Integers, columns: int) -> Steps:
        """Return the steps for some of the queries and the first columns."""
        ideals = tuple(ideal[rows, :columns] for ideal in self.ideals)
        return Steps(self.rises, self.grades, self.divisor[rows], ideals)


def steps(metric: BoundMetric, additive: Additive, rankings: JudgedRankings, counts: Integers, grades: Floats) -> Steps:
    """Compute the steps for some queries."""
    arguments = metric.arguments
    reach, first = _distinct(additive.gain(grades, **arguments))
    divisor = np.full(rankings.queries, additive.base(metric.cutoff, **arguments))
    ideals = [np.zeros(counts.shape) for _ in reach]
    if additive.ideal is not None:
        kinds, kind = rankings.judged_kinds
        gains = additive.gain(kinds, **arguments)
        levels, _ = _distinct(np.concatenate((gains, reach)))
        for level, rise in zip(levels, np.diff(levels, prepend=0.0), strict=True):
            there = np.bincount(rankings.judged_query[(gains >= level)[kind]], minlength=rankings.queries)
            step = int(np.searchsorted(reach, level))
            if step == len(reach):
                divisor += rise * additive.ideal(there, metric.cutoff, **arguments)
            else:
                ideals[step] += rise * additive.ideal(there[:, np.newaxis] + counts, metric.cutoff, **arguments)
    return Steps(np.diff(reach, prepend=0.0), grades[first], divisor, tuple(ideals))


def _distinct(gains: Floats) -> tuple[Floats, Integers]:
    """Return the distinct gains above 0 in ascending order, and the first position of each."""
    # Not np.unique: its first call imports numpy.ma, which takes as long as all of this.
    above = np.flatnonzero(gains > 0)
    order = above[np.argsort(gains[above], kind="stable")]
    ascending = gains[order]
    new = np.diff(ascending, prepend=0.0) > 0
    return ascending[new], order[new]


def at_the_top(start: Floats, added: Floats, stair: Steps) -> Floats:
    """Compute the quotient in each column if all its documents reach the top step, shape (queries, columns)."""
    whole = stair.divisor[:, np.newaxis] + sum(stair.ideals, np.zeros(added.shape))
    value = np.zeros(added.shape)
    there = np.isfinite(added)
    total = start[:, np.newaxis] + stair.height * np.where(there, added, 0.0)
    np.divide(total, whole, out=value, where=whole > 0)
    value[~there] = -np.inf
    return value


def largest(start: Floats, added: Floats, stair: Steps) -> tuple[Floats, Integers]:
    """Find the largest quotient."""
    value = at_the_top(start, added, stair)
    top = value.argmax(axis=1)
    best = np.take_along_axis(value, top[:, np.newaxis], axis=1)[:, 0]
    columns = np.repeat(top[:, np.newaxis], len(stair.rises), axis=1)
    rising = np.flatnonzero(best > 0) if len(stair.rises) > 1 else np.zeros(0, dtype=np.int64)
    for _ in range(MOST_PASSES):
        if not len(rising):
            break
        columns_now, quotient = _pass(start[rising], added[rising], stair, rising, best[rising])
        better = quotient > best[rising] * (1 + 1e-14)
        rising = rising[better]
        best[rising], columns[rising] = quotient[better], columns_now[better]
    return best, columns


def _pass(start: Floats, added: Floats, stair: Steps, rows: Integers, quotient: Floats) -> tuple[Integers, Floats]:
    """Choose the column of each step that maximizes its sum minus the quotient times its part of the divisor."""
    columns, total, whole = [], start.copy(), stair.divisor[rows].copy()
    for rise, ideal in zip(stair.rises, stair.ideals, strict=True):
        of_step = ideal[rows]
        column = (rise * added - quotient[:, np.newaxis] * of_step).argmax(axis=1)[:, np.newaxis]
        columns.append(column)
        total += rise * np.take_along_axis(added, column, axis=1)[:, 0]
        whole += np.take_along_axis(of_step, column, axis=1)[:, 0]
    return np.concatenate(columns, axis=1), np.divide(total, whole, out=np.zeros(len(total)), where=whole > 0)


Range = tuple[Floats, Floats]

MOST_GRADES = 100


def scale_grades(top: float) -> Floats:
    """Return the possible grades above 0: the whole numbers up to the top, and the top itself. If no grade is above 0,
    the top is 1. A top above 100 does not belong to a human scale (clicks, for example); then a document gets the top
    grade or 0.

    Examples
    --------
    >>> scale_grades(3).tolist(), scale_grades(0.75).tolist()
    ([1.0, 2.0, 3.0], [0.75])
    """
    top = top if top > 0 else 1.0
    if top > MOST_GRADES:
        return np.array([top])
    whole = np.arange(1.0, np.floor(top) + 1.0)
    return whole if top in whole[-1:] else np.append(whole, top)


def bounds(metric: BoundMetric, rankings: JudgedRankings, values: Floats, grades: Floats) -> Range | None:
    """Compute the lowest and the highest value of a metric for every query.

    Parameters
    ----------
    metric : BoundMetric
        The metric with its cutoff; without a cutoff, the depth is the number of returned documents.
    rankings : JudgedRankings
        The queries.
    values : float64 array, shape (queries,)
        The current values of the metric.
    grades : float64 array
        The possible grades above 0, ascending; the last is at least the largest label.

    Returns
    -------
    (float64 array, float64 array) or None
        None for metrics that do not declare a response to new grades, and for condensed lists.

    Notes
    -----
    Rising metrics are lowest if every unjudged document has grade 0 and highest if every unjudged document has the top
    grade. For AP and Rprec, with a given number of documents made relevant, the value is highest if they are the first
    unjudged ones and lowest if they are the last: all numbers are tried (`assay.metrics.average_precision`). For nDCG
    see `assay.metrics.metric_bounds`. RBP uses its residual for the upper bound, which also counts documents that were
    not returned.

    Examples
    --------
    >>> from assay.metrics.metric import parse_metric
    >>> rankings = JudgedRankings.of((3, {1: 1.0}, [1.0]))
    >>> ap = parse_metric("AP")
    >>> [one.round(4).tolist() for one in bounds(ap, rankings, ap(rankings), np.array([1.0]))]
    [[0.8333], [1.0]]
    """
    response = metric.response
    if response is None:
        return None
    arguments = metric.arguments
    grades = allowed(metric, grades)
    if response.unknown is not None:
        return values, values + response.unknown(rankings, metric.cutoff, **arguments)
    if response.shape == "promoted":
        low, high = _promoted(metric, response, rankings, grades)
        # The current value, with every unjudged document at 0, is between the bounds, except for rounding.
        return np.minimum(low, values), np.maximum(high, values)
    if response.additive is not None:
        return values, _added(metric, response.additive, rankings, grades)
    if response.shape == "first":
        return values, np.maximum(values, metric(_first_alone(metric, rankings, float(grades[-1]))))
    return values, _all_at_the_top(metric, rankings, float(grades[-1]))


def bounds_beside(
    metric: BoundMetric, rankings: JudgedRankings, values: Floats, grades: Floats, further: Integers
) -> Range | None:
    """Compute limits if further documents that the run did not return may also be judged.

    They raise the ideal. The limits hold for any grades of these documents, but may not be attained.
    """
    alone = bounds(metric, rankings, values, grades)
    response = metric.response
    if alone is None or response is None or not further.any():
        return alone
    if response.outside is not None:
        return response.outside(*alone, rankings.relevant(float(metric.arguments.get("rel") or 1)), further)
    query = np.repeat(np.arange(rankings.queries), further)
    top = allowed(metric, grades)[-1]
    all_judged = graded(rankings, Grading(query, np.zeros_like(query), np.full(len(query), top)))
    low, _ = bounds(metric, all_judged, metric(all_judged), grades) or alone
    return np.minimum(low, alone[0]), alone[1]


def allowed(metric: BoundMetric, grades: Floats) -> Floats:
    """Return the grades that the metric accepts: none above the top of the scale in its name."""
    top = metric.arguments.get("max_rel")
    if top is None or grades[-1] <= float(top):
        return grades
    return np.append(grades[grades < float(top)], float(top))


def _first_alone(metric: BoundMetric, rankings: JudgedRankings, top: float) -> JudgedRankings:
    """Return the value with only the first unjudged document of each query judged, at the top grade."""
    ranks = np.zeros(rankings.queries, dtype=np.int64)
    for block in holes(rankings, metric.cutoff):  # type: ignore[arg-type]
        some = block.open.any(axis=1)
        ranks[block.places[some]] = block.open[some].argmax(axis=1) + 1
    offsets = np.concatenate(([0], np.cumsum(ranks > 0)))
    grades = np.full(int(offsets[-1]), top)
    return JudgedRankings(rankings.returned, offsets, ranks[ranks > 0], grades, grades, offsets)


def _all_at_the_top(metric: BoundMetric, rankings: JudgedRankings, top: float) -> Floats:
    """Return the value with every unjudged document at the top grade, in blocks of queries."""
    high = np.zeros(rankings.queries)
    for block in holes(rankings, metric.cutoff):  # type: ignore[arg-type]
        rows, columns = np.nonzero(block.open)
        new = Grading(rows, columns + 1, np.full(len(rows), top))
        high[block.places] = metric(graded(block.rankings, new))
    return high


def _added(metric: BoundMetric, additive: Additive, rankings: JudgedRankings, grades: Floats) -> Floats:
    """Return the value of a rising sum with every unjudged document at the top."""
    arguments = metric.arguments
    high = np.zeros(rankings.queries)
    for block in holes(rankings, metric.cutoff):  # type: ignore[arg-type]
        weight = additive.weight(block.ranks, metric.cutoff, **arguments)
        counts = block.open.sum(axis=1, keepdims=True)
        stair = steps(metric, additive, block.rankings, counts, grades)
        high[block.places] = at_the_top(_sum(metric, additive, block), (block.open @ weight)[:, np.newaxis], stair)[
            :, 0
        ]
    return high


def _promoted(metric: BoundMetric, response: Response, rankings: JudgedRankings, grades: Floats) -> Range:
    low, high = np.zeros(rankings.queries), np.zeros(rankings.queries)
    if response.additive is not None:
        for block in holes(rankings, metric.cutoff):  # type: ignore[arg-type]
            low[block.places], high[block.places] = _share(metric, response.additive, block, grades)
    elif response.bounds is not None and not len(relevant_grades(metric, grades)):
        low = high = metric(rankings)
    elif response.bounds is not None:
        cut = rankings if metric.cutoff is None else rankings.cut(int(metric.cutoff))
        low, high = response.bounds(cut, **metric.arguments)
    return low, high


def relevant_grades(metric: BoundMetric, grades: Floats) -> Floats:
    """Return the grades that matter for a metric of relevant documents: the lowest relevant grade, if any."""
    return grades[reaching(grades, float(metric.arguments.get("rel") or 1)) > 0][:1]


def _sum(metric: BoundMetric, additive: Additive, block: Holes) -> Floats:
    """Return the sum of the judged documents that were returned."""
    arguments, of = metric.arguments, block.rankings
    gains = additive.gain(of.grades, **arguments) * additive.weight(of.ranks, metric.cutoff, **arguments)
    return of.total(gains)


def _share(metric: BoundMetric, additive: Additive, block: Holes, grades: Floats) -> Range:
    """Return the range of a sum divided by an ideal, with grades descending for the highest and ascending for the
    lowest value."""
    arguments = metric.arguments
    weights = block.open * additive.weight(block.ranks, metric.cutoff, **arguments)
    start = _sum(metric, additive, block)
    first, last = with_none(np.cumsum(weights, axis=1)), with_none(from_below(weights))
    counts = with_none(block.seen), with_none(from_below(block.open.astype(np.int64)))
    high, _ = largest(start, first, steps(metric, additive, block.rankings, counts[0], grades))
    lowest = at_the_top(start, last, steps(metric, additive, block.rankings, counts[1], grades))
    return lowest.min(axis=1), high
