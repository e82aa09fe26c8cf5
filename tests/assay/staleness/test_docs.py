"""Test of the example in docs/freshness.md: it runs and gives the documented numbers."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from assay.cli import main
from assay.staleness import SIGNALS
from assay.staleness.actions import ACTIONS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "freshness.md").read_text(encoding="utf-8")


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```\n(\$.*?)^```", PAGE, re.M | re.S)
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$).*\n)*)", block, re.M)
    for command, content in commands[:-1]:
        Path(command.removeprefix("cat ")).write_text(content)
    assert main([*shlex.split(commands[-1][0])[1:], "--format", "json"]) == 1
    body = {one["signal"]: one for one in json.loads(capsys.readouterr().out)["signals"]}
    assert {name: one["state"] for name, one in body.items() if one["state"] not in ("unknown", "fresh")} == {
        "unjudged": "warn",
        "growth": "stale",
        "changed": "stale",
        "category": "stale",
    }
    numbers = [body[name]["now"] for name in ("unjudged", "growth", "changed", "category")]
    assert numbers == pytest.approx([1 / 4, 1 / 3, 1 / 3, 1 / 4])


@pytest.mark.parametrize("name", list(SIGNALS))
def test_the_table_says_what_the_signals_declare(name):
    signal = SIGNALS[name]
    (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGE, re.M)
    *_, warn, stale, act = [cell.strip() for cell in row.strip("|").split("|")]
    assert act == ACTIONS[signal.action].title
    for cell, limit in ((warn, signal.warn), (stale, signal.stale)):
        if limit is None or not cell:
            assert (cell, limit) == ("", None)
        elif cell == "any":
            assert limit == 0
        else:
            number = float(re.search(r"[\d.]+", cell)[0])
            assert limit == pytest.approx(number if signal.unit in ("days", "index") else number / 100)
