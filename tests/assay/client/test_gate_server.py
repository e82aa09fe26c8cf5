"""Tests of ``assay gate --server`` and of a pipeline that has nothing but a token."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.models import GateVerdict
from pooling.models import Run

pytestmark = pytest.mark.django_db(transaction=True)

NEURAL = "q1 Q0 d3 1 3.0 neural\nq1 Q0 d1 2 2.0 neural\nq1 Q0 new 3 1.0 neural\n"
OTHER = "q1 Q0 d2 1 3.0 other\nq1 Q0 d1 2 2.0 other\n"
SCRIPT = """
set -eu
assay() { "$PYTHON" -m assay "$@"; }
assay pull snapshot newest --out labels
assay gate --server --candidate neural.run --rule 'Judged@2 >= 0' --label 'Change 1' --report change.html \
  --baseline-run bm25 --markdown change.md
assay gate --server --candidate other.run --rule 'Judged@2 >= 2' || test $? = 1
assay push run third.run --name third --scores
"""


@pytest.fixture
def environment(
    world: Any, engineer: Any, live_server: Any, token_of: Callable[[Any], str], tmp_path: Path
) -> dict[str, str]:
    for name, content in (("neural", NEURAL), ("other", OTHER), ("third", OTHER.replace("d2", "d3"))):
        (tmp_path / f"{name}.run").write_text(content)
    return {
        "PATH": "/usr/bin:/bin",
        "PYTHON": sys.executable,
        "HOME": str(tmp_path),
        "ASSAY_SERVER": live_server.url,
        "ASSAY_TOKEN": token_of(engineer),
        "ASSAY_COLLECTION": "shop",
    }


def test_a_script_with_nothing_but_a_token(environment: dict[str, str], tmp_path: Path, world: Any) -> None:
    done = subprocess.run(
        ["bash", "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert environment["ASSAY_TOKEN"] not in done.stdout + done.stderr
    assert (tmp_path / "labels" / "qrels.txt").read_text() == "".join(
        f"{line}\n" for line in (tmp_path / "labels" / "qrels.txt").read_text().splitlines()
    )
    verdicts = {verdict.candidate: verdict for verdict in GateVerdict.objects.exclude(pk=world.verdict.pk)}
    assert {name: verdict.passed for name, verdict in verdicts.items()} == {"neural": True, "other": False}
    assert verdicts["neural"].label == "Change 1"
    assert verdicts["neural"].snapshot == world.snapshot
    assert verdicts["neural"].baseline == "bm25"
    assert Run.objects.filter(name="third").exists()
    assert "new" in (tmp_path / "change.html").read_text()
    assert (tmp_path / "change.md").read_text().count("neural")


def test_a_verdict_is_not_recorded_on_request(environment: dict[str, str], tmp_path: Path, world: Any) -> None:
    command = [
        sys.executable,
        "-m",
        "assay",
        "gate",
        "--server",
        "--candidate",
        "neural.run",
        "--rule",
        "Judged@2 >= 0",
    ]
    words = [*command, "--no-push", "--format", "json"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["passed"]) == (0, True), done.stderr
    assert not GateVerdict.objects.exclude(pk=world.verdict.pk).exists()


@pytest.mark.parametrize(
    "words", [["--collection", "shop"], ["--no-push"], ["--server", "qrels.txt"], ["--server", "--snapshot", "none"]]
)
def test_contradicting_options_are_one_line(environment: dict[str, str], tmp_path: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "assay", "gate", "--candidate", "neural.run", "--rule", "Judged@2 >= 0", *words]
    if words == ["--server", "qrels.txt"]:
        command = [*command[:-2], "qrels.txt", "--server"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
