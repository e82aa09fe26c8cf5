"""Relevant documents each pool strategy finds with 50 judgments per query, and the time to pool many runs.

    python benchmarks/pooling.py [--only CASE] [--reps N] [--quick] [--data FOLDER] [--json FILE]

The first three cases are simulated collections, calibrated to results on the official runs of three years.
``cranfield`` reads FOLDER/cranfield and reports if it is missing. Each case prints a table of every strategy. A limit
is reported as a ratio: 1.15 times what depth-k finds over what the recommended strategy finds, and the loss in tau of
the recommended strategy over 0.02.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from side_by_side.processes import ROOT, child, measure
from side_by_side.rows import Row, note, options, print_table

MORE, TAU = 1.15, 0.02
SECONDS, MEGABYTES = 5.0, 1536.0
# Many systems that differ tell a lot by themselves; of few that are alike the texts tell more.
ADVISED = {"2019": "move-to-front", "2020": "move-to-front", "2021": "move-to-front", "cranfield": "text-learning"}


def main() -> int:
    """Measure every case that was asked for."""
    cases = {**{name: partial(recall_rows, name) for name in ADVISED}, "speed": speed}
    return print_table(cases, options(__doc__, cases).parse_args())


def recall_rows(name: str, args: argparse.Namespace) -> Iterator[Row]:
    """Replay every strategy on one collection, print what each finds, and hold the advised one against depth-k."""
    words = ["--seeds", str(args.reps or (1 if args.quick else 6 if name != "cranfield" else 1))]
    if name == "cranfield":
        folder = cranfield(args.data)
        if folder is None:
            note("cranfield is not here: put its files into DATA/cranfield, or name the folder with ASSAY_CRANFIELD")
            return
        words += ["--folder", str(folder.resolve()), "--batch", "10"]
    recalls: dict[str, dict[str, float]] = json.loads(measure(child("replay", name, *words)).output)
    print(table(name, recalls), flush=True)
    best, plain = recalls[ADVISED[name]], recalls["depth"]
    case = f"{name}: {ADVISED[name]}"
    limit = None if args.quick else 1.0
    counts = f"{best['found']:,.0f} : {plain['found']:,.0f} found"
    yield Row(case, f"{MORE} x depth-k's finds", [MORE * plain["found"] / best["found"]], limit, None, counts)
    lost = max(0.0, plain["tau"] - best["tau"]) / TAU
    yield Row(case, f"{TAU} of tau", [lost], limit, None, f"tau {best['tau']:.3f} : {plain['tau']:.3f}")


def cranfield(data: Path | None) -> Path | None:
    """Where Cranfield's files are, if they are."""
    named = os.environ.get("ASSAY_CRANFIELD")
    places = (
        [Path(named)]
        if named
        else [(data or ROOT / "var" / "bench") / "cranfield", ROOT.parent / "shared/data/cranfield"]
    )
    return next((place for place in places if (place / "qrels.txt").exists()), None)


def table(name: str, recalls: dict[str, dict[str, float]]) -> str:
    """Lay out what every strategy found."""
    depth = recalls["depth"]["found"]
    lines = [f"{name:<16}{'found':>8}{'x depth-k':>11}{'share':>8}{'judged':>8}{'tau':>8}"]
    for strategy, one in recalls.items():
        numbers = f"{one['found']:>8,.0f}{one['found'] / depth:>11.3f}{one['share']:>8.3f}"
        lines.append(f"{strategy:<16}{numbers}{one['judged']:>8.1f}{one['tau']:>8.3f}")
    return "\n".join(lines)


def speed(args: argparse.Namespace) -> Iterator[Row]:
    """Pool 20 runs of 5,000 queries, 100 deep, from TREC files and as the server stores them."""
    size = {"queries": 200 if args.quick else 5000, "depth": 100, "runs": 20}
    words = [word for key, value in size.items() for word in (f"--{key}", str(value))]
    folder = (args.data or ROOT / "var" / "bench") / f"pool-{size['queries']}"
    measure(child("pool_once", "make", folder, *words))
    trec, stored = ((), ""), (("--stored",), ", stored")
    cases = (("depth", 10, trec), ("depth", 10, stored), ("depth", 100, trec), ("rbp", 50, trec), ("rbp", 50, stored))
    for strategy, depth, (how, pairs) in cases:
        command = child("pool_once", "pool", folder, "--strategy", strategy, "--depth", str(depth), *how)
        runs: list[dict[str, Any]] = []
        peaks, work = [], []
        for _ in range(args.reps or (1 if args.quick else 3)):
            measured = measure(command)
            runs.append(json.loads(measured.output))
            peaks.append(measured.peak)
            work.append(measured.cpu)
        seconds = [one["seconds"] for one in runs]
        case = f"{size['runs']} runs x {size['queries']:,} queries x {size['depth']}: {strategy} {depth}{pairs}"
        limit = None if args.quick else 1.0
        times = f"{statistics.median(seconds):.2f} s ({statistics.median(work):.2f} s cpu), {runs[0]['pairs']:,} pairs"
        yield Row(case, f"the limit of {SECONDS:g} s", [one / SECONDS for one in seconds], limit, None, times)
        memory = f"{statistics.median(peaks):,.0f} MB"
        yield Row(case, f"the limit of {MEGABYTES:,.0f} MB", [one / MEGABYTES for one in peaks], limit, None, memory)


if __name__ == "__main__":
    sys.exit(main())
