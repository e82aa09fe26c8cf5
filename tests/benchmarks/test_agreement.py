"""Tests of the comparison of two sides in benchmarks: differences stop them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.side_by_side.agreement import largest
from benchmarks.side_by_side.peers import judged_share

ROOT = Path(__file__).resolve().parent.parent.parent


def side(name: str, key: str, mean: float, value: float) -> dict[str, Any]:
    means = {"AP": {"mean": mean} if key == "metrics" else mean}
    return {"name": name, key: means, "per_query": {"q1": {"AP": value}}}


def test_the_largest_difference_of_means_and_of_queries() -> None:
    differences = largest([side("a", "metrics", 0.5, 0.5)], [side("a", "means", 0.5, 0.75)])
    assert differences == {"means": 0.0, "queries": 0.25, "metrics": ["AP"]}
    assert largest([side("a", "metrics", 0.5, 0.5)], [side("a", "means", 0.25, 0.5)])["means"] == 0.25


def test_two_sides_that_scored_other_runs_are_refused() -> None:
    with pytest.raises(SystemExit, match="same runs"):
        largest([side("a", "metrics", 0.5, 0.5)], [side("b", "means", 0.5, 0.5)])


def test_judged_among_the_ten_best_takes_the_larger_id_of_a_tie() -> None:
    # d1 to d9 stand first; d10 and d11 tie for the tenth place, and "d11" is the larger id.
    run = {f"d{number}": 20.0 - number for number in range(1, 10)} | {"d10": 5.0, "d11": 5.0}
    assert judged_share({"d11": 0}, run) == pytest.approx(1 / 10)
    assert judged_share({"d10": 0}, run) == 0.0
    assert judged_share({"d1": 3}, {"d1": 2.0, "d2": 1.0}) == 1 / 2
    assert judged_share({"d1": 3}, {}) == 0.0


def benchmark(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "benchmarks/evaluation.py",
        "--quick",
        "--reps",
        "1",
        "--only",
        "small",
        "--data",
        folder,
    ]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_the_benchmark_agrees_with_the_peer_and_its_control_does_not(tmp_path: Path) -> None:
    completed = benchmark(tmp_path, ASSAY_BENCH_PYTHON="")
    assert completed.returncode == 0, completed.stderr
    assert "7 metrics agree with the peer's" in completed.stderr
    assert "control (ties as in the file)" in completed.stderr
    assert "20 queries x 1,000, means  pytrec_eval's wall" in completed.stdout


def test_a_peer_that_computes_something_else_stops_the_clock(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.write_text(
        "#!/bin/sh\n"
        f"""test "$2" = pytrec_eval || exec {sys.executable} "$@"\n"""
        f"""{sys.executable} "$@" | sed 's/"AP": 0[.]/"AP": 1./g'\n"""
    )
    other.chmod(0o755)
    completed = benchmark(tmp_path / "data", ASSAY_BENCH_PYTHON=str(other))
    assert completed.returncode == 1
    assert "FAILED small" in completed.stderr
    assert completed.stdout == ""
