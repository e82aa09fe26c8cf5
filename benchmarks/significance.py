"""Time to test every pair of sixty runs for significance, against our limit and peers' estimated times.

    python benchmarks/significance.py [--only CASE] [--reps N] [--quick] [--json FILE]

Only the test is timed, in its own process. Peers test one pair at a time: they test up to three pairs, and their time
is scaled to all pairs. Their p must equal ours, within the error of that many random draws.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from side_by_side.processes import CouldNotRun, child, measure, python_with
from side_by_side.rows import Row, note, options, print_table

# By how many standard errors two p from different draws may differ. Three pairs and two peers are looked at, so a check
# that fails once in a million runs by chance is wide enough and still sees a test of another kind.
ERRORS_APART = 5.0
PEERS = {"scipy": "scipy.stats.permutation_test", "ranx": "ranx's fisher_randomization_test"}


@dataclass(frozen=True)
class Case:
    """A size, our limit there in seconds and what we would like, and how much of it a peer is given."""

    queries: int
    limit: float
    aim: float | None
    reps: int
    peer_pairs: int
    peer_permutations: int
    runs: int = 60
    permutations: int = 100_000

    @property
    def pairs(self) -> int:
        """How many pairs of runs there are."""
        return math.comb(self.runs, 2)

    @property
    def title(self) -> str:
        """The size in words."""
        return f"{self.pairs:,} pairs x {self.permutations:,} flips, {self.queries:,} queries"

    def small(self) -> Case:
        """The same in little time; the limit does not belong to this size."""
        return replace(self, runs=12, permutations=5_000, reps=2, peer_permutations=5_000)


CASES = {
    "few": Case(queries=43, limit=1.0, aim=0.3, reps=5, peer_pairs=3, peer_permutations=100_000),
    "many": Case(queries=6980, limit=5.0, aim=None, reps=3, peer_pairs=1, peer_permutations=10_000),
}


def main() -> int:
    """Measure every case that was asked for."""
    measured = {name: partial(tested, name) for name in CASES}
    return print_table(measured, options(__doc__, measured).parse_args())


def tested(name: str, args: argparse.Namespace) -> Iterator[Row]:
    """Hold our p against the peers', then tell our time as a share of the limit and of theirs."""
    case = CASES[name].small() if args.quick else CASES[name]
    peers = {peer: python for peer in PEERS if (python := python_with(peer))}
    theirs = {peer: side(case, peer, case.peer_permutations, python) for peer, python in peers.items()}
    ours = [side(case, "assay", case.permutations, sys.executable) for _ in range(args.reps or case.reps)]
    for peer, peer_values in theirs.items():
        check(case, peer, ours[0]["p"], peer_values["p"])
    seconds = [one["seconds"] for one in ours]
    times = f"{statistics.median(seconds):.2f} s, {len(ours)}x"
    if not args.quick:
        aim = case.aim / case.limit if case.aim else None
        yield Row(case.title, f"the limit of {case.limit:g} s", [one / case.limit for one in seconds], 1.0, aim, times)
    for peer, peer_values in theirs.items():
        scale = case.pairs / len(peer_values["p"]) * case.permutations / case.peer_permutations
        whole = peer_values["seconds"] * scale
        measured = f"{times} : {whole:,.0f} s, scaled from {len(peer_values['p'])}"
        yield Row(case.title, f"{peer}'s time", [one / whole for one in seconds], None, None, measured)


def check(case: Case, peer: str, ours: list[float], theirs: list[float]) -> None:
    """See that both sides give the same p, and that another pair's would be noticed."""
    apart = [errors(case, mine, other) for mine, other in zip(ours, theirs, strict=False)]
    if max(apart) > ERRORS_APART:
        raise CouldNotRun(f"{case.title}: p {ours} against {theirs} of {peer}: {max(apart):.0f} standard errors apart")
    if errors(case, ours[0], ours[-1]) <= ERRORS_APART:
        raise CouldNotRun(f"{case.title}: the control agrees, so these pairs cannot tell one p from another")
    note(f"{case.title}: p as {PEERS[peer]} gives it, within {max(apart):.1f} standard errors")


def errors(case: Case, mine: float, other: float) -> float:
    """How many standard errors two p differ by, each a share of its random draws."""
    p = min(max((mine + other) / 2, 1 / case.peer_permutations), 1 - 1 / case.peer_permutations)
    return abs(mine - other) / math.sqrt(p * (1 - p) * (1 / case.permutations + 1 / case.peer_permutations))


def side(case: Case, name: str, permutations: int, python: str) -> dict[str, Any]:
    """Run one side; ours always answers for all three sampled pairs."""
    pairs = 3 if name == "assay" else case.peer_pairs
    size = {"queries": case.queries, "runs": case.runs, "permutations": permutations, "pairs": pairs}
    words = [word for key, value in size.items() for word in (f"--{key}", str(value))]
    values: dict[str, Any] = json.loads(measure(child("flips", name, *words, python=python)).output)
    return values


if __name__ == "__main__":
    sys.exit(main())
