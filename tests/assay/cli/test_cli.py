"""Tests of the ``assay`` command: subcommands, help, errors and imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli import COMMANDS, build_parser, load
from assay.core.registry import Family
from tests.assay.conftest import Call

HEAVY = {"django", "polars", "torch", "scipy", "sklearn", "pandas"}
REPOSITORY = Path(__file__).resolve().parents[3]


def modules_after(*words: str) -> set[str]:
    """The top-level modules that a run of the command has imported."""
    code = (
        "import sys\nfrom assay.cli import main\n"
        f"try:\n    main({list(words)!r})\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(' '.join({name.split('.')[0] for name in sys.modules}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("words", [("--help",), ("evaluate", "--help"), ("agreement", "--help")])
def test_help_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    assert not modules_after(*words) & (HEAVY | {"numpy"})


def test_an_evaluation_of_fifty_queries_imports_nothing_heavy(tmp_path: Path) -> None:
    queries = [f"q{n:02}" for n in range(50)]
    rows = [(query, f"d{n:03}") for query in queries for n in range(100)]
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} {int(d[1:]) % 3}\n" for q, d in rows))
    (tmp_path / "a.run").write_text("".join(f"{q} Q0 {d} 1 {int(d[1:]) % 17} x\n" for q, d in rows))
    modules = modules_after("evaluate", str(tmp_path / "qrels.txt"), str(tmp_path / "a.run"))
    assert "numpy" in modules  # the evaluation ran: --help does without
    assert not modules & HEAVY


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"q{n} 0 d 1\n" for n in range(5000)))
    (tmp_path / "a.run").write_text("".join(f"q{n} Q0 d 1 1.0 x\n" for n in range(5000)))
    command = f"{sys.executable} -m assay evaluate qrels.txt a.run --format json | head -c 1"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"{", b"")


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_explains_itself(assay: Call, name: str) -> None:
    command = load(name)
    status, out, _ = assay(name, "--help")
    assert status == 0
    assert command.EXAMPLE.splitlines()[0] in out
    assert command.EXAMPLE.startswith(f"assay {name}")


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_option_is_explained(name: str) -> None:
    assert all(action.help for action in build_parser(name)._actions)


def test_the_overview_lists_every_command(assay: Call) -> None:
    status, out, _ = assay("--help")
    assert status == 0
    assert all(f"  {name} " in out for name in COMMANDS)


def test_no_command_and_an_unknown_one(assay: Call) -> None:
    assert assay()[0] == 2
    status, out, err = assay("evalate")
    assert (status, out) == (2, "")
    assert err == "assay: unknown command 'evalate'; did you mean evaluate? (see assay --help)\n"


def test_the_version(assay: Call) -> None:
    assert assay("--version")[1].startswith("assay ")


def test_a_package_adds_a_command(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(
        "HELP, EXAMPLE = 'say who is there', 'assay greet Ada'\n"
        "def add_arguments(parser): parser.add_argument('who', help='a name')\n"
        "def run(args): print(args.who); return 1\n"
    )
    (tmp_path / "outside-1.0.dist-info").mkdir()
    (tmp_path / "outside-1.0.dist-info" / "entry_points.txt").write_text("[assay.commands]\ngreet = outside\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(REPOSITORY)])}

    def call(*words: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "assay", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    assert call("greet", "Ada") == (1, "Ada\n", "")
    assert "  greet " in call("--help")[1]
    assert "assay greet Ada" in call("greet", "--help")[1]
    assert "did you mean greet?" in call("gret")[2]


def test_the_web_app_adds_serve(assay: Call) -> None:
    status, out, _ = assay("serve", "--help")
    assert status == 0
    assert "--demo" in out


def test_serve_without_the_web_app_names_its_extra(assay: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.cli.OUTSIDE", Family("command", {}))
    status, out, err = assay("serve", "--demo")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "'assay[server]'" in err
