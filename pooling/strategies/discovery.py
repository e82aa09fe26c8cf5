"""Discovery curve: relevant documents found pair by pair, compared with what depth k would have found.

The comparison is limited to the pairs of depth k that were judged. The others may hold relevant documents too, so its
count is a lower bound and is reported with the number of unjudged pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pooling.strategies.candidate_blocks import Pair
from pooling.strategies.candidates import Candidates

# Deeper than this nobody pools by depth, and the sizes are stored with each pool.
DEEPEST = 200


@dataclass(frozen=True)
class Depth:
    """What pooling to a depth would have cost and found.

    Parameters
    ----------
    depth : int
        The first so many documents of every run, less what was known before.
    pairs : int
        How many pairs these are: what would have been judged.
    judged : int
        How many of them are judged.
    relevant : int
        How many of these are relevant; at least so many would have been found.
    """

    depth: int
    pairs: int
    judged: int
    relevant: int

    @property
    def unjudged(self) -> int:
        """Pairs of which nobody knows."""
        return self.pairs - self.judged


@dataclass(frozen=True)
class Found:
    """The discovery curve.

    Parameters
    ----------
    relevant : tuple of int
        After each judged pair, in the order of judging, how many relevant ones were found by then.
    depths : tuple of Depth
        Depth by depth; empty where nobody knows how many pairs a depth has.
    """

    relevant: tuple[int, ...]
    depths: tuple[Depth, ...]

    @property
    def judged(self) -> int:
        """How many pairs are judged."""
        return len(self.relevant)

    @property
    def total(self) -> int:
        """How many relevant ones were found."""
        return self.relevant[-1] if self.relevant else 0

    def same_work(self) -> Depth | None:
        """The deepest pool that would have cost no more judgments than were made; None where even depth 1 would."""
        return next((one for one in reversed(self.depths) if one.pairs <= self.judged), None)


def depth_sizes(candidates: Candidates, left_out: Iterable[Pair] = ()) -> list[int]:
    """How many pairs pooling to depth 1, 2, 3, ... would take: the runs' union down to each rank.

    Parameters
    ----------
    candidates : Candidates
        What the runs return.
    left_out : iterable of (query_id, doc_id)
        What need not be judged any more, so that no pool would take it.

    Examples
    --------
    >>> from judgments.core.run import Run
    >>> runs = [Run.from_dict({"q1": {"d1": 2, "d2": 1}}, "a"), Run.from_dict({"q1": {"d2": 9, "d3": 1}}, "b")]
    >>> depth_sizes(Candidates.of(runs))
    [2, 3]
    >>> depth_sizes(Candidates.of(runs), [("q1", "d1")])
    [1, 2]
    """
    best = candidates.best_rank.copy()
    rows = candidates.find(list(left_out))
    best[rows[rows >= 0]] = 0
    ranks = best[best > 0]
    sizes: list[int] = np.bincount(ranks, minlength=1).cumsum()[1 : DEEPEST + 1].tolist()
    return sizes


def discovery(judged: Iterable[tuple[bool, int | None]], sizes: Sequence[int] = ()) -> Found:
    """Count what was found.

    Parameters
    ----------
    judged : iterable of (relevant, best rank)
        The judged pairs in the order of judging; the best rank that a run gives the document, None where no run does.
    sizes : sequence of int
        How many pairs each depth has, as `depth_sizes` tells.

    Examples
    --------
    >>> found = discovery([(True, 1), (False, 3), (True, None), (True, 2)], [2, 4, 6])
    >>> found.relevant
    (1, 1, 2, 3)
    >>> [(one.depth, one.pairs, one.judged, one.relevant) for one in found.depths]
    [(1, 2, 1, 1), (2, 4, 2, 2), (3, 6, 3, 2)]
    >>> found.same_work().depth
    2
    """
    rows = list(judged)
    relevant = np.cumsum([good for good, _ in rows], dtype=np.int64).tolist()
    good = np.zeros(len(sizes) + 2, dtype=np.int64)
    known = np.zeros(len(sizes) + 2, dtype=np.int64)
    for is_relevant, rank in rows:
        if rank is not None:
            at = min(rank, len(sizes) + 1)
            known[at] += 1
            good[at] += is_relevant
    depths = tuple(
        Depth(depth, size, int(known[: depth + 1].sum()), int(good[: depth + 1].sum()))
        for depth, size in enumerate(sizes, 1)
    )
    return Found(tuple(relevant), depths)
