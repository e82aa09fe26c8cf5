"""Time and memory of commands that read a million rows, against our limits and a peer.

    python benchmarks/reading.py [--only CASE] [--reps N] [--quick] [--json FILE]

Whole processes are measured from start to exit. `agreement` runs next to a process in which polars reads the same
file and krippendorff computes one alpha, and both must get the same value. The other cases have their own limits.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from side_by_side.processes import Command, CouldNotRun, Measured, child, measure, python_with
from side_by_side.rows import Row, options, print_table

CLOSE = 1e-9
ROWS, SECONDS, MEGABYTES = 1_000_000, 3.0, 200.0


@dataclass(frozen=True)
class Case:
    """A command that reads a file of a million rows, and what it is given."""

    title: str
    shape: str
    words: tuple[str, ...]


CASES = {
    "validate-qrels": Case("validate qrels, TREC", "qrels.txt", ("validate",)),
    "validate-csv": Case("validate qrels, CSV", "qrels.csv", ("validate", "--scale", "0:3")),
    "validate-counted": Case("validate a counted log", "counted.csv", ("validate", "--format", "query-log-csv")),
    "convert-qrels": Case("convert qrels to CSV", "qrels.txt", ("convert", "--to", "qrels-csv", "--out", "out")),
    "convert-beir": Case("convert qrels to BEIR", "qrels.txt", ("convert", "--to", "beir-qrels", "--out", "out")),
    "convert-csv": Case("convert qrels to TREC", "qrels.csv", ("convert", "--to", "trec-qrels", "--out", "out")),
    "validate-by-text": Case("validate qrels by text, Quepid", "quepid.csv", ("validate", "--scale", "0:3")),
    "convert-by-text": Case(
        "convert qrels by text to TREC", "quepid.csv", ("convert", "--to", "trec-qrels", "--out", "out")
    ),
    "convert-to-text": Case(
        "convert qrels by text to quaerite", "quepid.csv", ("convert", "--to", "quaerite-csv", "--out", "out")
    ),
    "convert-run": Case("convert a run to CSV", "run.txt", ("convert", "--to", "run-csv", "--out", "out")),
}


def main() -> int:
    """Measure every case that was asked for."""
    measured = {"agreement": agreement, **{name: partial(read, name) for name in CASES}}
    return print_table(measured, options(__doc__, measured).parse_args())


def agreement(args: argparse.Namespace) -> Iterator[Row]:
    """All coefficients with intervals, against one alpha without."""
    rows = 12_000 if args.quick else 1_200_000
    python = python_with("krippendorff")
    if python is None:
        raise CouldNotRun("krippendorff is not installed: pip install -e '.[test]', or set ASSAY_BENCH_PYTHON")
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        path = Path(folder) / "ratings.csv"
        measure(child("large_files", "write", path, str(rows)))
        ours: Command = [sys.executable, "-m", "assay", "agreement", path, "--scale", "0:3", "--format", "json"]
        theirs = child("large_files", "peer", path, python=python)
        measurements = [(measure(ours), measure(theirs)) for _ in range(args.reps or 3)]
    alpha = measure_alpha(measurements[0][0].output)
    if abs(alpha - float(measurements[0][1].output)) > CLOSE:
        raise CouldNotRun(f"alpha is {alpha}, the peer's {measurements[0][1].output}")
    title, limit = f"agreement of {rows:,} ratings", None if args.quick else 1.0
    yield Row(
        title,
        "polars and krippendorff: wall",
        [a.wall / b.wall for a, b in measurements],
        limit,
        None,
        timing_text(measurements),
    )
    memory = f"{measurements[0][0].peak:.0f} MB : {measurements[0][1].peak:.0f} MB"
    yield Row(title, "polars and krippendorff: memory", [a.peak / b.peak for a, b in measurements], limit, None, memory)


def measure_alpha(output: str) -> float:
    """Return the ordinal alpha of what our command printed."""
    import json

    return float(json.loads(output)["coefficients"]["alpha-ordinal"]["value"])


def timing_text(measurements: list[tuple[Measured, Measured]]) -> str:
    """Return the absolute times."""
    walls = [statistics.median(one.wall for one in side) for side in zip(*measurements, strict=True)]
    cpu = statistics.median(mine.cpu / other.cpu for mine, other in measurements)
    return f"{walls[0]:.2f} s : {walls[1]:.2f} s, cpu {cpu:.2f}, {len(measurements)}x"


def read(name: str, args: argparse.Namespace) -> Iterator[Row]:
    """One command's wall and peak as shares of the limits."""
    case, rows = CASES[name], ROWS // 100 if args.quick else ROWS
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        path = Path(folder) / case.shape
        measure(child("large_files", "write", path, str(rows)))
        verb, *others = (str(Path(folder) / word) if word == "out" else word for word in case.words)
        measurements = [measure([sys.executable, "-m", "assay", verb, path, *others]) for _ in range(args.reps or 3)]
    title, limit = f"{case.title}, {rows:,} rows", None if args.quick else 1.0
    cpu = statistics.median(one.cpu for one in measurements)
    walls = [one.wall / SECONDS for one in measurements]
    yield Row(title, f"the limit of {SECONDS:g} s", walls, limit, None, f"cpu {cpu:.2f} s, {len(measurements)}x")
    yield Row(title, f"the limit of {MEGABYTES:g} MB", [one.peak / MEGABYTES for one in measurements], limit, None, "")


if __name__ == "__main__":
    sys.exit(main())
