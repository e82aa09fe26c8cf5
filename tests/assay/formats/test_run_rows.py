"""Tests of run rows in files: columns, ranks, scores and errors."""

from __future__ import annotations

import pytest

from assay.core.errors import UnreadableInput
from assay.formats.qrels_and_runs import open_run


def rows(content: str) -> list[str]:
    file = open_run(content.encode(), name="a")
    return [file.rows().by_rank("a").ranking("q1"), file.rows().ranks_agree()]


@pytest.mark.parametrize(
    ("content", "order", "agree"),
    [
        ("q1 Q0 d1 1 9 x\nq1 Q0 d2 2 9 x\n", ["d1", "d2"], True),
        ("q1 Q0 d1 2 9 x\nq1 Q0 d2 1 9 x\n", ["d2", "d1"], True),
        ("q1 Q0 d1 2 9 x\nq1 Q0 d2 1 8 x\n", ["d2", "d1"], False),
        ("q1 Q0 d1 1 9 x\nq1 Q0 d2 1 8 x\n", ["d2", "d1"], False),
        ("q1 Q0 d1 0 9 x\nq1 Q0 d2 1 8 x\n", ["d1", "d2"], True),
        ("q1 Q0 d1 0 9 x\nq1 Q0 d2 0 9 x\nq1 Q0 d3 1 8 x\n", ["d3", "d2", "d1"], False),
        ("q1 Q0 d1 first 9 x\nq1 Q0 d2 1 8 x\nq2 Q0 d1 1 8 x\n", ["d2", "d1"], False),
        ("query_id,doc_id,score,rank\nq1,d1,9,2\nq1,d2,9,1\n", ["d2", "d1"], True),
        ("query_id,doc_id,score\nq1,d1,9\nq2,d2,8\n", ["d1"], True),
    ],
)
def test_a_run_by_its_ranks(content: str, order: list[str], agree: bool) -> None:
    assert rows(content) == [order, agree]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("q1 Q0 d1 1 9 x\nq1 Q0 d1 2 8 x\n", "contradicts line 2"),
        ("q1 Q0 d1 1 9 x\nq1 Q0\n", "-:2"),
        ("query_id,doc_id,score,rank\nq1,d1,9,1\nq1,d1,8,2\n", "-:2|-:3"),
    ],
)
def test_invalid_line_is_reported(content: str, words: str) -> None:
    with pytest.raises(UnreadableInput, match=words):
        rows(content)
