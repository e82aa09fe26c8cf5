"""Tests of ``assay validate``: issues and exit statuses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from assay.cli import main


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.txt").write_text("q1 0 d1 3\n")
    (tmp_path / "warned.txt").write_text("# c\r\nq1 0 d1 3\r\nq1 0 d1 3\r\n")
    (tmp_path / "bad.txt").write_text("q1 0 d1 3\nq1 0 d2\nq1 0 d3 9\n")
    (tmp_path / "image.txt").write_bytes(b"\x89PNG\x00\x00")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("good.txt", 0),
        ("good.txt --strict", 0),
        ("warned.txt", 0),
        ("warned.txt --strict", 1),
        ("bad.txt --format trec-qrels", 1),
        ("image.txt --format trec-qrels", 2),
        ("none.txt --format trec-qrels", 2),
        ("good.txt --format trec-run", 1),
    ],
)
def test_exit_status(odd: Path, words: str, status: int):
    assert main(["validate", *words.split()]) == status


def test_each_odd_line_is_listed(odd: Path, capsys: pytest.CaptureFixture[str]):
    main(["validate", "bad.txt", "--format", "trec-qrels", "--scale", "0:3"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bad.txt:2: E10 3 fields instead of 4; rejected; expected 4 fields")
    assert lines[1].startswith("bad.txt:3: E14 the grade 9 is not on the scale; rejected; expected one of 0, 1, 2, 3")
    assert lines[2] == "bad.txt: trec-qrels, 3 lines: 1 accepted, 2 rejected; 2 errors, 0 warnings"


def test_json_and_csv(odd: Path, capsys: pytest.CaptureFixture[str]):
    main(["validate", "bad.txt", "--format", "trec-qrels", "--output", "json"])
    assert json.loads(capsys.readouterr().out)["problems"][0]["line"] == 2
    main(["validate", "bad.txt", "--format", "trec-qrels", "--output", "csv"])
    assert [row["code"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))] == ["E10"]


def test_a_repeated_warning_is_printed_once(odd: Path, capsys: pytest.CaptureFixture[str]):
    (odd / "comments.txt").write_text("# a\n# b\nq1 0 d1 3\n")
    main(["validate", "comments.txt"])
    assert capsys.readouterr().out.splitlines()[0] == "comments.txt:1: W34 a comment line; skipped (2 times)"


def test_a_run_is_printed_with_its_health(odd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (odd / "a.run").write_text("q1 Q0 d1 1 9.1 a\nq1 Q0 d2 2 8.7 a\nq1 Q0 d3 3 8.7 a\n")
    (odd / "b.run").write_text("q1 Q0 d4 1 9.1 b\nq1 Q0 d1 2 8.7 b\nq1 Q0 d5 3 8.5 b\n")
    (odd / "labels.txt").write_text("q1 0 d1 3\nq2 0 d1 1\n")
    words = ["validate", "a.run", "--qrels", "labels.txt", "--beside", "b.run"]
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.run: trec-run, 3 lines: 3 accepted; 0 errors, 0 warnings",
        "depth: 3 (median), 3 to 3; 3 rows for 1 query",
        "ties: 2 rows (66.7%), in 1 of the queries",
        "ranks: agree with the scores; 2 tied rows are ordered differently by rank",
        "compared with the qrels: 1 query missing from the run, 0 not in the qrels; unjudged@10 0.667",
        # One of five in common; agreements of 0, 1/2 and 1/3 make an RBO of 0.243 + (0.405 + 0.243) / 9.
        "similarity to b.run: Jaccard@10 0.200, RBO@10 0.315, identical for 0 of 1 query",
    ]
    main([*words, "--output", "json"])
    health = json.loads(capsys.readouterr().out)["health"]
    assert (health["tied_rows"], health["queries_left_out"], health["runs"][0]["path"]) == (2, 1, "b.run")
    assert main(["validate", "labels.txt", "--beside", "b.run"]) == 2
    assert "apply only to runs" in capsys.readouterr().err


def test_equal_errors_are_listed_three_times_and_counted(odd: Path, capsys: pytest.CaptureFixture[str]):
    (odd / "many.csv").write_text(
        "query_id,doc_id,grade\n" + "".join(f"q{n},d1,many\n" for n in range(136)) + "q1,d2,3\n"
    )
    assert main(["validate", "many.csv"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[0] for line in lines[:3]] == ["many.csv:2:", "many.csv:3:", "many.csv:4:"]
    assert "133 more" in lines[3]
    assert len(lines) == 5


def test_personal_data_in_a_list_of_queries_is_reported(odd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (odd / "queries.csv").write_text("query_id,query\nq1,tent\nq2,mail jo@example.org\n")
    assert main(["validate", "queries.csv", "--output", "json"]) == 0
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert (problem["code"], problem["line"]) == ("W59", 3)
