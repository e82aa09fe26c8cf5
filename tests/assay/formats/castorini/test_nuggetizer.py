"""Tests of nuggetizer's files: nuggets of a query, and their assignments to answers and documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.formats import FORMATS, sniff
from assay.formats.castorini.nuggetizer import Nugget, NuggetRow
from tests.assay.formats.table_bytes import written

NUGGETS = [{"text": "weight", "importance": "vital"}, {"text": "colors"}]
ROW = {"query": "shoes", "qid": "q1", "nuggets": NUGGETS}
ASSIGNED = [{"text": "weight", "importance": "vital", "assignment": "support"}]
ANSWER = {
    "query": "shoes",
    "qid": "q1",
    "answer_text": "200 g",
    "response_length": 2,
    "run_id": "a",
    "nuggets": ASSIGNED,
}
DOCUMENT = {"text": "shoes", "qid": "q1", "candidate_text": "200 g", "docid": "d1", "nuggets": ASSIGNED}


def read(name: str, *objects: Any) -> Any:
    return FORMATS[name].read("".join(f"{json.dumps(one)}\n" for one in objects).encode(), path="a")


def test_nuggets_without_an_importance_are_vital():
    (row,) = read("nuggets-jsonl", ROW).rows
    assert row == NuggetRow("q1", "shoes", (Nugget("weight", "vital"), Nugget("colors", "vital")))
    assert sniff(json.dumps(ROW).encode()) == "nuggets-jsonl"


def test_assignments_of_answers_and_documents_come_back_byte_for_byte():
    result = read("nugget-assignments-jsonl", ANSWER, DOCUMENT)
    assert [(row.run_id, row.doc_id, row.text, row.query) for row in result.rows] == [
        ("a", "", "200 g", "shoes"),
        ("", "d1", "200 g", "shoes"),
    ]
    data = "".join(f"{json.dumps(one)}\n" for one in (ANSWER, DOCUMENT)).encode()
    assert written("nugget-assignments-jsonl", result.rows) == data
    assert sniff(data) == sniff(json.dumps(DOCUMENT).encode()) == "nugget-assignments-jsonl"


@pytest.mark.parametrize(
    ("name", "of", "code"),
    [
        ("nuggets-jsonl", ROW | {"nuggets": ASSIGNED}, "E23"),
        ("nuggets-jsonl", ROW | {"nuggets": [{"text": ""}]}, "E11"),
        ("nuggets-jsonl", ROW | {"nuggets": [{"text": "a", "importance": "nice"}]}, "E23"),
        ("nuggets-jsonl", ROW | {"nuggets": {}}, "E23"),
        ("nuggets-jsonl", ROW | {"qid": None}, "E23"),
        ("nuggets-jsonl", ROW | {"query": ""}, "E11"),
        ("nuggets-jsonl", ROW | {"trace": {}}, "W41"),
        ("nugget-assignments-jsonl", ROW, "E23"),
        ("nugget-assignments-jsonl", ANSWER | {"nuggets": NUGGETS}, "E23"),
        ("nugget-assignments-jsonl", ANSWER | {"response_length": -1}, "E12"),
        ("nugget-assignments-jsonl", DOCUMENT | {"run_id": "a"}, "E23"),
        ("nugget-assignments-jsonl", DOCUMENT | {"docid": 7}, "W42"),
    ],
)
def test_odd_lines(name: str, of: dict[str, Any], code: str):
    good = {"nuggets-jsonl": ROW, "nugget-assignments-jsonl": ANSWER}[name] | {"qid": "q9"}
    report = read(name, good, of).report
    assert set(report.codes) == {code}
    assert code[0] == "W" or report.errors[0].line == 2
