"""Health figures of a run: depth, ties, and ranks that contradict scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.grouping import Groups, grouped
from assay.core.text_column import Places
from assay.formats.run_columns import RunRows
from assay.formats.stored_run import stored_order

# More bars than this are unreadable.
MOST_DEPTHS = 12
# From this share of tied rows on, a run's order is mostly arbitrary.
MOSTLY = 0.75


@dataclass(frozen=True)
class Figures:
    """Quality figures of a run."""

    rows: int
    queries: int
    smallest: int
    median: int
    largest: int
    tied_rows: int
    tied_queries: int
    ranked_rows: int
    against_rows: int
    against_queries: int
    reordered_rows: int
    first_against: str | None
    infinite: int

    @property
    def ties(self) -> float | None:
        """Return the share of tied rows; None for a run without rows."""
        return self.tied_rows / self.rows if self.rows else None

    @property
    def mostly_tied(self) -> bool:
        """Return whether most rows have an arbitrary position."""
        return (self.ties or 0.0) >= MOSTLY


def figures(rows: RunRows) -> Figures:
    """Return the figures of a run's rows.

    Examples
    --------
    >>> from assay.formats.row_types import RunRow
    >>> rows = [RunRow("q1", "d1", 2.0, 2), RunRow("q1", "d2", 1.0, 1), RunRow("q2", "d1", 1.0, 1)]
    >>> found = figures(RunRows.of(rows))
    >>> found.largest, found.against_rows, found.first_against
    (2, 2, 'q1')
    """
    groups = grouped(rows.query_ids)
    order = stored_order(rows)
    query, scores = groups.query_of[order], rows.scores[order]
    depths = np.sort(np.diff(groups.offsets))
    same = (scores[1:] == scores[:-1]) & (query[1:] == query[:-1])
    tied = np.zeros(len(scores), dtype=np.bool_)
    tied[1:] |= same
    tied[:-1] |= same
    against, reordered = _displaced(rows, groups, order)
    contradicted = np.unique(query[against])
    return Figures(
        rows=len(scores),
        queries=len(groups.names),
        smallest=int(depths[0]) if len(depths) else 0,
        median=int(depths[len(depths) // 2]) if len(depths) else 0,
        largest=int(depths[-1]) if len(depths) else 0,
        tied_rows=int(np.count_nonzero(tied)),
        tied_queries=len(np.unique(query[tied])),
        ranked_rows=int(np.count_nonzero(np.isfinite(rows.ranks_within(groups)))) if rows.ranks.any() else 0,
        against_rows=int(np.count_nonzero(against)),
        against_queries=len(contradicted),
        reordered_rows=int(np.count_nonzero(reordered)),
        first_against=groups.names[int(contradicted[0])] if len(contradicted) else None,
        infinite=int(np.count_nonzero(np.isinf(scores))),
    )


def _displaced(rows: RunRows, groups: Groups, order: Places) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions in the score order that have another row in the rank order: with another score, and with the
    same score."""
    if not rows.ranks.any():
        return np.zeros(len(order), dtype=np.bool_), np.zeros(len(order), dtype=np.bool_)
    query, ranks = groups.query_of[order], rows.ranks_within(groups)[order]
    scores = rows.scores[order]
    without = np.bincount(query, weights=np.isinf(ranks), minlength=len(groups.names)) > 0
    by_rank = np.lexsort((ranks, query))
    moved = (by_rank != np.arange(len(order))) & ~without[query]
    against = moved & (scores[by_rank] != scores)
    return against, moved & ~against


def depths(counts: Sequence[int], most: int = MOST_DEPTHS) -> list[tuple[int, int, int]]:
    """Return the number of queries by number of documents, as (from, to, queries), shallow ones first.

    Examples
    --------
    >>> depths([3, 0, 3, 10]), depths([1, 2, 3, 4], most=2)
    ([(0, 0, 1), (3, 3, 2), (10, 10, 1)], [(1, 2, 2), (3, 4, 2)])
    """
    distinct, times = np.unique(np.asarray(counts, dtype=np.int64), return_counts=True)
    if len(distinct) <= most:
        return [(depth, depth, number) for depth, number in zip(distinct.tolist(), times.tolist(), strict=True)]
    low, high = int(distinct[0]), int(distinct[-1])
    width = -(-(high - low + 1) // most)
    ranges = []
    for start in range(low, high + 1, width):
        inside = (distinct >= start) & (distinct < start + width)
        ranges.append((start, min(start + width - 1, high), int(times[inside].sum())))
    return ranges
