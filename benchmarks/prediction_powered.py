"""Coverage and width of intervals from few human and many machine values.

    python benchmarks/prediction_powered.py [--quick]

The intervals must have the coverage they claim and must never be wider than those from human values alone. Each case
has 2,000 seeded trials with a machine that knows nothing, something or much, over metric values like those of real
queries: between 0 and 1, many at the ends. Errors are counted against the mean that the values were drawn with.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from side_by_side.rows import Row, options, print_table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from assay.estimators.prediction_powered import Floats, Powered, powered_mean
from assay.estimators.stratified_mean import Stratified, stratified_mean

TRIALS, QUICK = 2_000, 200
QUERIES, OTHERS = 60, 600
# 94 to 96.5 % of 95 % intervals, and a width of 1.02 of people's at most.
PROMISED, MOST_MISSED, LEAST_MISSED, WIDEST = 0.05, 0.06, 0.035, 1.02
MACHINES = {"knows nothing": 0.0, "knows something": 0.5, "knows much": 0.8, "is biased": 0.5}
BIAS = 0.2


def main() -> int:
    """Measure."""
    cases = {"mean": means, "strata": strata}
    return print_table(cases, options(__doc__, cases).parse_args())


def means(args: argparse.Namespace) -> Iterator[Row]:
    """Estimate the mean again and again, with each machine."""
    return tried(args, powered_mean, "", WIDEST)


def strata(args: argparse.Namespace) -> Iterator[Row]:
    """The same by strata, which may be wider where the machine knows nothing: no limit is promised."""
    return tried(args, stratified_mean, ", strata", None)


def tried(
    args: argparse.Namespace, method: Callable[..., Powered | Stratified], tail: str, widest: float | None
) -> Iterator[Row]:
    """Coverage and width of a method's intervals."""
    trials = QUICK if args.quick else TRIALS
    for seed, (name, share) in enumerate(MACHINES.items()):
        rng = np.random.default_rng([2024, seed])
        missed, widths, alone = 0, 0.0, 0.0
        truth = expected()
        for _ in range(trials):
            human, machine = drawn(rng, QUERIES + OTHERS, share, BIAS if name == "is biased" else 0.0)
            estimate = method(human[:QUERIES], machine[:QUERIES], machine[QUERIES:])
            assert estimate.low is not None
            assert estimate.high is not None
            assert estimate.human_only is not None
            missed += not estimate.low <= truth <= estimate.high
            widths += estimate.high - estimate.low
            alone += estimate.human_only.width
        title = f"a machine that {name}" if name != "is biased" else "a machine that is biased"
        title += tail
        rate, limits = missed / trials, not args.quick
        covered = f"{1 - rate:.2%} covered, {trials:,}x"
        yield Row(
            title, "misses promised", [rate / PROMISED], MOST_MISSED / PROMISED if limits else None, None, covered
        )
        # The other end: intervals that always hold are too wide.
        yield Row(title, "fewest misses", [LEAST_MISSED / max(rate, 1e-9)], 1.0 if limits else None, None, covered)
        width = f"{widths / trials:.4f} : {alone / trials:.4f}"
        yield Row(title, "width by people alone", [widths / alone], widest if limits else None, None, width)


def drawn(rng: np.random.Generator, number: int, share: float, bias: float) -> tuple[Floats, Floats]:
    """Values of queries by people and by a machine that shares so much of them with people."""
    common, own = rng.normal(size=number), rng.normal(size=number)
    machine = share * common + (1 - share**2) ** 0.5 * own
    return clipped(common), np.clip(clipped(machine) + bias, 0, 1)


def clipped(values: Floats) -> Floats:
    """As metrics are: from 0 to 1, with many queries at 0."""
    return np.clip(0.35 + 0.35 * values, 0, 1)


def expected() -> float:
    """The mean that `clipped` normal values have, by quadrature."""
    from scipy.integrate import quad
    from scipy.stats import norm

    return float(
        quad(lambda z: float(clipped(np.array([z]))[0]) * norm.pdf(z), -10, 10, limit=200, points=[-1, 1.857])[0]
    )


if __name__ == "__main__":
    sys.exit(main())
