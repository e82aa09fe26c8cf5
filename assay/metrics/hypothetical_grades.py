"""Rankings of a run as if its unjudged documents had given grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.grouping import spans
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings


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
