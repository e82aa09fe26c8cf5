"""Tests of ``assay pool``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from assay.cli import main

BM25 = "q1 Q0 d1 1 9.1 x\nq1 Q0 d2 2 8.7 x\nq1 Q0 d3 3 8.7 x\n"
NEURAL = "q1 Q0 d4 1 3 x\nq1 Q0 d1 2 2 x\nq1 Q0 d5 3 1 x\n"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("bm25.run").write_text(BM25, encoding="utf-8")
    Path("neural.run").write_text(NEURAL, encoding="utf-8")
    return ["bm25.run", "neural.run"]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_the_worked_example_as_csv(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pool", *runs, "--strategy", "depth", "--depth", "3"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("query_id,doc_id,rank,runs,why\n")
    pairs = {row["doc_id"]: (row["rank"], row["runs"], row["why"]) for row in rows_of(out)}
    assert pairs["d1"] == ("1", "bm25;neural", "depth")
    assert sorted(pairs) == ["d1", "d2", "d3", "d4", "d5"]
    assert "5 pairs for 1 query" in err
    assert "all 2 runs share 1 pair (20%)" in err


@pytest.mark.parametrize(("by", "expected"), [("score", ["d1", "d3"]), ("rank", ["d1", "d2"])])
def test_ties_go_by_score_or_by_rank(
    runs: list[str], capsys: pytest.CaptureFixture[str], by: str, expected: list[str]
) -> None:
    assert main(["pool", runs[0], "--depth", "2", "--by", by]) == 0
    assert [row["doc_id"] for row in rows_of(capsys.readouterr().out)] == expected


def test_judged_pairs_budget_and_residual(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("qrels.txt").write_text("q1 0 d1 3\n", encoding="utf-8")
    options = ["--qrels", "qrels.txt", "--budget", "1", "--residual", "1", "--seed", "5"]
    assert main(["pool", *runs, *options]) == 0
    out, err = capsys.readouterr()
    chosen, residual = rows_of(out)
    assert (chosen["why"], chosen["probability"]) == ("depth", "1.0")
    assert residual["why"] == "residual"
    assert float(residual["probability"]) == pytest.approx(1 / 3)
    assert "1 pair already judged" in err


def test_a_list_keeps_its_pairs(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("pairs.csv").write_text("query_id,doc_id\nq1,d9\nq1,d2\n", encoding="utf-8")
    assert main(["pool", runs[0], "--strategy", "list", "--pairs", "pairs.csv"]) == 0
    assert [tuple(row.values()) for row in rows_of(capsys.readouterr().out)] == [
        ("q1", "d9", "", "", "list"),
        ("q1", "d2", "3", "bm25", "list"),
    ]


def test_json_tells_the_whole_choice(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pool", f"old={runs[0]}", runs[1], "--strategy", "rbp", "--format", "json"]) == 0
    pool = json.loads(capsys.readouterr().out)
    assert (pool["strategy"], pool["params"]) == ("rbp", {"depth": 50, "p": 0.8})
    assert [each["name"] for each in pool["runs"]] == ["neural", "old"]
    assert pool["pairs"][0]["runs"] == {"neural": 2, "old": 1}


def test_out_writes_a_file(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pool", *runs, "--out", "pool.csv"]) == 0
    assert capsys.readouterr().out == ""
    assert len(rows_of(Path("pool.csv").read_text(encoding="utf-8"))) == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "needs at least one run"),
        (["bm25.run", "bm25.run"], "two runs are named 'bm25'"),
        (["bm25.run", "--strategy", "dept"], "did you mean depth"),
        (["bm25.run", "--depth", "0"], "depth is 0"),
        (["bm25.run", "--p", "0.5"], "no parameter 'p'"),
        (["a;b=bm25.run"], "contains ';'"),
        (["bm25.run", "--batch", "0"], "--batch is 0"),
        (["none.run"], "none.run"),
        (["--strategy", "list"], "--pairs FILE"),
        (["broken.run"], "broken.run:2"),
        (["broken.run", "--by", "rank"], "broken.run:2"),
    ],
)
def test_an_error_is_one_line(
    runs: list[str], capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    Path("broken.run").write_text("q1 Q0 d1 1 9.1 x\nq1 Q0 d2 2\n", encoding="utf-8")
    assert main(["pool", *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_a_strategy_that_learns_follows_the_run_that_was_right(
    runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("so-far.qrels").write_text("q1 0 d4 2\nq1 0 d1 0\n", encoding="utf-8")
    words = ["--strategy", "hedge", "--budget", "1", "--qrels", "so-far.qrels"]
    assert main(["pool", *runs, *words]) == 0
    assert [row["doc_id"] for row in rows_of(capsys.readouterr().out)] == ["d5"]
    assert main(["pool", *runs, *words, "--relevant-from", "3"]) == 0
    assert [row["doc_id"] for row in rows_of(capsys.readouterr().out)] != ["d5"]


def test_a_strategy_that_reads_takes_texts(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("so-far.qrels").write_text("q1 0 d1 2\nq1 0 d2 0\n", encoding="utf-8")
    Path("queries.csv").write_text("query_id,query\nq1,rain jacket\n", encoding="utf-8")
    texts = {"d1": "jacket for rain", "d2": "tent peg", "d3": "peg of a tent", "d4": "rain jacket red", "d5": "tent"}
    lines = [json.dumps({"doc_id": doc_id, "title": doc_id, "text": text}) for doc_id, text in texts.items()]
    Path("documents.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["pool", *runs, "--strategy", "text-learning", "--qrels", "so-far.qrels"]
    assert main([*words, "--queries", "queries.csv", "--documents", "documents.jsonl"]) == 0
    assert rows_of(capsys.readouterr().out)[0]["doc_id"] == "d4"
    assert main(words) == 2
    assert "--documents FILE" in capsys.readouterr().err


def test_batches_are_shuffled_for_raters(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    orders = set()
    for seed in range(9):
        assert main(["pool", *runs, "--batch", "2", "--format", "json", "--seed", str(seed)]) == 0
        steps = [pair["step"] for pair in json.loads(capsys.readouterr().out)["pairs"]]
        assert [sorted(steps[at : at + 2]) for at in (0, 2, 4)] == [[1, 2], [3, 4], [5]]
        orders.add(tuple(steps))
    assert len(orders) > 1


DOCUMENTS = """{"doc_id": "d1", "title": "Rain jacket", "text": "dry"}
{"doc_id": "d2", "title": "RAIN jacket", "text": "Dry"}
{"doc_id": "d4", "title": "Tent", "text": "for two", "fields": {"size": 2}}
{"doc_id": "d5", "title": "Tent", "text": "for two", "fields": {"size": 3}}
"""


def test_documents_that_say_the_same_are_judged_once(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs.jsonl").write_text(DOCUMENTS, encoding="utf-8")
    options = ["--depth", "3", "--documents", "docs.jsonl", "--duplicates", "near"]
    assert main(["pool", *runs, *options]) == 0
    out, err = capsys.readouterr()
    assert {row["doc_id"]: row["copies"] for row in rows_of(out)} == {"d1": "d2", "d3": "", "d4": "", "d5": ""}
    assert "1 duplicate in 1 group" in err
    assert main(["pool", *runs, *options, "--format", "json"]) == 0
    (first,) = [pair for pair in json.loads(capsys.readouterr().out)["pairs"] if "copies" in pair]
    assert (first["doc_id"], first["copies"][0]["why"]) == ("d1", "exact")


def test_hours_become_pairs(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    # 2 raters x 60 s at 20 s a rating are 6 ratings, 3 pairs with two ratings each.
    options = ["--depth", "3", "--hours", "0.016667", "--raters", "2", "--ratings", "2"]
    assert main(["pool", *runs, *options]) == 0
    out, err = capsys.readouterr()
    assert len(rows_of(out)) == 3
    assert "6 ratings, 1 minute for each rater" in err
    assert main(["pool", *runs, *options, "--total", "2"]) == 0
    assert len(rows_of(capsys.readouterr().out)) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--duplicates", "near"], "add --documents FILE"),
        (["--similarity", "0.8"], "needs --duplicates near"),
        (["--raters", "2"], "--raters: --hours is missing"),
        (["--hours", "0"], "hours is 0"),
        (["--total", "0"], "total is 0"),
    ],
)
def test_options_that_say_nothing_alone_are_refused(
    runs: list[str], capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["pool", *runs, *options]) == 2
    assert message in capsys.readouterr().err
