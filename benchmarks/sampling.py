"""Time to sample a query log, against polars only counting it, and accuracy of the estimates.

    python benchmarks/sampling.py [--only CASE] [--reps N] [--quick] [--data FOLDER] [--json FILE]

`log` is a whole process of `assay sample` with tiers, against a whole process of polars that reads the same file and
counts its texts. Assay also normalizes, removes personal data, tracks clients, applies the window and draws. `memory`
is its peak memory. `estimates` draws many samples of both designs from a log with a known mean.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from side_by_side.processes import ROOT, CouldNotRun, child, measure
from side_by_side.rows import Row, note, options, print_table

ROWS = 10_000_000
QUICK_ROWS = 200_000
AT_MOST = 3.0
MEMORY = 1_000.0
DRAWS = 2_000
BIAS = 0.005
COVERAGE = (0.94, 0.965)


def main() -> int:
    """Measure every case that was asked for."""
    measured = {"log": log, "estimates": estimates}
    return print_table(measured, options(__doc__, measured).parse_args())


def log(args: argparse.Namespace) -> Iterator[Row]:
    """Time and memory of a sample from a large log."""
    rows = QUICK_ROWS if args.quick else ROWS
    path = (args.data or ROOT / "var" / "bench").resolve() / f"searches-{rows}.csv.gz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        note(f"writing {path.name}")
        measure(child("query_log", "make", path, str(rows)))
    ratios, peaks, output = [], [], ""
    for _ in range(args.reps or (1 if args.quick else 3)):
        theirs = measure(child("query_log", "count", path))
        ours = measure(sample(path))
        check(json.loads(theirs.output), ours.errors)
        ratios.append(ours.wall / theirs.wall)
        peaks.append(ours.peak / MEMORY)
        output = f"{ours.wall:.1f} s : {theirs.wall:.1f} s, {ours.peak:,.0f} MB : {theirs.peak:,.0f} MB"
    limits = (None, None) if args.quick else (AT_MOST, 1.0)
    title = f"{rows:,} searches to a sample"
    yield Row(title, "polars reading and counting", ratios, limits[0], None, output)
    yield Row(title, f"a peak of {MEMORY:,.0f} MB", peaks, limits[1], None, output)


def sample(path: Path) -> list[str | Path]:
    """The command that is measured."""
    tiers = ["--head", "50", "--torso", "100", "--tail", "50"]
    return [sys.executable, "-m", "assay", "sample", path, *tiers, "--window-days", "36500", "--seed", "1"]


def check(theirs: dict[str, int], output: str) -> None:
    """Both must have seen the same searches; blanks alone make a few of polars' texts one query of ours."""
    match = re.search(r"([\d,]+) search(?:es)? for ([\d,]+) quer", output)
    if match is None or int(match[1].replace(",", "")) != theirs["searches"]:
        raise CouldNotRun(f"polars counted {theirs['searches']} searches with a query; we said: {output[:200]}")


def estimates(args: argparse.Namespace) -> Iterator[Row]:
    """Bias and coverage of weighted means."""
    draws = 200 if args.quick else DRAWS
    estimates_by_design = json.loads(measure(child("estimates", str(draws))).output)
    for design, errors in estimates_by_design.items():
        title = f"{draws:,} {design} draws"
        words = f"bias {errors['bias']:+.5f}, coverage {errors['coverage']:.4f}"
        limit = None if args.quick else 1.0
        yield Row(title, f"a bias of {BIAS}", [abs(errors["bias"]) / BIAS], limit, None, words)
        middle, reach = sum(COVERAGE) / 2, (COVERAGE[1] - COVERAGE[0]) / 2
        off = abs(errors["coverage"] - middle) / reach
        yield Row(title, "a coverage of 94 to 96.5 %", [off], limit, None, words)


if __name__ == "__main__":
    sys.exit(main())
