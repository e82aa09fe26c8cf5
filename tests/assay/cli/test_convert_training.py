"""Tests of ``assay convert`` to training files: from files and data sets, with settings and runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.assay.conftest import Call

WORDS = ["convert", "qrels.txt", "--queries", "queries.csv", "--documents", "documents.jsonl", "--to"]


@pytest.fixture(autouse=True)
def folder(assay: Call, tmp_path: Path) -> Path:
    documents = [{"doc_id": f"d{n}", "title": f"Title {n}", "text": f"text {n}"} for n in range(1, 6)]
    (tmp_path / "qrels.txt").write_text("q1 0 d1 3\nq1 0 d2 0\nq1 0 d3 0\nq2 0 d4 1\n")
    (tmp_path / "queries.csv").write_text("query_id,query\nq1,tent\nq2,boots\n")
    (tmp_path / "documents.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in documents))
    (tmp_path / "a.run").write_text("q1 Q0 d3 1 2.0 a\nq1 Q0 d2 2 1.0 a\nq2 Q0 d5 1 1.0 a\n")
    return tmp_path


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_negatives_follow_the_runs(assay: Call):
    status, out, err = assay(*WORDS, "flagembedding-jsonl", "--runs", "a.run", "--set", "unjudged=true")
    assert status == 0
    assert [(one["pos_id"], one["neg_id"], one.get("neg_judged")) for one in lines(out)] == [
        (["d1"], ["d3", "d2"], None),
        (["d4"], ["d5"], [False]),
    ]
    assert err.count("note: ") == 1


def test_training_files_convert_into_each_other(folder: Path, assay: Call):
    assert assay(*WORDS, "flagembedding-jsonl", "--out", "train.jsonl")[0] == 0
    status, out, _ = assay("convert", "train.jsonl", "--to", "triplets-jsonl", "--set", "ids=false")
    assert (status, [list(one) for one in lines(out)]) == (0, [["query", "positive", "negative"]] * 2)


def test_a_data_set_becomes_graded_pairs(assay: Call):
    assert assay(*WORDS, "beir", "--out", "set")[0] == 0
    status, out, _ = assay("convert", "set", "--to", "graded-pairs-jsonl", "--set", "highest=3")
    assert (status, [one["score"] for one in lines(out)]) == (0, [1, 0, 0, pytest.approx(1 / 3)])


@pytest.mark.parametrize(
    "more",
    [
        ["triplets-jsonl", "--set", "unjudged=1"],
        ["triplets-jsonl", "--set", "highest=3"],
        ["triplets-jsonl", "--set", "unjudged=true"],
        ["graded-pairs-jsonl", "--runs", "a.run"],
        ["trec-qrels"],
    ],
)
def test_settings_that_do_not_apply_are_refused(more: list[str], assay: Call):
    status, out, err = assay(*WORDS, *more)
    assert (status, out) == (2, "")
    assert err.startswith("assay convert: ")
