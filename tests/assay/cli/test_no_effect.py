"""Tests of notes about options without effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli import main

GATE = "gate qrels.txt --candidate a.run --baseline b.run"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    queries = [f"q{number}" for number in range(12)]
    Path("qrels.txt").write_text("".join(f"{query} 0 d1 3\n{query} 0 d2 1\n" for query in queries))
    Path("a.run").write_text("".join(f"{query} Q0 d1 1 2 a\n{query} Q0 d2 2 1 a\n" for query in queries))
    Path("b.run").write_text("".join(f"{query} Q0 d2 1 2 b\n" for query in queries))
    Path("ratings.csv").write_text("query_id,doc_id,rater,grade\nq1,d1,r1,1\nq1,d1,r2,1\n")


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ("evaluate qrels.txt a.run --seed 3", "--seed 3 has no effect: without --ci there are no random draws"),
        (
            "evaluate qrels.txt a.run --seed 0 --ci 0.9 --ci-method t",
            "--seed 0 has no effect: Student's t",
        ),
        ("evaluate qrels.txt a.run --seed 3 --ci 0.9", ""),
        ("evaluate qrels.txt a.run --design none", "--design none has no effect: it needs --weights FILE"),
        ("evaluate qrels.txt a.run", ""),
        ("compare qrels.txt a.run b.run --design sampled", "--design sampled has no effect"),
        ("compare qrels.txt a.run b.run --seed 4", ""),
        (f"{GATE} --rule nDCG>=0.1 --seed 2", "--seed 2 has no effect: no rule is about a drop"),
        (f"{GATE} --rule drop(nDCG)<=0.9 --seed 2", ""),
        ("agreement ratings.csv --scale 0:3 --bootstrap 0 --seed 1", "--seed 1 has no effect: --bootstrap 0"),
        ("agreement ratings.csv --scale 0:3 --seed 1", ""),
    ],
)
def test_options_without_effect(files: None, capsys: pytest.CaptureFixture[str], words: str, note: str) -> None:
    assert main(words.split()) == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if "no effect" in line]
    assert len(notes) == bool(note)
    assert not note or notes[0].startswith(f"note: {note}")
