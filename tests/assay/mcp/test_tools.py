"""Tests of the tools in this process and without a server: their descriptions, files, bad input and size of answers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.core.errors import NotValid
from assay.mcp.connections import Connections, Inputs
from assay.mcp.server import MOST_CHARACTERS, bounded
from tests.assay.mcp.conftest import ROOT, Agent, in_process

MOST_DESCRIPTION = 24_000
# Words of what only people do; no tool is named by one of them.
OF_PEOPLE = ("judge", "grade", "rate", "resolve", "settle", "freeze", "close", "open", "accept", "invite")
FILES = {"runs": ["file:third.run"], "labels": "file:qrels.txt"}


@pytest.fixture
def agent(folder: Path) -> Iterator[Agent]:
    with in_process(Connections(folder=folder)) as running:
        yield running


def test_descriptions_are_short_and_no_tool_acts_for_people(agent: Agent) -> None:
    texts = [tool.model_dump_json(by_alias=True, exclude_none=True) for tool in agent.tools]
    assert sum(map(len, texts)) < MOST_DESCRIPTION
    assert [tool.name for tool in agent.tools if tool.name.split("_")[0] in OF_PEOPLE] == []
    assert [tool.name for tool in agent.tools if not tool.description or not tool.annotations] == []
    writing = {tool.name for tool in agent.tools if not tool.annotations.read_only_hint}
    scoring = {"evaluate", "compare_runs", "decision_critical_pairs"}
    assert writing == scoring | {"gate", "push_run", "request_round"}


def test_files_are_measured_without_a_server(agent: Agent) -> None:
    (run,) = agent.answer("evaluate", **FILES, metrics=["Judged@3"])["runs"]
    assert run["metrics"]["Judged@3"]["mean"] == pytest.approx(2 / 3)
    pair = {"baseline": "file:bm25.run", "candidate": "file:third.run", "labels": "file:qrels.txt"}
    assert agent.answer("compare_runs", **pair)["pairs"][0]["difference"] < 0
    assert agent.answer("decision_critical_pairs", **pair, metric="nDCG@3")["pairs"][0]["doc_id"] == "new"
    assert agent.answer("decide", **pair)["verdict"] == "undecided"
    assert "no server was given" in agent.error("list_runs")
    assert "no server was given" in agent.error("evaluate", runs=["bm25"])


@pytest.mark.parametrize("path", ["../outside.run", "/etc/passwd", "none.run", "", ".", "a\0b", "x" * 5000, "link"])
def test_no_file_outside_the_folder_is_read(folder: Path, path: str) -> None:
    if not (folder / "link").is_symlink():
        (folder / "link").symlink_to("/etc/passwd")
    with Inputs(Connections(folder=folder)) as inputs, pytest.raises(NotValid):
        inputs.file(f"file:{path}")


def test_bad_input_is_a_sentence(agent: Agent, folder: Path) -> None:
    (folder / "broken.run").write_text("q1 Q0 d1 one two\n")
    gate = {"candidate": "file:third.run", "labels": "file:qrels.txt"}
    for tool, arguments in (
        ("evaluate", {**FILES, "metrics": ["nDCG@0"]}),
        ("evaluate", {**FILES, "metrics": ["none"]}),
        ("evaluate", {**FILES, "runs": []}),
        ("evaluate", {**FILES, "runs": ["file:third.run"] * 11}),
        ("evaluate", {**FILES, "runs": ["file:third.run"] * 2}),
        ("evaluate", {**FILES, "runs": ["file:broken.run"]}),
        ("evaluate", {**FILES, "unknown": 1}),
        ("evaluate", {}),
        ("gate", {**gate, "rules": []}),
        ("gate", {**gate, "rules": ["better"]}),
        ("gate", {**gate, "rules": ["drop(AP) <= 0"]}),
        ("gate", {**gate, "rules": ["AP >= 0"], "record": True}),
        ("unjudged_pairs", {**FILES, "depth": 0}),
        ("validate_file", {"file": "third.run", "format": "none"}),
        ("round_progress", {"round": "1; drop"}),
        ("no_such_tool", {}),
    ):
        message = agent.error(tool, **arguments)
        assert len(message) < 2_000, message
        assert str(folder) not in message
    assert "broken.run:1" in agent.error("evaluate", **{**FILES, "runs": ["file:broken.run"]})


def test_pages_follow_each_other(agent: Agent, folder: Path) -> None:
    rows = [f"q1 Q0 x{number:03} {number} {1000 - number} long\n" for number in range(1, 121)]
    (folder / "long.run").write_text("".join(["q1 Q0 d1 0 2000 long\n", *rows]))
    asked, page = [], 1
    while page:
        found = agent.answer("unjudged_pairs", runs=["file:long.run"], labels="file:qrels.txt", depth=1000, page=page)
        asked += [pair["doc_id"] for pair in found["pairs"]]
        page = found["next_page"]
    assert (asked, found["total"], agent.calls) == ([f"x{at:03}" for at in range(1, 121)], 120, ["unjudged_pairs"] * 3)


@pytest.mark.parametrize(
    "answer",
    [
        {"rows": [{"text": "é" * 100}] * 5_000},
        {"text": "x" * 10**6},
        {"deep": {str(at): {"rows": list(range(500))} for at in range(500)}},
    ],
)
def test_answers_are_bounded(answer: dict[str, Any]) -> None:
    text = bounded(answer)
    assert len(text) <= MOST_CHARACTERS
    assert "ask for less" in json.loads(text)["shortened"]


@pytest.mark.parametrize(
    "words",
    [
        ["--http"],
        ["--port", "9"],
        ["--allowed-origin", "https://app.example.com"],
        ["--token-stdin"],
        ["--folder", "none"],
        ["--http", "--server", "http://127.0.0.1:9", "--token", "assay_secret"],
        ["--http", "--server", "http://127.0.0.1:9", "--host", "192.0.2.1", "--port", "0"],
    ],
)
def test_contradicting_options_are_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), "assay_secret" in err) == ("", 1, False)


def test_a_missing_library_names_its_extra() -> None:
    code = "import sys; sys.modules['mcp'] = None; from assay.cli import main; sys.exit(main(['mcp']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "assay[mcp]" in done.stderr
