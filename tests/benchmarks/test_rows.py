"""Tests of benchmark rows: verdicts and table."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.side_by_side.processes import CouldNotRun
from benchmarks.side_by_side.rows import Row, options, print_table, read, table


@pytest.mark.parametrize(
    ("ratios", "at_most", "aim", "verdict"),
    [
        ([0.3], 0.3, 0.2, "PASS"),
        ([0.2], 0.3, 0.2, "PASS, aim met"),
        ([0.31], 0.3, 0.2, "FAIL"),
        ([0.1, 9.0, 0.2], 0.3, None, "PASS"),
        ([0.1, 0.4, 0.5], 0.3, 0.2, "FAIL"),
        ([9.0], None, None, "-"),
    ],
)
def test_the_median_is_compared_with_the_limit(
    ratios: list[float], at_most: float | None, aim: float | None, verdict: str
) -> None:
    assert Row("case", "peer", ratios, at_most, aim).verdict == verdict


def test_columns_align_with_their_headings() -> None:
    lines = table([Row("a long case", "peer", [0.5], 1.0), Row("b", "another peer", [0.004])]).splitlines()
    at = lines[0].index("against")
    assert [line[at:].split("  ")[0] for line in lines] == ["against", "peer", "another peer"]
    assert "0.004" in lines[2]


def test_a_case_that_cannot_run_is_reported_and_the_others_still_run(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    def bad(args: Namespace) -> Iterator[Row]:
        yield Row("before", "peer", [1.0])
        raise CouldNotRun("the means differ")

    command = options("", ["bad", "good"]).parse_args(["--json", str(tmp_path / "rows.json")])
    status = print_table({"bad": bad, "good": lambda args: [Row("after", "peer", [2.0], 1.0)]}, command)
    assert status == 1
    assert "FAILED bad: the means differ" in capsys.readouterr().err
    assert [(row.case, row.verdict) for row in read(tmp_path / "rows.json")] == [("before", "-"), ("after", "FAIL")]
    assert json.loads((tmp_path / "rows.json").read_text())[1]["ratio"] == 2.0


@pytest.mark.parametrize("words", [["--reps", "0"], ["--reps", "many"], ["--only", "nothing"]])
def test_bad_options_are_refused_in_words(words: list[str], capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        options("", ["small"]).parse_args(words)
    assert ended.value.code == 2
    assert words[1] in capsys.readouterr().err
