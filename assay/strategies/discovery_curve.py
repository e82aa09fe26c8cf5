"""Discovery curve: relevant documents found pair by pair, compared with depth-k pooling.

The comparison is limited to the judged pairs of depth k. Other pairs may also be relevant, so its count is a lower
bound and is reported with the number of unjudged pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.strategies.candidates import Candidates, Pair

# Pools are not deeper than this in practice, and the sizes are stored with each pool.
DEEPEST = 200


@dataclass(frozen=True)
class Depth:
    """The cost and yield of pooling to a depth."""

    depth: int
    pairs: int
    judged: int
    relevant: int

    @property
    def unjudged(self) -> int:
        """Return the number of unjudged pairs."""
        return self.pairs - self.judged


@dataclass(frozen=True)
class DiscoveryCurve:
    """The discovery curve."""

    relevant: tuple[int, ...]
    depths: tuple[Depth, ...]

    @property
    def judged(self) -> int:
        """Return the number of judged pairs."""
        return len(self.relevant)

    @property
    def total(self) -> int:
        """Return the number of relevant pairs."""
        return self.relevant[-1] if self.relevant else 0

    def same_work(self) -> Depth | None:
        """Return the deepest pool that needs at most the number of judgments made; None if even depth 1 needs more."""
        return next((one for one in reversed(self.depths) if one.pairs <= self.judged), None)


def depth_sizes(candidates: Candidates, left_out: Iterable[Pair] = ()) -> list[int]:
    """Return the number of pairs of pooling to depth 1, 2, 3, ...: the runs' union down to each rank.

    Examples
    --------
    >>> from assay.core.run import Run
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


def discovery(judged: Iterable[tuple[bool, int | None]], sizes: Sequence[int] = ()) -> DiscoveryCurve:
    """Return the discovery curve.

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
    return DiscoveryCurve(tuple(relevant), depths)
