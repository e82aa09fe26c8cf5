"""Tests of the benchmark of query logs: a peer that counts other searches stops it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LOG = "benchmarks/side_by_side/query_log.py"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "log.csv.gz"
    subprocess.run([sys.executable, LOG, "make", path, "3000"], cwd=ROOT, check=True)
    return path


def test_the_log_is_awkward_and_the_same_each_time(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.csv.gz"
    subprocess.run([sys.executable, LOG, "make", again, "3000"], cwd=ROOT, check=True)
    assert again.read_bytes() == path.read_bytes()
    queries = pl.read_csv(path)["query"]
    assert (len(queries), queries.null_count() > 0) == (3000, True)
    assert any(text.isupper() for text in queries.drop_nulls())
    assert any("," in text for text in queries.drop_nulls())


def test_both_sides_see_the_same_searches(path: Path) -> None:
    completed = subprocess.run([sys.executable, LOG, "count", path], cwd=ROOT, check=True, capture_output=True)
    words = [sys.executable, "-m", "assay", "sample", path, "--head", "1", "--window-days", "9999"]
    ours = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    assert f"{json.loads(completed.stdout)['searches']:,} searches for " in ours.stderr
