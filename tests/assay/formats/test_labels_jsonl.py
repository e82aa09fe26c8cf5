"""Tests of the machine label format: grades, failures, usefulness, odd lines."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from assay.formats import sniff
from assay.formats.labels_jsonl import MachineLabel, read, write
from assay.llm.judges import OUTCOMES

PAIR = {"query_id": "q", "doc_id": "d"}
GRADED = {**PAIR, "outcome": "graded", "grade": 2}


def line(**fields: Any) -> bytes:
    return json.dumps({**GRADED, **fields}).encode() + b"\n"


def test_a_full_line() -> None:
    row = MachineLabel(
        "q", "d", "graded", 2, True, "graded", "m-1", "ab" * 32, {"samples": 3}, {"2": 0.75}, "why", "2", 10, 2, 0.5
    )
    stream = io.BytesIO()
    write([row], stream)
    assert read(stream.getvalue()).rows == [row]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_is_read(outcome: str) -> None:
    (row,) = read(line(outcome=outcome, grade=2 if outcome == "graded" else None)).rows
    assert (row.outcome, row.grade) == (outcome, 2 if outcome == "graded" else None)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"outcome": "refused"}, "E23"),
        ({"grade": None}, "E23"),
        ({"outcome": "refused", "grade": None, "relevant": False}, "E23"),
        ({"outcome": "yes"}, "E23"),
        ({"outcome": None}, "E23"),
        ({"relevant": 1}, "E23"),
        ({"grade": "2"}, "E12"),
        ({"grade": True}, "E12"),
        ({"grade": 2.5}, "E13"),
        ({"grade": 7}, "E14"),
        ({"grade": 2.0}, "W32"),
        ({"doc_id": ""}, "E11"),
        ({"query_id": 7}, "W42"),
        ({"judge": 3}, "E23"),
        ({"parameters": []}, "E23"),
        ({"probabilities": {"2": 1.5}}, "E12"),
        ({"tokens_in": -1}, "E12"),
        ({"cost_usd": "0"}, "E12"),
        ({"color": "red"}, "W41"),
    ],
)
def test_each_odd_line_has_its_code(fields: dict[str, Any], code: str) -> None:
    result = read(line(**fields), grades=(0, 1, 2, 3))
    assert result.report.codes == {code: 1}
    assert len(result.rows) == (code[0] == "W")


def test_one_judge_answers_a_pair_once() -> None:
    twice = line(judge="a") + line(judge="a", grade=1) + line(judge="b", grade=1) + line(judge="a", model="m")
    result = read(twice)
    assert [(row.judge, row.model) for row in result.rows] == [("b", ""), ("a", "m")]
    assert result.report.codes == {"E16": 2}
    assert [row.grade for row in read(twice, conflicts="last").rows] == [1, 1, 2]


def test_grades_are_counted() -> None:
    data = line() + line(doc_id="e", grade=None, outcome="blocked") + line(doc_id="f", grade=0)
    assert read(data).report.histogram == {"0": 1, "2": 1}


def test_sniffing_distinguishes_labels_from_pairs() -> None:
    assert sniff(line()) == "labels-jsonl"
    assert sniff(json.dumps(PAIR).encode()) == "pairs-jsonl"


def test_usefulness_replaces_a_grade() -> None:
    useful = line(grade=None, usefulness=0.25)
    result = read(useful)
    assert [(row.outcome, row.grade, row.usefulness) for row in result.rows] == [("graded", None, 0.25)]
    assert result.report.histogram == {}
    stream = io.BytesIO()
    write(result.rows, stream)
    assert read(stream.getvalue()).rows == result.rows
    for odd in ({"usefulness": 0.5}, {"grade": None, "outcome": "refused", "usefulness": 0.5}):
        assert read(line(**odd)).report.codes == {"E23": 1}
    assert read(line(grade=None, usefulness=1.5)).report.codes == {"E12": 1}
