"""Tests of the pair list format: unique pairs from several kinds of file, golden bytes, odd lines."""

from __future__ import annotations

import io

import pytest

from assay.formats import FORMATS
from assay.formats.row_types import PairRow

FULL = [PairRow("q2", "d1", "tent", "a need", "text", ("expected",)), PairRow("q1", "=d 1", "boots")]


def written(rows: list[PairRow], format: str) -> bytes:
    stream = io.BytesIO()
    write = FORMATS[format].write
    assert write is not None
    write(rows, stream)
    return stream.getvalue()


def test_a_ratings_file_names_pairs_without_complaint():
    data = b"query_id,doc_id,rater,grade\nq2,d1,a,3\nq1,d9,a,2\nq2,d1,b,0\n"
    result = FORMATS["pairs-csv"].read(data, path="a")
    assert result.rows == [PairRow("q2", "d1"), PairRow("q1", "d9")]
    assert (result.report.codes, result.report.bins["duplicate"]) == ({"W33": 1}, 1)


def test_an_unknown_column_is_named():
    assert FORMATS["pairs-csv"].read(b"query_id,doc_id,color\nq,d,red\n", path="a").report.codes == {"W41": 1}


def test_golden_bytes_keep_the_order_of_judging():
    assert written(FULL, "pairs-csv") == b"query_id,doc_id\nq2,d1\nq1,'=d 1\n"
    assert written(FULL[:1], "pairs-jsonl").decode() == (
        '{"query_id": "q2", "query": "tent", "narrative": "a need", "doc_id": "d1", '
        '"text": "text", "expected": "expected"}\n'
    )


def test_round_trip():
    assert FORMATS["pairs-jsonl"].read(written(FULL, "pairs-jsonl"), path="a").rows == FULL
    several = [PairRow("q1", "d1", expected=("two", "2"), rank=3)]
    assert b'"expected": ["two", "2"], "rank": 3}' in written(several, "pairs-jsonl")
    assert FORMATS["pairs-jsonl"].read(written(several, "pairs-jsonl"), path="a").rows == several
    short = [PairRow(row.query_id, row.doc_id) for row in FULL]
    assert FORMATS["pairs-csv"].read(written(FULL, "pairs-csv"), path="a").rows == short


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"query_id": "q"}', "E23"),
        ('{"query_id": "", "doc_id": "d"}', "E11"),
        ('{"query_id": "q", "doc_id": "d", "text": 3}', "E23"),
        ('{"query_id": "q", "doc_id": "d", "expected": ["two", 2]}', "E23"),
        ('{"query_id": "q", "doc_id": "d", "expected": {"a": "two"}}', "E23"),
        ('{"query_id": "q", "doc_id": "d", "rank": 0}', "E23"),
        ('{"query_id": "q", "doc_id": "d", "rank": 1.5}', "E23"),
        ('{"query_id": 1, "doc_id": "d"}', "W42"),
        ('{"query_id": "q", "doc_id": "d", "color": 3}', "W41"),
    ],
)
def test_each_odd_line_has_its_code(line: str, code: str):
    assert FORMATS["pairs-jsonl"].read((line + "\n").encode(), path="a").report.codes == {code: 1}
