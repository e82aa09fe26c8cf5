"""Tests of judgment lists for learning to rank."""

from __future__ import annotations

import io
from typing import Any

import pytest

from assay.formats import FORMATS, sniff
from assay.formats.qrels_and_runs import load_qrels
from assay.formats.row_types import LabelRow

LTR = FORMATS["ltr"]


def read(text: str) -> Any:
    return LTR.read(text.encode(), path="a.txt")


def written(rows: Any, **options: Any) -> tuple[str, Any]:
    stream = io.BytesIO()
    assert LTR.write is not None
    result = LTR.write(rows, stream, **options)
    return stream.getvalue().decode(), result


def test_the_three_shapes() -> None:
    text = "# qid:1: star trek\n3.0 qid:1 # 1370\n0\tqid:2\t1:0.51\t2:1.30\t# 11 star wars\n1 qid:2 1:0.2 2:1e-3 # 12\n"
    rows = read(text).rows
    assert [(row.query_id, row.doc_id, row.grade, row.query, row.features) for row in rows] == [
        ("1", "1370", 3, "star trek", ""),
        ("2", "11", 0, "star wars", "1:0.51 2:1.30"),
        ("2", "12", 1, "star wars", "1:0.2 2:1e-3"),
    ]
    assert sniff(text.encode()) == "ltr"


def test_features_are_written_as_they_were_read() -> None:
    text = "2 qid:1 1:0.510 2:-1.30 7:1e5 # d1\n0 qid:10 1:.5 # d2\n"
    assert written(read(text).rows)[0] == text
    assert written(read(text).rows, features=False)[0] == "2 qid:1 # d1\n0 qid:10 # d2\n"


def test_other_ids_are_numbered() -> None:
    rows = [LabelRow("q-b", "d1", 1, query="rope"), LabelRow("q-a", "d1", 2, query="tent  two\nlines")]
    text, result = written(rows)
    assert text == "# qid:1: tent two lines\n# qid:2: rope\n2 qid:1 # d1\n1 qid:2 # d1\n"
    assert (result.idmap, result.idmap_name) == ({"q-a": "1", "q-b": "2"}, "qidmap.tsv")
    assert "q-a" in result.notes[0]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x qid:1 # d1", "E12"),
        ("2.5 qid:1 # d1", "E13"),
        ("1 # d1", "E10"),
        ("1 qid:1 1:0.5", "E11"),
        ("1 qid:1 0.5 # d1", "E10"),
        ("1 qid: # d1", "E11"),
        ("1 qid:7 # d1 another text", "E18"),
    ],
)
def test_bad_lines_are_reported(line: str, code: str) -> None:
    report = read(f"# qid:7: tent\n1 qid:7 # d9\n{line}\n").report
    assert [(problem.code, problem.line) for problem in report.errors] == [(code, 3)]


# LETOR 4.0, MQ2007, with fewer features
LETOR = (
    "2 qid:10032 1:0.056537 2:0.000000 46:0.076923 #docid = GX029-35-5894638 inc = 0.0119881192468859 prob = 0.139842\n"
    "0 qid:10032 1:0.279152 2:0.000000 46:1.000000 #docid = GX030-77-6315042 inc = 1 prob = 0.341364\n"
)


def test_lines_of_letor() -> None:
    result = read(LETOR)
    assert [(row.doc_id, row.query, row.features) for row in result.rows] == [
        ("GX029-35-5894638", "", "1:0.056537 2:0.000000 46:0.076923"),
        ("GX030-77-6315042", "", "1:0.279152 2:0.000000 46:1.000000"),
    ]
    assert result.report.codes == {"W41": 2}
    again = written(result.rows)[0]
    assert written(read(again).rows)[0] == again


def test_runs_and_labels_are_joined_by_qid() -> None:
    assert load_qrels(b"# qid:1: tent\n1 qid:1 # d1\n")[0].to_dict() == {"1": {"d1": 1.0}}
