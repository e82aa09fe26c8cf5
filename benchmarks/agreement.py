"""Time and memory of the agreement coefficients on a million pairs, against our limits and peer libraries.

    python benchmarks/agreement.py [--only CASE] [--reps N] [--quick] [--json FILE]

Each side runs in its own process, and only the computation is timed: both sides hold the grades as arrays in the
shape they need. A time counts only after the values match: krippendorff's ordinal alpha and scikit-learn's quadratic
kappa for every two raters must equal ours to nine decimals.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from side_by_side.processes import CouldNotRun, Measured, child, measure, python_with
from side_by_side.rows import Row, note, options, print_table

CLOSE = 1e-9
PEERS = {"krippendorff": "krippendorff.alpha, ordinal alone", "sklearn": "scikit-learn, quadratic kappas alone"}


@dataclass(frozen=True)
class Case:
    """How much is graded, what is computed of it, and in how many seconds at most."""

    title: str
    what: str
    pairs: int
    share: float  # of the pairs that a second rater grades; 1 for all by all
    queries: int
    limit: float
    aim: float | None = None
    peers: tuple[str, ...] = ()
    raters: int = 5

    def small(self) -> Case:
        """The same in little time; the limit does not belong to this size."""
        return replace(self, pairs=self.pairs // 100, queries=self.queries // 10)


CASES = {
    "million": Case(
        "5 raters x 1,000,000 pairs, a fifth twice", "report", 1_000_000, 0.2, 10_000, 0.7, 0.35, tuple(PEERS)
    ),
    "by-all": Case("5 raters x 1,000,000 pairs, all by all", "report", 1_000_000, 1.0, 10_000, 0.7, None, tuple(PEERS)),
    "bootstrap": Case("1,000 draws of 1,000 queries, 100,000 pairs", "bootstrap", 100_000, 1.0, 1_000, 1.0, 0.3),
}


def main() -> int:
    """Measure every case that was asked for."""
    measured = {name: partial(tested, name) for name in CASES}
    return print_table(measured, options(__doc__, measured).parse_args())


def tested(name: str, args: argparse.Namespace) -> Iterator[Row]:
    """Hold our values against the peers', then tell our time and memory as shares of the limit and of theirs."""
    case = CASES[name].small() if args.quick else CASES[name]
    pythons = {peer: python for peer in case.peers if (python := python_with(peer))}
    reps = args.reps or 5
    ours, whole = side(case, case.what, reps, sys.executable)
    times = f"{statistics.median(ours['seconds']):.3f} s, {reps}x"
    if not args.quick:
        aim = case.aim / case.limit if case.aim else None
        yield Row(
            case.title, f"the limit of {case.limit:g} s", [s / case.limit for s in ours["seconds"]], 1.0, aim, times
        )
    # What the grades themselves and numpy take is on every side.
    idle = side(case, "nothing", 1, sys.executable)[1].peak
    for peer, python in pythons.items():
        theirs, process = side(case, peer, min(reps, 3), python)
        check(case, ours["values"], theirs["values"])
        usual = statistics.median(theirs["seconds"])
        summary = f"{times} : {usual:.3f} s"
        yield Row(case.title, f"{PEERS[peer]}: time", [s / usual for s in ours["seconds"]], None, None, summary)
        memory = [max(whole.peak - idle, 1.0), max(process.peak - idle, 1.0)]
        summary = f"{memory[0]:.0f} MB : {memory[1]:.0f} MB"
        yield Row(case.title, f"{PEERS[peer]}: memory", [memory[0] / memory[1]], None, None, summary)


def check(case: Case, ours: dict[str, float], theirs: dict[str, float]) -> None:
    """See that what both computed is the same."""
    apart = {name: abs(ours[name] - value) for name, value in theirs.items()}
    if not apart or max(apart.values()) > CLOSE:
        raise CouldNotRun(f"{case.title}: values differ by {max(apart.values(), default=1):.2g}")
    note(f"{case.title}: {len(apart)} values as the peer's, within {max(apart.values()):.1g}")


def side(case: Case, name: str, reps: int, python: str) -> tuple[dict[str, Any], Measured]:
    """Run one side; answer what it printed, and its process."""
    size = {"pairs": case.pairs, "share": case.share, "queries": case.queries, "raters": case.raters, "reps": reps}
    words = [word for key, value in size.items() for word in (f"--{key}", str(value))]
    done = measure(child("rater_agreement", name, *words, python=python))
    values: dict[str, Any] = json.loads(done.output)
    return values, done


if __name__ == "__main__":
    sys.exit(main())
