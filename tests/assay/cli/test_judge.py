"""Tests of ``assay judge`` with local judges: labels, resuming and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.assay.conftest import Call

JUDGE = ("judge", "pairs.jsonl", "--judge", "token_overlap", "--min-tokens", "1")
MANY = 1203


def pairs(number: int, **more: Any) -> str:
    of = {"query_id": "q1", "query": "tent", "text": "a tent for two", "expected": "a tent", **more}
    return "".join(json.dumps({**of, "doc_id": f"d{n:04}"}) + "\n" for n in range(number))


def labels(path: str = "labels.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_it_writes_a_label_for_each_pair(assay: Call) -> None:
    status, out, err = assay(*JUDGE, "--out", "labels.jsonl")
    assert (status, out, err) == (0, "", "2 pairs judged: 2 graded\n")
    first, second = labels()
    assert {key: first[key] for key in ("query_id", "doc_id", "grade", "relevant", "outcome", "judge")} == {
        "query_id": "q1",
        "doc_id": "d1",
        "grade": 1,
        "relevant": True,
        "outcome": "graded",
        "judge": "token_overlap",
    }
    assert (second["grade"], second["relevant"], second["cost_usd"]) == (0, False, 0.0)
    assert first["parameters"] == {"min_tokens": 1, "threshold": 0.6, "query_boost": True}


def test_without_out_it_prints(assay: Call) -> None:
    out = assay(*JUDGE)[1]
    assert [json.loads(line)["doc_id"] for line in out.splitlines()] == ["d1", "d2"]


def test_the_output_is_valid(assay: Call) -> None:
    assay(*JUDGE, "--out", "labels.jsonl")
    assert assay("validate", "labels.jsonl", "--format", "labels-jsonl", "--scale", "0:1", "--strict")[0] == 0
    assert assay("validate", "labels.jsonl")[0] == 0


def test_a_dry_run_writes_nothing(assay: Call) -> None:
    status, out, _ = assay(*JUDGE, "--out", "fresh.jsonl", "--dry-run")
    assert status == 0
    assert out.splitlines()[:3] == ["to judge: 2", "already judged: 0", "incomplete pairs: 0"]
    assert not Path("fresh.jsonl").exists()


def test_resume_judges_the_rest_only(assay: Call) -> None:
    Path("pairs.jsonl").write_text(pairs(MANY))
    assay(*JUDGE, "--out", "whole.jsonl")
    lines = Path("whole.jsonl").read_text().splitlines(keepends=True)
    Path("labels.jsonl").write_text("".join(lines[:700]))
    status, _, err = assay(*JUDGE, "--out", "labels.jsonl", "--resume")
    assert (status, err) == (
        0,
        f"{MANY - 700:,} pairs judged: {MANY - 700} graded\n  700 pairs skipped, already judged\n",
    )
    assert Path("labels.jsonl").read_text() == "".join(lines)


def test_resume_mends_a_half_written_line(assay: Call) -> None:
    assay(*JUDGE, "--out", "labels.jsonl")
    whole = Path("labels.jsonl").read_bytes()
    Path("labels.jsonl").write_bytes(whole[:-20])
    assert "already judged: 1" in assay(*JUDGE, "--out", "labels.jsonl", "--resume", "--dry-run")[1]
    assert Path("labels.jsonl").read_bytes() == whole[:-20]
    err = assay(*JUDGE, "--out", "labels.jsonl", "--resume")[2]
    assert "the last line is incomplete" in err
    assert Path("labels.jsonl").read_bytes() == whole


@pytest.mark.parametrize("beginning", [b"", None, b'{"query_id": "q1"'])
def test_resume_of_nothing_begins_anew(assay: Call, beginning: bytes | None) -> None:
    Path("labels.jsonl").unlink()
    if beginning is not None:
        Path("labels.jsonl").write_bytes(beginning)
    assert assay(*JUDGE, "--out", "labels.jsonl", "--resume")[0] == 0
    assert len(labels()) == 2


def test_labels_of_another_judge_are_left_out(assay: Call) -> None:
    assay(*JUDGE, "--out", "labels.jsonl")
    status, _, err = assay(*JUDGE, "--threshold", "0.5", "--out", "labels.jsonl", "--resume")
    assert status == 2
    assert "labels.jsonl:1: this label is from token_overlap" in err
    assert len(labels()) == 2


def test_failures_are_left_alone_too(assay: Call) -> None:
    assay(*JUDGE, "--out", "labels.jsonl")
    first = {**labels()[0], "outcome": "refused", "grade": None, "relevant": None}
    Path("labels.jsonl").write_text(json.dumps(first) + "\n")
    assay(*JUDGE, "--out", "labels.jsonl", "--resume")
    assert [label["outcome"] for label in labels()] == ["refused", "graded"]


def test_pairs_without_an_expected_answer_are_reported(assay: Call) -> None:
    Path("pairs.jsonl").write_text(pairs(2) + pairs(2, query_id="q2", expected=" "))
    status, _, err = assay(*JUDGE, "--out", "labels.jsonl")
    assert status == 0
    assert "2 pairs not judged, without expected; the first is pairs.jsonl:3" in err
    assert len(labels()) == 2


def test_parameters_change_the_answer(assay: Call) -> None:
    Path("pairs.jsonl").write_text(pairs(1, text="a big tent for two", expected="a tent and a stove"))
    grades = [
        [json.loads(assay(*JUDGE, *more)[1])["grade"]]
        for more in ((), ("--no-query-boost",), ("--no-query-boost", "--threshold", "0.5"))
    ]
    # Half of the four expected tokens are shared, "tent" is in the query, and 0.75 * 0.6 = 0.45.
    assert grades == [[1], [0], [1]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pairs.jsonl", "--judge", "oracle"), "unknown judge 'oracle'"),
        (("pairs.jsonl",), "--judge"),
        (("pairs.jsonl", "--judge", "token_overlap", "--threshold", "2"), "at most 1"),
        (("pairs.jsonl", "--judge", "token_overlap", "--resume"), "--resume needs --out FILE"),
        (("nothing.jsonl", "--judge", "token_overlap"), "nothing.jsonl"),
        (("bad.jsonl", "--judge", "token_overlap"), "bad.jsonl:1"),
        (("bare.jsonl", "--judge", "token_overlap"), "token_overlap needs: expected"),
        (("pairs.jsonl", "--judge", "token_overlap", "--budget-usd", "1"), "--budget-usd"),
    ],
)
def test_mistakes_end_with_2_and_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    Path("bad.jsonl").write_text('{"query_id": "q1"}\n')
    Path("bare.jsonl").write_text(pairs(2, expected=""))
    status, out, err = assay("judge", *words)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
