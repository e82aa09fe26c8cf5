"""Tests of ``assay evaluate``: numbers in every format, and errors."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import sys
from pathlib import Path

import pytest

from tests.assay.conftest import Call

ALL = ("qrels.txt", "bm25.run", "neural.run", "new.run")


def test_the_worked_example(assay: Call) -> None:
    status, out, _ = assay("evaluate", *ALL, "-m", "nDCG@3 RR@3", "-m", "Judged@3", "--format", "json")
    bm25, neural, new = json.loads(out)["runs"]
    assert status == 0
    assert bm25["metrics"]["nDCG@3"]["mean"] == pytest.approx(0.7350, abs=5e-5)
    assert neural["metrics"]["nDCG@3"]["mean"] == pytest.approx(0.8175, abs=5e-5)
    assert [run["metrics"]["RR@3"]["mean"] for run in (bm25, neural)] == [1.0, 1.0]
    assert new["metrics"]["Judged@3"]["mean"] == pytest.approx(2 / 3)
    assert new["diagnostics"]["holes@10"] == 1


def test_the_json_shape(assay: Call) -> None:
    scores = json.loads(assay("evaluate", "qrels.txt", "bm25.run", "-m", "RR@3", "--format", "json")[1])
    qrels = Path("qrels.txt").read_bytes()
    assert scores["qrels"] == {
        "path": "qrels.txt",
        "sha256": hashlib.sha256(qrels).hexdigest(),
        "queries": 1,
        "judgments": 5,
    }
    run = scores["runs"][0]
    assert (run["name"], run["path"]) == ("bm25", "bm25.run")
    assert run["metrics"]["RR@3"] == {"mean": 1.0, "queries": 1, "low": None, "high": None, "weighted": None}
    assert run["per_query"] == {"q1": {"RR@3": 1.0}}
    assert set(run["diagnostics"]) >= {"rows", "ties", "duplicates", "queries_missing", "queries_unjudged"}


def test_the_default_metrics(assay: Call) -> None:
    scores = json.loads(assay("evaluate", "qrels.txt", "bm25.run", "--format", "json")[1])
    assert list(scores["runs"][0]["metrics"]) == ["nDCG@10", "RR@10", "R@100", "P@10", "AP", "Judged@10"]


def test_the_table(assay: Call) -> None:
    lines = assay("evaluate", "qrels.txt", "bm25.run", "neural.run", "-m", "nDCG@3")[1].splitlines()
    assert lines[:3] == ["run     nDCG@3", "bm25    0.7350", "neural  0.8175"]
    assert "bm25: 3 rows, 66.7% tied, 0 unjudged documents in the top 10" in lines


def test_counts_are_added_up_and_have_no_decimals(assay: Call) -> None:
    lines = assay("evaluate", "qrels.txt", "bm25.run", "-m", "NumQ NumRet NumRel(rel=2) AP", "--per-query")[
        1
    ].splitlines()
    # d3 stands before d2, with which it is tied: AP is (1/1 + 2/3) / 3.
    assert [line.split() for line in lines[1:2] + lines[5:6]] == [
        ["bm25", "1", "3", "2", "0.5556"],
        ["q1", "1", "3", "2", "0.5556"],
    ]


def test_trec_lines_carry_trec_evals_names(assay: Call) -> None:
    out = assay("evaluate", "qrels.txt", "bm25.run", "-m", "nDCG@3 AP RR@3", "--format", "trec", "--per-query")[1]
    assert [line.split("\t") for line in out.splitlines()] == [
        ["runid", "all", "bm25"],
        ["ndcg_cut_3", "q1", "0.7350"],
        ["map", "q1", "0.5556"],
        ["RR@3", "q1", "1.0000"],
        ["ndcg_cut_3", "all", "0.7350"],
        ["map", "all", "0.5556"],
        ["RR@3", "all", "1.0000"],
    ]


def test_csv_rows_are_unrounded(assay: Call) -> None:
    out = assay("evaluate", "qrels.txt", "bm25.run", "-m", "nDCG@3", "--format", "csv", "--per-query")[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["query_id"], float(row["value"])) for row in rows] == [
        ("all", 0.7350069851388743),
        ("q1", 0.7350069851388743),
    ]


def test_latex_escapes_names_and_marks_the_best(assay: Call) -> None:
    out = assay("evaluate", "qrels.txt", "a_1=bm25.run", "b%=neural.run", "-m", "nDCG@3", "--format", "latex")[1]
    assert r"a\_1 & 0.7350 \\" in out
    assert r"b\% & \textbf{0.8175} \\" in out


def test_the_same_digits_in_all_formats(assay: Call) -> None:
    scores = json.loads(assay("evaluate", "qrels.txt", "bm25.run", "-m", "AP", "--format", "json")[1])
    row = next(
        csv.DictReader(io.StringIO(assay("evaluate", "qrels.txt", "bm25.run", "-m", "AP", "--format", "csv")[1]))
    )
    assert float(row["value"]) == scores["runs"][0]["metrics"]["AP"]["mean"]


def test_output_goes_to_a_file(assay: Call) -> None:
    status, out, _ = assay("evaluate", "qrels.txt", "bm25.run", "--format", "csv", "--out", "scores.csv")
    assert (status, out) == (0, "")
    assert Path("scores.csv").read_text().startswith("run,tier,metric")


def test_standard_input_and_gzip(assay: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("bm25.run.gz").write_bytes(gzip.compress(Path("bm25.run").read_bytes()))
    stdin = io.TextIOWrapper(io.BytesIO(Path("qrels.txt").read_bytes().replace(b"\n", b"\r\n").replace(b" ", b"\t")))
    monkeypatch.setattr(sys, "stdin", stdin)
    scores = json.loads(assay("evaluate", "-", "bm25.run.gz", "-m", "nDCG@3", "--format", "json")[1])
    assert scores["runs"][0]["name"] == "bm25"
    assert scores["runs"][0]["metrics"]["nDCG@3"]["mean"] == pytest.approx(0.7350, abs=5e-5)


def test_files_may_precede_or_follow_an_option(assay: Call) -> None:
    together = assay("evaluate", "qrels.txt", "bm25.run", "neural.run", "-m", "AP")
    assert assay("evaluate", "qrels.txt", "bm25.run", "-m", "AP", "neural.run") == together
    assert assay("evaluate", "-m", "AP", "qrels.txt", "bm25.run", "neural.run") == together


def test_a_pipe_is_read_once_and_whole(assay: Call) -> None:
    # What a shell hands in for <(zcat bm25.run.gz).
    ends = [os.pipe() for _ in range(2)]
    for (_, into), name in zip(ends, ["qrels.txt", "bm25.run"], strict=True):
        os.write(into, Path(name).read_bytes())
        os.close(into)
    (qrels, _), (run, _) = ends
    scores = json.loads(
        assay("evaluate", f"/dev/fd/{qrels}", f"new=/dev/fd/{run}", "-m", "nDCG@3", "--format", "json")[1]
    )
    assert scores["runs"][0]["metrics"]["nDCG@3"]["mean"] == pytest.approx(0.7350, abs=5e-5)
    for end in (qrels, run):
        os.close(end)


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_a_stream_may_be_closed(assay: Call, monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    monkeypatch.setattr(sys, stream, None)
    status, _, err = assay("evaluate", "qrels.txt", "-" if stream == "stdin" else "bm25.run")
    getattr(sys, stream).close()
    assert status == (2 if stream == "stdin" else 0)
    assert ("-: is empty" in err) == (stream == "stdin")


def test_unanswered_queries_and_condensed_lists(assay: Call) -> None:
    Path("two.txt").write_text(Path("qrels.txt").read_text() + "q2 0 d1 1\n")
    skipped = json.loads(
        assay("evaluate", "two.txt", "new.run", "-m", "RR", "--missing", "skip", "--format", "json")[1]
    )
    assert skipped["runs"][0]["metrics"]["RR"]["queries"] == 1
    condensed = json.loads(
        assay("evaluate", "qrels.txt", "new.run", "-m", "nDCG@3 Judged@3", "--condensed", "--format", "json")[1]
    )
    assert list(condensed["runs"][0]["metrics"]) == ["nDCG(judged_only=True)@3", "Judged@3"]


def test_weights_and_tiers(assay: Call) -> None:
    Path("two.txt").write_text(Path("qrels.txt").read_text() + "q2 0 d1 1\n")
    Path("w.csv").write_text("query_id,weight,probability,tier\nq1,0.6,1.0,head\nq2,0.1,0.5,tail\n")
    words = ("evaluate", "two.txt", "bm25.run", "-m", "RR", "--weights", "w.csv", "--by", "tier", "--format", "json")
    scores = json.loads(assay(*words)[1])["runs"][0]
    assert scores["metrics"]["RR"]["mean"] == 0.5
    assert scores["metrics"]["RR"]["weighted"] == pytest.approx(0.6 / 0.8)
    assert {tier: of["RR"]["mean"] for tier, of in scores["by_tier"].items()} == {"head": 1.0, "tail": 0.0}


def test_weights_without_probabilities_need_a_word(assay: Call) -> None:
    Path("w.csv").write_text("query_id,query,weight\nq1,rain jacket,0.6\n")
    status, _, err = assay("evaluate", "qrels.txt", "bm25.run", "--weights", "w.csv")
    assert status == 2
    assert "w.csv:2:" in err
    assert "--design none" in err
    assert assay("evaluate", "qrels.txt", "bm25.run", "--weights", "w.csv", "--design", "none")[0] == 0


def test_intervals(assay: Call) -> None:
    Path("many.txt").write_text("".join(f"q{n:02} 0 a 1\n" for n in range(20)))
    Path("many.run").write_text("".join(f"q{n:02} Q0 {'a' if n % 2 else 'b'} 1 1.0 x\n" for n in range(20)))
    words = ("evaluate", "many.txt", "many.run", "-m", "P@1", "--ci", "0.9", "--format", "json")
    first, again = assay(*words)[1], assay(*words)[1]
    summary = json.loads(first)["runs"][0]["metrics"]["P@1"]
    assert first == again
    assert summary["low"] < 0.5 < summary["high"]
    latex = assay(*words[:-1], "latex")[1]
    assert rf"many & \textbf{{0.5000}} [{summary['low']:.4f}, {summary['high']:.4f}] \\" in latex


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("qrels.txt", "bm25.run", "x/bm25.run"), "two runs are named 'bm25'"),
        (("qrels.txt", "bm25.run", "a=-", "-"), "standard input"),
        (("qrels.txt", "nothing.run"), "nothing.run: cannot be opened"),
        (("qrels.txt", "bm25.run", "-m", "foo@3"), "unknown metric 'foo@3'"),
        (("qrels.txt", "bm25.run", "--ci", "2"), "between 0 and 1"),
        (("qrels.txt", "bm25.run", "--ci", "x"), "invalid float"),
        (("qrels.txt", "bm25.run", "--ci-method", "bca"), "--ci-method bca needs --ci"),
        (("qrels.txt", "new="), "'new=' does not name a file; write NAME=PATH or PATH"),
        (("qrels.txt", "bm25.run", "--by", "tier"), "needs --weights"),
        (("qrels.txt", "bm25.run", "--format", "xml"), "invalid choice"),
        (("qrels.txt",), "RUN"),
        (("bm25.run", "qrels.txt"), "bm25.run:1: looks like a TREC run"),
        (("qrels.txt", "short.run"), "short.run:2: 5 fields instead of 6"),
        (("qrels.txt", "twice.run"), "twice.run:1: 'q1 Q0 d1 1 2.0 x' contradicts line 2"),
        (("qrels.txt", "word.run"), "word.run:1: the score 'two' is not a number"),
        (("qrels.txt", "other.run"), "answers none of the judged queries"),
        (("qrels.txt", "numbers.run"), "returns none of the judged documents"),
        (("qrels.txt", "bm25.run", "--out", "no/such/folder"), "no/such/folder"),
    ],
)
def test_a_mistake_ends_with_two_and_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    Path("short.run").write_text("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0\n")
    Path("twice.run").write_text("q1 Q0 d1 1 2.0 x\nq1 Q0 d1 2 1.0 x\n")
    Path("word.run").write_text("q1 Q0 d1 1 two x\n")
    Path("other.run").write_text("301 Q0 d1 1 2.0 x\n")
    Path("numbers.run").write_text("q1 Q0 17 1 2.0 x\n")
    status, out, err = assay("evaluate", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_grades_below_every_threshold_are_reported(assay: Call) -> None:
    Path("fractions.txt").write_text("q1 0 d1 0.37\nq1 0 d2 0.2\n")
    status, out, err = assay("evaluate", "fractions.txt", "bm25.run", "-m", "P@5 RR nDCG@10", "--format", "json")
    assert status == 0
    assert json.loads(out)["settings"]["no_grade_reaches"] == {"P@5": 1.0, "RR": 1.0}
    assert "P@5, RR" in err
    assert "nDCG" not in err
    assert assay("evaluate", "fractions.txt", "bm25.run", "-m", "P(rel=0.3)@5")[2] == ""
    assert "P@5" in assay("compare", "fractions.txt", "bm25.run", "neural.run", "-m", "P@5")[2]
