"""Tests of run names: distinct names from file paths or run tags."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.cli import main
from assay.core.run import run_names

ROW = "q1 Q0 d1 1 2.0 {}\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["bm25.run", "neural.v2.run"], ["bm25", "neural"]),
        (["input.A.gz", "input.B.gz"], ["A", "B"]),
        (["trec8/input.A.gz", "trec8/input.B.gz", "bm25.run"], ["A", "B", "bm25"]),
        (["input.ok8amxc.gz", "input.ok8alx.gz"], ["ok8amxc", "ok8alx"]),
        (["a.long-name-1.x.run", "a.long-name-2.y.run"], ["x", "y"]),
        (["input.A.1.gz", "input.A.2.gz", "input.B.1.gz"], ["A.1", "A.2", "B.1"]),
        (["run.gz", "run.txt"], ["gz", "txt"]),
        (["A.run", "input.A.gz", "input.B.gz"], ["A", "input.A", "input.B"]),
        (["one/input.gz", "two/input.gz"], ["input", "input"]),
    ],
)
def test_the_shortest_part_that_tells_the_files_apart(files: list[str], expected: list[str]) -> None:
    assert run_names(files) == expected


def test_the_tag_decides_where_the_names_cannot() -> None:
    tags = ["clarit", "okapi"]
    assert run_names(["one/input.gz", "two/input.gz"], tag=tags.__getitem__) == tags
    assert run_names(["one/input.gz", "two/input.gz"], tag=lambda place: "same") == ["input", "input"]


def test_a_file_that_has_the_name_of_another_run_keeps_it_and_is_refused_later() -> None:
    assert run_names(["x/A.gz", "x/input.B.gz"], taken=["A"]) == ["A", "input"]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs as TREC's archives name them, and the same file name in two folders."""
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 d1 1\n")
    for name in ("A", "B"):
        Path(f"input.{name}.gz").write_bytes(gzip.compress(ROW.format(f"tag{name}").encode()))
        Path(name).mkdir()
        Path(name, "input.gz").write_bytes(gzip.compress(ROW.format(f"tag{name}").encode()))
    return tmp_path


@pytest.mark.usefixtures("archive")
@pytest.mark.parametrize(
    ("files", "names"), [(("input.A.gz", "input.B.gz"), {"A", "B"}), (("A/input.gz", "B/input.gz"), {"tagA", "tagB"})]
)
def test_every_command_that_takes_runs_names_them(
    files: tuple[str, str], names: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = files
    commands = [
        ["evaluate", "qrels.txt", a, b, "-m", "P@1", "--format", "json"],
        ["compare", "qrels.txt", a, b, "-m", "P@1", "--format", "json"],
        ["gate", "qrels.txt", "--baseline", a, "--candidate", b, "--rule", "P@1 >= 0", "--format", "json"],
        ["pool", a, b, "--strategy", "depth", "--depth", "1"],
        ["freshness", "qrels.txt", a, b, "--format", "json"],
        ["reuse", "qrels.txt", a, b, "-m", "P@1", "--format", "json"],
    ]
    for command in commands:
        status = main(command)
        out, err = capsys.readouterr()
        assert status == 0, (command, err)
        if command[0] != "gate":
            assert all(name in out for name in names), (command, out)
        if command[0] == "evaluate":
            assert {run["name"] for run in json.loads(out)["runs"]} == names


@pytest.mark.usefixtures("archive")
def test_equal_names_given_by_hand_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "qrels.txt", "x=input.A.gz", "x=input.B.gz"]) == 2
    assert main(["evaluate", "qrels.txt", "input.A.gz", "input.A.gz"]) == 2
    assert capsys.readouterr().err.count("\n") == 2
