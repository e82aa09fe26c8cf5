"""Tests of qrels and runs in all file formats: the numbers are the same."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from assay.formats import FORMATS
from tests.assay.conftest import Call

RUNS = [
    name
    for name, member in FORMATS.items()
    if member.kind == "run" and member.write and not member.by_text and name != "msmarco-run"
]
# Formats that contain the ids as they are.
QRELS = [
    name
    for name, member in FORMATS.items()
    if member.kind == "qrels"
    and not member.by_text
    and name not in ("judgment-list", "lara-csv", "ltr", "rank-eval-request")
]


@pytest.fixture
def converted(assay: Call) -> Call:
    """The worked example in every format: ``FORMAT.file`` and ``FORMAT.file.gz``."""
    for name in (*RUNS, "msmarco-run"):
        assert assay("convert", "neural.run", "--to", name, "--out", f"{name}.file")[0] == 0
    for name in QRELS:
        assert assay("convert", "qrels.txt", "--to", name, "--out", f"{name}.file")[0] == 0
    for path in Path().glob("*.file"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    return assay


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_evaluate_reads_them_all(converted: Call, ending: str) -> None:
    plain = json.loads(converted("evaluate", "qrels.txt", "x=neural.run", "-m", "nDCG@3", "--format", "json")[1])
    for place, qrels in enumerate(QRELS):
        # Results are read independently of labels: all files of them with the first labels, one with the others.
        names = RUNS if place == 0 else RUNS[:1]
        runs = [f"{name}=./{name}.file{ending}" for name in names]
        status, out, err = converted("evaluate", f"{qrels}.file{ending}", *runs, "-m", "nDCG@3", "--format", "json")
        assert (status, err) == (0, "")
        assert [run["per_query"] for run in json.loads(out)["runs"]] == [plain["runs"][0]["per_query"]] * len(names)


@pytest.mark.parametrize("name", ["run-json", "run-csv", "msmarco-run", "run-parquet"])
def test_a_run_comes_from_standard_input(converted: Call, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(Path(f"{name}.file.gz").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    status, out, _ = converted("evaluate", "qrels-json.file", "-", "-m", "nDCG@3")
    assert (status, out.splitlines()[1].split()) == (0, ["stdin", "0.8175"])


def test_ranks_used_as_scores_are_noted(converted: Call) -> None:
    status, out, err = converted("evaluate", "qrels.txt", "msmarco-run.file", "-m", "nDCG@3")
    assert (status, out.splitlines()[1].split()[1]) == (0, "0.8175")
    assert err == "note: msmarco-run.file:1: no score; minus the rank is used as the score [W49] (2 more such)\n"


def test_compare_and_gate_and_pool_read_them_too(converted: Call) -> None:
    qrels, runs = "qrels-parquet.file", ("a=run-jsonl.file", "b=bm25.run")
    comparison = json.loads(converted("compare", qrels, *runs, "-m", "nDCG@3", "--format", "json")[1])
    assert [run["nDCG@3"] for run in comparison["runs"].values()] == pytest.approx([0.8175, 0.7350], abs=5e-5)
    gate = ("gate", qrels, "--baseline", "bm25.run", "--candidate", "run-json.file", "--rule", "drop(nDCG@3) <= 0")
    assert converted(*gate)[0] == 0
    pool = ("pool", "n=run-csv.file", "bm25.run", "--depth", "3", "--by")
    plain = ("pool", "n=neural.run", "bm25.run", "--depth", "3", "--by")
    for by in ("score", "rank"):
        assert converted(*pool, by)[1] == converted(*plain, by)[1]
    assert converted(*pool, "score", "--qrels", "qrels-jsonl.file")[1].splitlines() == ["query_id,doc_id,rank,runs,why"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("qrels.txt", "qrels-jsonl.file"), "looks like qrels-jsonl, not like run; name its format with --run-format"),
        (("qrels.txt", "bm25.run", "--run-format", "run-jsn"), "unknown format 'run-jsn'; did you mean run-json"),
        (
            ("qrels.txt", "bm25.run", "--qrels-format", "run-json"),
            "run-json is not a format of qrels; known: trec-qrels",
        ),
        (("qrels.txt", "bm25.run", "--run-format", "run-json"), "bm25.run: does not begin with {"),
        (("ratings.csv", "bm25.run"), "the nearest format is ratings-csv"),
        (("qrels.txt", "odd.json"), "odd.json:1: q1 / d1: the score is null"),
        (("qrels.txt", "odd.lz4"), "write the run as JSON or Parquet"),
    ],
)
def test_an_unreadable_file_is_one_line(converted: Call, words: tuple[str, ...], message: str) -> None:
    Path("odd.json").write_text('{"q1": {"d1": null}}\n')
    Path("odd.lz4").write_bytes(b"\x04\x22\x4d\x18\x40\x40\xc0\x00")
    status, _, err = converted("evaluate", *words)
    assert (status, err.count("\n")) == (2, 1)
    assert message in err
