"""Tests of the ratings CSV format: every judgment of every rater, lossless round trip."""

from __future__ import annotations

import io

import pytest

from assay.core.errors import UnreadableInput
from assay.formats import ratings_csv
from assay.formats.ratings_csv import graded, read
from assay.formats.row_types import RatingRow

ROWS = [
    RatingRow("q1", "d1", "r01", 3, "graded", "=sum", "human", "2", "2026-03-02T09:14:07Z", 6120, ""),
    RatingRow("q1", "d1", "r02", None, "unrateable", "=sum", "human", "2", "", None, "empty, no title"),
    RatingRow("q1", "d2", "r01", 0, "graded", "=sum", "llm", "2", "", 0, "-"),
    RatingRow("q1", "d3", "r01", None, "later", "=sum"),
]
GOLDEN = (
    "query_id,query,doc_id,grade,state,rater_id,source,guideline,rated_at,ms_active,note\n"
    "q1,'=sum,d1,3,graded,r01,human,2,2026-03-02T09:14:07Z,6120,\n"
    'q1,\'=sum,d1,,unrateable,r02,human,2,,,"empty, no title"\n'
    "q1,'=sum,d2,0,graded,r01,llm,2,,0,'-\n"
    "q1,'=sum,d3,,later,r01,human,,,,\n"
)


def codes(rows: str, header: str = "query_id,doc_id,rater,grade,state", **options: object) -> list[str]:
    report = read(f"{header}\n{rows}\n".encode(), **options).report  # type: ignore[arg-type]
    return [code for code in report.codes if code != "W47"]


def written(rows: list[RatingRow], **options: object) -> bytes:
    stream = io.BytesIO()
    ratings_csv.write(rows, stream, **options)  # type: ignore[arg-type]
    return stream.getvalue()


def test_golden_bytes_and_round_trip():
    assert written(list(reversed(ROWS))).decode() == GOLDEN
    assert read(GOLDEN.encode()).rows == ROWS


def test_a_pair_without_an_answer_is_left_out_or_empty():
    rows = [RatingRow("q1", "d1", "r01", None, "unrated")]
    assert written(rows).count(b"\n") == 1
    assert read(written(rows, omit_unrated=False)).rows == rows


def test_a_mark_for_spreadsheets():
    assert written(ROWS, mark=True).startswith(b"\xef\xbb\xbfquery_id")
    assert read(written(ROWS, mark=True)).rows == ROWS


def test_four_columns_are_enough():
    result = read(b"query_id,doc_id,rater,grade\nq1,d1,a,3\nq1,d1,b,2\n", grades=(0, 1, 2, 3))
    assert [(row.rater, row.grade, row.state) for row in result.rows] == [("a", 3, "graded"), ("b", 2, "graded")]
    assert result.report.histogram == {"2": 1, "3": 1}


def test_without_raters_and_ids():
    result = read(b"query,docid,rating\ntent,d1,3\nboots,d1,2\ntent,d2,1\n")
    assert [(row.query_id, row.rater) for row in result.rows] == [
        ("q001", "imported"),
        ("q002", "imported"),
        ("q001", "imported"),
    ]
    assert "W48" in result.report.codes


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("q1,d1,a,3,graded", []),
        ("q1,d1,a,,cannot_judge", []),
        ("q1,d1,a,,", []),
        ("q1,d1,a,3.0,", ["W32"]),
        ("q1,d1,a,2.5,", ["E13"]),
        ("q1,d1,a,7,", ["E14"]),
        ("q1,d1,a,good,", ["E12"]),
        ("q1,d1,a,3,later", ["E23"]),
        ("q1,d1,a,,graded", ["E23"]),
        ("q1,d1,a,3,done", ["E23"]),
        (",d1,a,3,", ["E11"]),
        ("q1,,a,3,", ["E11"]),
        ("q1,d1,,3,", ["E11"]),
        ("q1,d1,a,3,\nq1,d1,a,3,", ["W33"]),
        ("q1,d1,a,3,\nq1,d1,a,2,", ["E16"]),
        ("q1,d1,a,3,\nq1,d1,b,2,", []),
    ],
)
def test_each_odd_row_has_its_code(row: str, expected: list[str]):
    assert codes(row, grades=(0, 1, 2, 3)) == expected


def test_apostrophes_can_be_preserved():
    data = b"query_id,query,doc_id,grade\nq1,'=x,d1,3\n"
    assert (read(data).rows[0].query, read(data, escaped=False).rows[0].query) == ("=x", "'=x")


def test_a_table_for_the_statistics():
    ratings = graded(read(GOLDEN.encode(), path="a", grades=(0, 1, 2, 3)).strict().rows)
    assert list(ratings.rows()) == [("q1", "d1", "r01", 3), ("q1", "d2", "r01", 0)]
    with pytest.raises(UnreadableInput, match="a:2: the grade 9 is not on the scale"):
        read(b"query_id,doc_id,rater,grade\nq1,d1,a,9\n", path="a", grades=(0, 1)).strict()


@pytest.mark.parametrize("header", ["doc_id,grade", "query_id,grade", "query_id,doc_id"])
def test_a_missing_column_is_refused(header: str):
    with pytest.raises(UnreadableInput) as caught:
        read(f"{header}\n{','.join('1' for _ in header.split(','))}\n".encode())
    assert caught.value.code == "F04"
