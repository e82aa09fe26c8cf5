"""Tests of measured processes: time, peak memory and output."""

from __future__ import annotations

import sys

import pytest

from benchmarks.side_by_side.processes import CouldNotRun, measure


def test_a_process_is_measured_whole() -> None:
    measured = measure([sys.executable, "-c", "import time; x = b'x' * 300_000_000; time.sleep(0.2); print(len(x))"])
    assert measured.output == "300000000\n"
    assert measured.wall >= 0.2
    # A child's peak can read no lower than ours, so pytest's own size does not disturb this.
    assert measured.peak >= 300


def test_a_failing_process_is_reported_with_its_last_output() -> None:
    with pytest.raises(CouldNotRun, match=r"ended with 3: no such run"):
        measure([sys.executable, "-c", "import sys; print('no such run', file=sys.stderr); sys.exit(3)"])
