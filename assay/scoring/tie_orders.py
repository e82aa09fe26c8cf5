"""Best and worst order of a run's tied documents.

With equal scores, the order depends on the document ids, which are arbitrary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from assay.core.run import Run
from assay.metrics.hypothetical_grades import chosen
from assay.metrics.judged_rankings import Integers, JudgedRankings
from assay.metrics.matching import Match


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
    >>> from assay.metrics.matching import match
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
