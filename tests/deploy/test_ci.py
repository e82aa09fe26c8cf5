"""Tests of deploy/ci/: the scripts of the GitHub action and of the GitLab template, against a real server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluation.models import GateVerdict

pytestmark = pytest.mark.django_db(transaction=True)

CI = Path(__file__).resolve().parents[2] / "deploy" / "ci"
ACTION = yaml.safe_load((CI / "action.yml").read_text(encoding="utf-8"))
GITLAB = yaml.safe_load((CI / "gitlab.yml").read_text(encoding="utf-8"))[".assay-gate"]
TITLE = "Boost titles; $(touch injected) `touch injected` " + "x" * 250
RULES = {True: "Judged@2 >= 0\n", False: "Judged@2 >= 2\n"}


@pytest.fixture
def environment(
    world: Any, engineer: Any, live_server: Any, token_of: Callable[[Any], str], tmp_path: Path
) -> dict[str, str]:
    from pooling.runs import runs

    runs.set_baseline(world.collection, world.collection.runs.get(name="bm25"), actor=engineer)
    (tmp_path / "neural.run").write_text("q1 Q0 d3 1 3.0 neural\nq1 Q0 new 2 2.0 neural\n")
    command = tmp_path / "assay" / "bin" / "assay"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m assay "$@"\n')
    command.chmod(0o755)
    return {
        "PATH": f"{command.parent}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "ASSAY_SERVER": live_server.url,
        "ASSAY_TOKEN": token_of(engineer),
        "ASSAY_COLLECTION": "shop",
    }


@pytest.fixture
def token_of() -> Callable[[Any], str]:
    from judgments.members import tokens

    return lambda user: tokens.make_token(user, name="ci", scopes=["write"])[1]


def run(script: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def check(passed: bool, folder: Path, done: subprocess.CompletedProcess[str], world: Any, token: str) -> None:
    assert done.returncode == (0 if passed else 1), done.stderr
    assert token not in done.stdout + done.stderr
    assert "neural" in (folder / "assay-gate" / "change.html").read_text()
    verdict = GateVerdict.objects.exclude(pk=world.verdict.pk).get()
    assert (verdict.passed, verdict.label, verdict.baseline) == (passed, TITLE[:200], "bm25")
    assert verdict.link.startswith("https://ci.example.com/")
    assert not (folder / "injected").exists()


@pytest.mark.slow
@pytest.mark.parametrize("passed", [True, False])
def test_the_action_gates_and_writes_the_summary(
    environment: dict[str, str], tmp_path: Path, world: Any, passed: bool
) -> None:
    (tmp_path / "gate.rules").write_text(RULES[passed])
    (step,) = [step for step in ACTION["runs"]["steps"] if step["name"] == "Check the gate"]
    assert "${{" not in step["run"]
    given = {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_SERVER_URL": "https://ci.example.com",
        "GITHUB_REPOSITORY": "shop/search",
        "GITHUB_SHA": "abc",
        **{name: "" for name in step["env"] if not name.startswith("ASSAY_")},
        "CANDIDATE": "neural.run",
        "RULES": "gate.rules",
        "LABEL": TITLE,
        "FOLDER": ACTION["inputs"]["folder"]["default"],
    }
    done = run(step["run"], tmp_path, {**environment, **given})
    check(passed, tmp_path, done, world, environment["ASSAY_TOKEN"])
    assert (tmp_path / "summary.md").read_text() == (tmp_path / "assay-gate" / "change.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("passed", [True, False])
def test_the_template_gates_and_adds_a_note(
    environment: dict[str, str], tmp_path: Path, world: Any, passed: bool
) -> None:
    (tmp_path / "gate.rules").write_text(RULES[passed])
    (tmp_path / "assay" / "bin" / "python").write_text("#!/bin/sh\n")
    curl = tmp_path / "assay" / "bin" / "curl"
    curl.write_text('#!/bin/sh\ncat > curl.config\nprintf "%s\\n" "$@" > curl.arguments\n')
    for command in (curl, curl.with_name("python")):
        command.chmod(0o755)
    given = {
        **GITLAB["variables"],
        "ASSAY_INSTALL": "assay",
        "ASSAY_CANDIDATE": "neural.run",
        "ASSAY_NOTE_TOKEN": "note-token",
        "CI_COMMIT_REF_NAME": "boost",
        "CI_COMMIT_SHA": "abc",
        "CI_PROJECT_URL": "https://ci.example.com/shop",
        "CI_PROJECT_ID": "7",
        "CI_API_V4_URL": "https://ci.example.com/api/v4",
        "CI_MERGE_REQUEST_IID": "12",
        "CI_MERGE_REQUEST_TITLE": TITLE,
    }
    done = run("\n".join(GITLAB["script"]), tmp_path, {**environment, **given})
    check(passed, tmp_path, done, world, environment["ASSAY_TOKEN"])
    assert (tmp_path / "assay-gate" / "gate.xml").read_text().startswith("<?xml")
    noted = run("\n".join(GITLAB["after_script"]), tmp_path, {**environment, **given})
    assert noted.returncode == 0, noted.stderr
    arguments = (tmp_path / "curl.arguments").read_text().splitlines()
    assert arguments[-1] == "https://ci.example.com/api/v4/projects/7/merge_requests/12/notes"
    assert "body@assay-gate/change.md" in arguments
    assert (tmp_path / "curl.config").read_text() == 'header = "PRIVATE-TOKEN: note-token"\n'
    assert "note-token" not in " ".join(arguments)
