"""Tests of ``assay ensemble``: combined labels, failures and disagreements."""

from __future__ import annotations

import json
from pathlib import Path

from tests.assay.conftest import Call


def labels(path: str, model: str, grades: list[int | None]) -> None:
    rows = [
        {"query_id": "q1", "doc_id": f"d{at}", "judge": "graded", "model": model, "grade": grade}
        | {"outcome": "refused" if grade is None else "graded"}
        for at, grade in enumerate(grades)
    ]
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_by_hand(assay: Call) -> None:
    labels("a.jsonl", "one", [3, 0, 1, None])
    labels("b.jsonl", "two", [2, 0, 2, None])
    labels("c.jsonl", "three", [3, 0, 3, 1])
    results = {}
    for rule in ("median", "vote", "mean", "unanimity"):
        words = ("ensemble", "a.jsonl", "b.jsonl", "c.jsonl", "--rule", rule, "--apart", "apart.csv")
        status, out, err = assay(*words)
        assert status == 0, err
        results[rule] = {row["doc_id"]: row["grade"] for row in map(json.loads, out.splitlines())}
    assert results == {
        "median": {"d0": 3, "d1": 0, "d2": 2},
        "vote": {"d0": 3, "d1": 0},
        "mean": {"d0": 3, "d1": 0, "d2": 2},
        "unanimity": {"d1": 0},
    }
    assert "1 label from 3 judges, 3 pairs undecided" in err
    first = Path("apart.csv").read_text().splitlines()
    assert first[1:3] == ["q1,d2,1;2;3,0,2,0.000,", "q1,d3,-;-;1,2,0,,"]
    assay(*words[:4], "--out", "together.jsonl")
    assert assay("validate", "together.jsonl", "--format", "labels-jsonl", "--strict")[0] == 0


def test_one_judge_is_no_ensemble_and_grades_are_on_the_scale(assay: Call) -> None:
    labels("a.jsonl", "one", [3])
    for words, message in ((("a.jsonl",), "only 1 judge"), (("a.jsonl", "a.jsonl", "--scale", "0:1"), "a.jsonl:1")):
        status, out, err = assay("ensemble", *words)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert message in err


def test_no_id_is_a_formula_in_the_file_for_spreadsheets(assay: Call) -> None:
    for path, grade in (("a.jsonl", 3), ("b.jsonl", 0)):
        row = {"query_id": "=1+1", "doc_id": "@x", "judge": "graded", "model": path, "grade": grade}
        Path(path).write_text(json.dumps(row | {"outcome": "graded"}) + "\n")
    assert assay("ensemble", "a.jsonl", "b.jsonl", "--apart", "apart.csv", "--out", "out.jsonl")[0] == 0
    assert Path("apart.csv").read_text().splitlines()[1].startswith("'=1+1,'@x,")
