"""Tests of labels of a judge as QRELS: numbers, the mark of a machine and counts of failures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.assay.conftest import Call

ROWS: list[dict[str, Any]] = [
    {"query_id": "q1", "doc_id": "d1", "outcome": "graded", "grade": 3, "judge": "graded", "model": "m"},
    {"query_id": "q1", "doc_id": "d2", "outcome": "graded", "grade": 0, "judge": "graded", "model": "m"},
    {"query_id": "q1", "doc_id": "d3", "outcome": "refused", "judge": "graded", "model": "m"},
    {"query_id": "q1", "doc_id": "d4", "outcome": "graded", "grade": 2, "judge": "graded", "model": "m"},
]
MACHINE = {"judge": "graded m", "outcomes": {"graded": 3, "refused": 1}}
COMMANDS = {
    "evaluate": ("evaluate", "own.jsonl", "bm25.run", "neural.run", "-m", "nDCG@10", "-m", "Judged@3"),
    "compare": ("compare", "own.jsonl", "bm25.run", "neural.run", "-m", "nDCG@10"),
    "gate": ("gate", "own.jsonl", "--candidate", "neural.run", "--rule", "nDCG@10 >= 0"),
}


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(autouse=True)
def files(assay: Call) -> None:
    write("own.jsonl", ROWS)
    Path("same.txt").write_text("q1 0 d1 3\nq1 0 d2 0\nq1 0 d4 2\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_numbers_are_those_of_the_grades_and_marked(assay: Call, name: str) -> None:
    words = COMMANDS[name]
    status, out, _ = assay(*words, "--format", "json")
    assert status == 0
    scores = json.loads(out)
    plain = json.loads(assay(words[0], "same.txt", *words[2:], "--format", "json")[1])
    assert scores["qrels"].pop("machine") == MACHINE
    assert "machine" not in plain["qrels"]
    for one in (scores, plain):
        one.pop("qrels")
        one.pop("seconds", None)
    assert scores == plain


@pytest.mark.parametrize(
    ("name", "form", "stream"),
    [("evaluate", "table", 0), ("compare", "table", 0), ("gate", "text", 0), ("gate", "markdown", 0),
     ("gate", "junit", 0), ("evaluate", "csv", 1), ("evaluate", "trec", 1), ("evaluate", "latex", 1),
     ("compare", "csv", 1)],
)  # fmt: skip
def test_every_format_says_so(assay: Call, name: str, form: str, stream: int) -> None:
    status, *streams = assay(*COMMANDS[name], "--format", form)
    assert status == 0
    assert "machine labels (graded m)" in streams[stream]
    assert "1 refused" in streams[stream]
    assert "machine" not in streams[1 - stream]


def test_the_format_may_be_named_and_the_file_may_flow_by(assay: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("own.jsonl").read_bytes())))
    words = COMMANDS["evaluate"]
    status, out, _ = assay(words[0], "-", *words[2:], "--format", "json", "--qrels-format", "labels-jsonl")
    assert (status, json.loads(out)["qrels"]["machine"]) == (0, MACHINE)


def test_several_judges_are_never_mixed(assay: Call) -> None:
    others = [{**row, "model": "other", **({"grade": 1} if "grade" in row else {})} for row in ROWS]
    write("own.jsonl", ROWS + others)
    for name, words in COMMANDS.items():
        status, _, err = assay(*words)
        assert (status, "--labels-of" in err) == (2, True), name
        status, out, _ = assay(*words, "--labels-of", "other", "--format", "json")
        assert (status, json.loads(out)["qrels"]["machine"]["judge"]) == (0, "graded other")
    status, _, err = assay("convert", "own.jsonl", "--to", "trec-qrels")
    assert (status, "--labels-of" in err) == (2, True)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([*ROWS, {**ROWS[0], "grade": 1, "prompt_sha256": "f" * 64}], "a different grade"),
        ([ROWS[2]], "gave no grades"),
        ([{**ROWS[0], "grade": None, "usefulness": 0.5}], "assay usefulness"),
        ([{**ROWS[0], "outcome": "maybe"}], "own.jsonl:1"),
    ],
)
def test_invalid_label_sets_are_refused(assay: Call, rows: list[dict[str, Any]], message: str) -> None:
    write("own.jsonl", rows)
    for words in (*COMMANDS.values(), ("convert", "own.jsonl", "--to", "trec-qrels")):
        status, out, err = assay(*words)
        assert (status, out) == (2, "")
        assert message in err


def test_converted_labels_carry_their_origin(assay: Call) -> None:
    status, out, err = assay("convert", "own.jsonl", "--to", "trec-qrels")
    assert (status, out) == (0, "q1 1 d1 3\nq1 1 d2 0\nq1 1 d4 2\n")
    assert "machine labels (graded m)" in err
    assert "1 refused" in err
    assert assay("convert", "own.jsonl", "--to", "qrels-csv")[0] == 0


def test_the_option_goes_with_labels_of_a_judge(assay: Call) -> None:
    for words in (("evaluate", "qrels.txt", "bm25.run"), ("convert", "qrels.txt", "--to", "qrels-csv")):
        status, _, err = assay(*words, "--labels-of", "m")
        assert (status, "--labels-of" in err) == (2, True)


def test_python_reads_the_labels_and_the_result_names_the_judge(assay: Call) -> None:
    from assay.formats.qrels_and_runs import open_run
    from evaluation import compare, evaluate

    runs = [open_run(Path(f"{name}.run"), name=name) for name in ("bm25", "neural")]
    for path in ("own.jsonl", Path("own.jsonl")):
        scored = evaluate(path, runs, "nDCG@10")
        assert scored.machine is not None
        assert scored.machine.to_dict() == MACHINE
    plain = evaluate("same.txt", runs, "nDCG@10")
    assert plain.machine is None
    assert [run.metrics for run in plain.runs] == [run.metrics for run in scored.runs]
    assert compare("own.jsonl", runs, "nDCG@10").machine == scored.machine
    assert compare("same.txt", runs, "nDCG@10").machine is None


def test_python_refuses_several_judges_until_one_is_chosen(assay: Call) -> None:
    from assay.core.errors import NotValid
    from assay.formats.qrels_and_runs import load_labels, open_run
    from evaluation import evaluate

    write("own.jsonl", [*ROWS, {**ROWS[0], "model": "other", "grade": 1}])
    run = open_run(Path("bm25.run"), name="bm25")
    with pytest.raises(NotValid, match="2 judges: graded m, graded other"):
        evaluate("own.jsonl", run)
    chosen = evaluate(load_labels("own.jsonl", labels_of="other")[0], run).machine
    assert chosen is not None
    assert chosen.to_dict() == {"judge": "graded other", "outcomes": {"graded": 1}}
