"""Tests of run figures: depth, ties and ranks."""

from __future__ import annotations

from itertools import pairwise

import pytest

from assay.formats.row_types import RunRow
from assay.formats.stored_run import depths, figures
from assay.formats.trec_run import RunRows


def rows(text: str) -> RunRows:
    """``q1 d1 9.5 1``: query, document, score and, where there is one, rank."""
    rows = []
    for line in text.strip().splitlines():
        query_id, doc_id, score, *rank = line.split()
        rows.append(RunRow(query_id, doc_id, float(score), int(rank[0]) if rank else None))
    return RunRows.of(rows)


def test_depths_and_ties_in_any_order_of_rows() -> None:
    health = figures(rows("q2 d1 5\nq1 d1 9\nq1 d2 8\nq1 d3 8\nq3 d1 2\nq3 d2 2\nq3 d3 inf"))
    assert (health.rows, health.queries, health.smallest, health.median, health.largest) == (7, 3, 1, 3, 3)
    assert (health.tied_rows, health.tied_queries, health.infinite) == (4, 2, 1)
    assert health.ties == pytest.approx(4 / 7)
    assert (health.ranked_rows, health.against_rows, health.reordered_rows, health.first_against) == (0, 0, 0, None)


@pytest.mark.parametrize(
    ("text", "against", "reordered"),
    [
        ("q1 d1 9 1\nq1 d2 8 2", 0, 0),
        ("q1 d1 9 2\nq1 d2 8 1", 2, 0),
        ("q1 d1 9 1\nq1 d2 8 2\nq1 d3 8 3", 0, 2),
        ("q1 d1 9 1\nq1 d3 8 2\nq1 d2 8 3", 0, 0),
        ("q1 d1 9 0\nq1 d2 8 1", 0, 0),
        ("q1 d1 9 7\nq1 d2 8 9", 0, 0),
        ("q1 d1 9 2\nq1 d2 8\nq2 d1 3 1", 0, 0),
        ("q1 d1 9 2\nq1 d2 8 1\nq2 d1 3 1", 2, 0),
    ],
    ids=["agree", "contradict", "tie by rank", "tie as read", "from 0", "gaps", "a rank missing", "one of two"],
)
def test_where_ranks_and_scores_disagree(text: str, against: int, reordered: int) -> None:
    health = figures(rows(text))
    assert (health.against_rows, health.reordered_rows) == (against, reordered)
    assert health.first_against == ("q1" if against else None)


def test_an_empty_run_has_no_share_of_ties() -> None:
    assert figures(RunRows.of([])).ties is None


def test_ranges_of_depths_hold_every_query_once() -> None:
    result = depths(range(1, 1001), most=12)
    assert sum(queries for _, _, queries in result) == 1000
    assert len(result) <= 12
    assert all(before[1] + 1 == after[0] for before, after in pairwise(result))
    assert depths([]) == []
