"""Tests of the benchmark of significance: a peer with another p stops it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.stats import ttest_rel

from benchmarks.side_by_side.flips import sampled, scores

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_sampled_pairs_have_a_small_a_middling_and_a_large_p() -> None:
    table = scores(43, 60)
    values = [float(ttest_rel(table[:, a], table[:, b]).pvalue) for a, b in sampled(table, 3)]
    np.testing.assert_allclose(values, [0.05, 0.2, 0.5], atol=0.02)


def test_a_peer_with_another_p_stops_the_benchmark(tmp_path: Path) -> None:
    peer, answer = tmp_path / "python", tmp_path / "said"
    # The first p of the peer comes out larger by one; what else it says stays as it is.
    peer.write_text(f"""#!/bin/sh\n{sys.executable} "$@" >{answer} || exit 1\nsed 's/"p": [[]0/"p": [1/' {answer}\n""")
    peer.chmod(0o755)
    completed = subprocess.run(
        [sys.executable, "benchmarks/significance.py", "--quick", "--reps", "1", "--only", "few"],
        cwd=ROOT,
        env={**os.environ, "ASSAY_BENCH_PYTHON": str(peer)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 1, completed.stderr
    assert "standard errors apart" in completed.stderr
    assert completed.stdout == ""
