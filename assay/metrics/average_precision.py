"""Average precision (AP): the mean of the precision at the rank of each relevant document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, Mask, combined_above, share
from assay.metrics.metric import JUDGED_ONLY, REL, Metric
from assay.metrics.metric_bounds import Response


@dataclass(frozen=True, eq=False)
class Gaps:
    """The gaps of unjudged ranks between returned judged documents, by query and from the top."""

    query: Integers
    offsets: Integers
    first: Integers
    last: Integers
    above: Integers
    relevant: Integers
    below: Floats

    @cached_property
    def size(self) -> Integers:
        """Return the number of ranks in each gap."""
        return self.last - self.first + 1

    def higher(self, values: Floats) -> Floats:
        """Add up, for each gap, the values of the gaps above it in its query."""
        return combined_above(np.add, values, self.offsets)

    def lower(self, values: Floats) -> Floats:
        """Add up, for each gap, the values of the gaps below it in its query."""
        return combined_above(np.add, values[::-1], len(values) - self.offsets[::-1])[::-1]


def average_precision_bounds(rankings: JudgedRankings, rel: float = 1, **_: object) -> tuple[Floats, Floats]:
    """Compute the lowest and the highest AP of every query.

    Parameters
    ----------
    rankings : JudgedRankings
        The queries, cut at the depth that counts.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    (float64 array, float64 array), shape (queries,)

    Notes
    -----
    Going down a gap, the t-th document adds (x + t + c) / (p + t) + M: x unjudged and c relevant documents are above
    it, p ranks in all, and M is its contribution to the relevant documents below. This grows with t, so AP first falls
    and then rises, and is highest at an end of a gap. The same holds upward from the last rank, so AP is lowest where
    it starts to rise, which is found by bisection.

    Examples
    --------
    >>> low, high = average_precision_bounds(JudgedRankings.of((10, {1: 1.0, 2: 0.0}, [1.0, 0.0])), 1)
    >>> low.round(4), high.round(4)
    (array([0.4958]), array([1.]))
    """
    relevant = rankings.grades >= rel
    start = rankings.total(rankings.running(relevant) / rankings.ranks, relevant)
    gaps, known = _gaps(rankings, relevant), rankings.relevant(rel)
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, int(rankings.returned.max(initial=0)) + 1))))
    return _lowest(rankings, gaps, start, known, harmonic), _highest(gaps, start, known, harmonic)


def _gaps(rankings: JudgedRankings, relevant: Mask) -> Gaps:
    place = np.arange(len(rankings.ranks)) - rankings.offsets[rankings.query]
    behind = np.concatenate(([0], rankings.ranks))[:-1]
    behind[place == 0] = 0
    counts = np.diff(rankings.offsets)
    deepest = np.zeros(rankings.queries, dtype=np.int64)
    deepest[counts > 0] = rankings.ranks[rankings.offsets[1:][counts > 0] - 1]
    above, under = np.flatnonzero(rankings.ranks - behind > 1), np.flatnonzero(rankings.returned > deepest)
    # A query's gap below its last judged document follows its other gaps.
    query = np.concatenate((rankings.query[above], under))
    order = np.argsort(query, kind="stable")
    query = query[order]
    parts = np.where(relevant, 1.0 / rankings.ranks, 0.0)
    below = rankings.total(parts)[rankings.query[above]] - rankings.above(np.add, parts)[above]
    running = (rankings.running(relevant) - relevant)[above]
    first = np.concatenate((behind[above], deepest[under]))[order] + 1
    last = np.concatenate((rankings.ranks[above] - 1, rankings.returned[under]))[order]
    return Gaps(
        query=query,
        offsets=np.searchsorted(query, np.arange(rankings.queries + 1)),
        first=first,
        last=last,
        above=np.concatenate((place[above], counts[under]))[order],
        relevant=np.concatenate((running, rankings.count(relevant)[under]))[order],
        below=np.concatenate((below, np.zeros(len(under))))[order],
    )


def _highest(gaps: Gaps, start: Floats, known: Integers, harmonic: Floats) -> Floats:
    others = gaps.above - gaps.relevant
    added = gaps.size * (1.0 + gaps.below) - others * (harmonic[gaps.last] - harmonic[gaps.first - 1])
    seen = gaps.last - gaps.above
    value = share(start[gaps.query] + gaps.higher(added) + added, known[gaps.query] + seen)
    best = share(start, known)
    np.maximum.at(best, gaps.query, value)
    return best


def _lowest(rankings: JudgedRankings, gaps: Gaps, start: Floats, known: Integers, harmonic: Floats) -> Floats:
    end = harmonic[gaps.last]
    # Contribution of an unjudged document to the documents made relevant in the gaps below.
    each = gaps.below + end + gaps.lower(end - harmonic[gaps.first - 1])
    sums = (np.arange(len(harmonic)) + 1) * harmonic - np.arange(len(harmonic))

    def added(count: Integers, at: Integers | slice = slice(None)) -> Floats:
        """Return the total contribution of the last documents of some gaps."""
        stop = gaps.last[at] - count
        inside = end[at] - harmonic[stop]
        excess: Floats = count * each[at] + (gaps.relevant[at] + 1) * inside - (sums[gaps.last[at]] - sums[stop])
        return excess

    def rises(count: Integers, at: Integers | slice, sum_: Floats) -> Mask:
        """Return whether AP does not fall with one more document than those that add this sum."""
        stop = gaps.last[at] - count
        one_more = each[at] + (gaps.relevant[at] + 1) / stop - harmonic[stop]
        rising_mask: Mask = one_more * (divisor[at] + count) >= begin[at] + sum_
        return rising_mask

    whole = added(gaps.size)
    begin = start[gaps.query] + gaps.lower(whole)
    unjudged = (rankings.returned - np.diff(rankings.offsets))[gaps.query]
    divisor = known[gaps.query] + unjudged - (gaps.last - gaps.above)
    lowest = share(start, known)
    np.minimum.at(lowest, gaps.query, share(begin + whole, divisor + gaps.size))
    # Without any of a gap's documents, the value is that at the top of the gap below. It is lower inside if it falls at
    # the bottom and rises at the top.
    none = np.zeros(len(gaps.size), dtype=np.int64)
    last_but_one = gaps.size - 1
    at = np.flatnonzero(
        (last_but_one > 0)
        & ~rises(none, slice(None), none.astype(np.float64))
        & rises(last_but_one, slice(None), added(last_but_one))
    )
    few, many, inside = none + 1, last_but_one, at
    while len(at := at[few[at] < many[at]]):
        middle = (few[at] + many[at]) // 2
        up = rises(middle, at, added(middle, at))
        many[at], few[at] = np.where(up, middle, many[at]), np.where(up, few[at], middle + 1)
    value = share(begin[inside] + added(few[inside], inside), divisor[inside] + few[inside])
    np.minimum.at(lowest, gaps.query[inside], value)
    return lowest


def average_precision(rankings: JudgedRankings, cutoff: int | None = None, rel: float = 1) -> Floats:
    """Compute the mean over all relevant documents of the precision at their ranks.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank that counts. The divisor is still R, the number of all relevant documents for the query.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; a relevant document that is not returned adds 0; 0 if the query has none.

    Examples
    --------
    >>> average_precision(JudgedRankings.of((4, {2: 1, 4: 1}, [1, 1])))
    array([0.5])
    """
    relevant = (rankings.grades >= rel) & rankings.within(cutoff)
    return share(rankings.total(rankings.running(relevant) / rankings.ranks, relevant), rankings.relevant(rel))


AP = Metric(
    name="AP",
    title="Average precision",
    description="Precision at every relevant document, averaged over all relevant documents; its mean is known as MAP.",
    formula="1/R times the sum, over ranks i with a relevant document, of (relevant documents at ranks 1 to i) "
    "/ i. R is the number of all relevant documents for the query, even for AP@k; 0 if R is 0.",
    source="Harman 1992 (TREC-1); trec_eval's map and map_cut.",
    per_query=average_precision,
    parameters=(REL, JUDGED_ONLY),
    aliases={"map": {}, "map_cut": {}},
    trec_name="map",
    trec_name_at="map_cut_{k}",
    example="AP",
    response=Response("promoted", bounds=average_precision_bounds),
)
