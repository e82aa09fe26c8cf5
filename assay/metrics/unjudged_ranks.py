"""Unjudged documents (holes) of a run, by rank.

Each query is a row with one column per rank, so that a computation down the ranks runs along a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.metrics.aligned_ranks import alike
from assay.metrics.hypothetical_grades import chosen
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, Mask

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
