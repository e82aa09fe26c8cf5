"""How low and how high could average precision be, if the unjudged documents of a run were judged?

With a given number of documents made relevant, AP is highest if they are the first unjudged ones and lowest if they are
the last. All numbers are tried, but not one by one: between two judged documents the unjudged ones form a gap, inside
which AP follows a formula of harmonic numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.metrics.judged_rankings import Floats, Integers, JudgedRankings, share


@dataclass(frozen=True, eq=False)
class Gaps:
    """The runs of unjudged ranks between returned judged documents, by query and from the top.

    Parameters
    ----------
    query, first, size : int64 array, shape (gaps,)
        The query of each gap, its first rank and how many ranks it has.
    above, relevant : int64 array
        How many judged documents, and how many relevant ones, stand above it.
    below : float64 array
        The sum of 1 / rank of the relevant documents below it.
    """

    query: Integers
    first: Integers
    size: Integers
    above: Integers
    relevant: Integers
    below: Floats

    @property
    def last(self) -> Integers:
        """The last rank of each."""
        return self.first + self.size - 1


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
    Going down a gap, the t-th document adds (x + t + c) / (p + t) + M: x unjudged and c relevant documents stand above,
    p ranks in all, M is what it adds to the relevant ones below. That grows with t, so AP, which moves towards it,
    first falls and then rises: it is highest at an end of a gap. Going up from the last rank the same holds, so that
    AP is lowest where it begins to rise, which is found by halving.

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
    return _lowest(rankings, gaps, start, known, harmonic), _highest(rankings, gaps, start, known, harmonic)


def _gaps(rankings: JudgedRankings, relevant: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Gaps:
    place = np.arange(len(rankings.ranks)) - rankings.offsets[rankings.query]
    behind = np.concatenate(([0], rankings.ranks))[:-1]
    behind[place == 0] = 0
    counts = np.diff(rankings.offsets)
    deepest = np.zeros(rankings.queries, dtype=np.int64)
    deepest[counts > 0] = rankings.ranks[rankings.offsets[1:][counts > 0] - 1]
    parts = np.where(relevant, 1.0 / rankings.ranks, 0.0)
    size = np.concatenate((rankings.ranks - behind - 1, rankings.returned - deepest))
    query = np.concatenate((rankings.query, np.arange(rankings.queries)))
    kept = np.flatnonzero(size)
    # A query's gap below its last judged document stands behind those above it.
    kept = kept[np.argsort(query[kept], kind="stable")]
    below = rankings.total(parts)[rankings.query] - rankings.above(np.add, parts)
    return Gaps(
        query=query[kept],
        first=np.concatenate((behind, deepest))[kept] + 1,
        size=size[kept],
        above=np.concatenate((place, counts))[kept],
        relevant=np.concatenate((rankings.running(relevant) - relevant, rankings.count(relevant)))[kept],
        below=np.concatenate((below, np.zeros(rankings.queries)))[kept],
    )


def _so_far(gaps: Gaps, added: Floats) -> Floats:
    """Add up, for each gap, what the gaps above it in its query add, never values of two queries."""
    place = np.arange(len(added)) - np.searchsorted(gaps.query, gaps.query)
    found = np.where(place > 0, np.concatenate(([0.0], added))[:-1], 0.0)
    reach = 1
    while reach < int(place.max(initial=0)):
        further = np.flatnonzero(place > reach)
        found[further] += found[further - reach]
        reach *= 2
    return found


def _highest(rankings: JudgedRankings, gaps: Gaps, start: Floats, known: Integers, harmonic: Floats) -> Floats:
    others = gaps.above - gaps.relevant
    added = gaps.size * (1.0 + gaps.below) - others * (harmonic[gaps.last] - harmonic[gaps.first - 1])
    seen = gaps.last - gaps.above
    value = share(start[gaps.query] + _so_far(gaps, added) + added, known[gaps.query] + seen)
    best = share(start, known)
    np.maximum.at(best, gaps.query, value)
    return best


def _lowest(rankings: JudgedRankings, gaps: Gaps, start: Floats, known: Integers, harmonic: Floats) -> Floats:
    # What an unjudged document adds at those made relevant in the gaps below.
    each = harmonic[gaps.last] - harmonic[gaps.first - 1]
    under = np.bincount(gaps.query, each, rankings.queries)[gaps.query] - _so_far(gaps, each) - each
    sums = (np.arange(len(harmonic)) + 1) * harmonic - np.arange(len(harmonic))

    last = gaps.last
    each = gaps.below + under + harmonic[last]

    def added(count: Integers, at: Integers | slice = slice(None)) -> Floats:
        """What the last so many documents of some gaps add together."""
        end = last[at]
        stop = end - count
        inside = harmonic[end] - harmonic[stop]
        found: Floats = count * each[at] + (gaps.relevant[at] + 1) * inside - (sums[end] - sums[stop])
        return found

    whole = added(gaps.size)
    below = np.bincount(gaps.query, whole, rankings.queries)[gaps.query] - _so_far(gaps, whole) - whole
    begin = start[gaps.query] + below
    unjudged = (rankings.returned - np.diff(rankings.offsets))[gaps.query]
    divisor = known[gaps.query] + unjudged - (last - gaps.above)

    def value(count: Integers, at: Integers | slice = slice(None)) -> Floats:
        return share(begin[at] + added(count, at), divisor[at] + count)

    few, many = np.zeros(len(gaps.size), dtype=np.int64), gaps.size.copy()
    # Where much is judged most gaps are empty or of one rank: each round looks at those that are still open alone.
    at = np.flatnonzero(many)
    while len(at):
        middle = (few[at] + many[at]) // 2
        rises = value(middle + 1, at) >= value(middle, at)
        many[at], few[at] = np.where(rises, middle, many[at]), np.where(rises, few[at], middle + 1)
        at = at[few[at] < many[at]]
    found = share(start, known)
    np.minimum.at(found, gaps.query, value(few))
    return found
