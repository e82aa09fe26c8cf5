"""Tests of LARA's CSV: labels of people and probabilities of models, read as two kinds of rows."""

from __future__ import annotations

import io

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS, sniff
from assay.formats.labels_jsonl import MachineLabel
from assay.formats.row_types import LabelRow
from tests.assay.formats.table_bytes import written

GRADED = b"topic_id,doc_id,annotation,prob_0,prob_1,prob_2\nq1,d1,2,0.0500,0.2500,0.7000\nq1,d2,,0.9,0.1,0\n"
BINARY = b"topic_id,doc_id,annotation,prob_yes,prob_no\r\nq1,d1,0,0.8,0.2\r\n"


def codes(line: str, name: str = "lara-csv") -> set[str]:
    data = b"topic_id,doc_id,annotation,prob_0,prob_1,prob_2\nq9,d9,0,1,0,0\n" + line.encode() + b"\n"
    report = FORMATS[name].read(data, path="a").report
    assert not report.errors or report.errors[0].line == 3
    return set(report.codes)


def test_labels_and_probabilities_are_not_mixed():
    people = FORMATS["lara-csv"].read(GRADED, path="a").rows
    assert [(row.doc_id, row.grade) for row in people] == [("d1", 2), ("d2", None)]
    models = FORMATS["lara-probabilities-csv"].read(GRADED, path="a").rows
    assert [(row.doc_id, row.grade, row.judge) for row in models] == [("d1", 2, "lara"), ("d2", 0, "lara")]
    assert models[0].probabilities == {"0": 0.05, "1": 0.25, "2": 0.7}
    assert (sniff(GRADED), sniff(GRADED, "qrels"), sniff(GRADED, "labels")) == (
        "lara-csv",
        "lara-csv",
        "lara-probabilities-csv",
    )


def test_binary_files_name_yes_before_no():
    assert FORMATS["lara-csv"].read(BINARY, path="a").rows[0].probabilities == (0.2, 0.8)
    (model,) = FORMATS["lara-probabilities-csv"].read(BINARY, path="a").rows
    assert (model.grade, model.probabilities) == (1, {"0": 0.2, "1": 0.8})
    expected = b"topic_id,doc_id,annotation,prob_yes,prob_no\nq1,d1,0,0.800000,0.200000\n"
    assert written("lara-csv", FORMATS["lara-csv"].read(BINARY, path="a").rows) == expected


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("q1,d1,3,0,0,1", "E14"),
        ("q1,d1,x,0,0,1", "E12"),
        ("q1,d1,1,0.5,0.5,0.5", "E23"),
        ("q1,d1,1,1.5,0,0", "E12"),
        ("q1,d1,1,,0,1", "E12"),
        (",d1,1,0,0,1", "E11"),
        ("q1,,1,0,0,1", "E11"),
        ("q1,d1,1,0,1", "E10"),
        ("q1,d1,1.0,0,0,1", "W32"),
    ],
)
def test_odd_rows(line: str, code: str):
    assert codes(line) == {code}


def test_incomplete_columns_are_refused():
    for header in ("prob_0,prob_2", "prob_yes,score", "prob_1,prob_2"):
        with pytest.raises(UnreadableInput) as caught:
            FORMATS["lara-csv"].read(f"topic_id,doc_id,annotation,{header}\nq1,d1,1,0.5,0.5\n".encode(), path="a")
        assert caught.value.code == "F04"


def test_pairs_without_probabilities_are_left_out_and_counted():
    stream = io.BytesIO()
    write = FORMATS["lara-probabilities-csv"].write
    assert write is not None
    known = MachineLabel("q1", "007", "graded", 1, probabilities={"1": 0.75, "0": 0.25})
    result = write([known, MachineLabel("q1", "d2", "graded", 1)], stream)
    assert (result.rows, len(result.notes)) == (1, 2)
    assert stream.getvalue() == b"topic_id,doc_id,annotation,prob_yes,prob_no\nq1,007,,0.750000,0.250000\n"
    with pytest.raises(NotValid):
        write([known, known], io.BytesIO())
    with pytest.raises(NotValid):
        written("lara-csv", [LabelRow("q1", "d1", 1)])
