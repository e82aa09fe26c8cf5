"""Tests of the benchmark of RAG metrics."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.side_by_side.rag_answers import ANSWER, REFERENCE, texts

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_texts_have_the_sizes_of_the_limit_and_are_the_same_each_time() -> None:
    made = texts(20)
    assert made == texts(20)
    assert {(len(reference.split()), len(answer.split())) for reference, answer, _ in made} == {(REFERENCE, ANSWER)}


@pytest.mark.parametrize("wrong", [False, True])
def test_the_peers_must_compute_the_same(tmp_path: Path, wrong: bool) -> None:
    python = sys.executable
    if wrong:  # another tokenizer
        (tmp_path / "sitecustomize.py").write_text(
            "import sys\n"
            "if 'peers' in getattr(sys, 'orig_argv', []):\n"
            "    import rouge_score.tokenize as tokenize\n"
            "    whole = tokenize.tokenize\n"
            "    tokenize.tokenize = lambda text, stemmer: whole(text, stemmer)[1:]\n"
        )
        python = str(tmp_path / "python")
        Path(python).write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}:$PYTHONPATH exec {sys.executable} "$@"\n')
        Path(python).chmod(0o755)
    completed = subprocess.run(
        [python, "benchmarks/rag.py", "--quick", "--reps", "1", "--only", "lexical"],
        cwd=ROOT,
        env={**os.environ, "ASSAY_BENCH_PYTHON": python},
        capture_output=True,
        text=True,
        check=False,
    )
    if wrong:
        assert completed.returncode == 1, completed.stderr
        assert "the peer's" in completed.stderr
    else:
        assert completed.returncode == 0, completed.stderr
        assert completed.stdout.count("lexical metrics of 300 answers") == 3
