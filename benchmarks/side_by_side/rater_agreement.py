"""One side of the comparison of agreement: grades from a seed, computed again and again. Prints JSON.

python rater_agreement.py SIDE --pairs N --share X --queries N --raters N --reps N
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

GRADES = range(4)
Ints = Any


def drawn(pairs: int, share: float, raters: int) -> tuple[Ints, Ints, Ints]:
    """Unit, rater and grade of each row, in order of unit, then rater; one grade in four is a step off."""
    random = np.random.default_rng(7)
    truth = random.choice(4, pairs, p=[0.55, 0.2, 0.15, 0.1])
    if share >= 1:
        unit, rater = np.repeat(np.arange(pairs), raters), np.tile(np.arange(raters), pairs)
    else:
        twice = np.flatnonzero(random.random(pairs) < share)
        first = random.integers(0, raters, pairs)
        second = (first[twice] + random.integers(1, raters, len(twice))) % raters
        unit, rater = np.concatenate([np.arange(pairs), twice]), np.concatenate([first, second])
        order = np.lexsort((rater, unit))
        unit, rater = unit[order], rater[order]
    off = (random.random(len(unit)) < 0.25) * random.choice([-1, 1], len(unit))
    return unit, rater, np.clip(truth[unit] + off, 0, 3)


def report(args: argparse.Namespace) -> Callable[[], dict[str, float]]:
    """All our coefficients, without intervals."""
    from assay.coefficients.coefficient import GradeTable
    from assay.coefficients.report import agreement_report

    unit, rater, grade = drawn(args.pairs, args.share, args.raters)
    query = np.arange(args.pairs) * args.queries // args.pairs
    names = tuple(f"r{code}" for code in range(args.raters))
    table = GradeTable(names, tuple(f"q{code:06}" for code in range(args.queries)), unit, rater, grade, query)

    def values() -> dict[str, float]:
        agreement = agreement_report(table, GRADES, bootstrap=0)
        kappas = {f"{row.a}-{row.b}": row.quadratic.value for row in agreement.cohen}
        return {
            name: value for name, value in {**kappas, "alpha": agreement.ordinal.value}.items() if value is not None
        }

    return values


def bootstrap(args: argparse.Namespace) -> Callable[[], dict[str, float]]:
    """Our ordinal alpha with its interval."""
    from assay.coefficients import krippendorff_alpha

    unit, _, grade = drawn(args.pairs, args.share, args.raters)
    query = unit * args.queries // args.pairs

    def values() -> dict[str, float]:
        alpha = krippendorff_alpha(unit, grade, clusters=query, resamples=1_000)
        return {"alpha": alpha.value or 0.0, "low": alpha.low or 0.0}

    return values


def krippendorff(args: argparse.Namespace) -> Callable[[], dict[str, float]]:
    """The peer's ordinal alpha, of the raters x pairs matrix that it asks for."""
    import krippendorff as peer

    unit, rater, grade = drawn(args.pairs, args.share, args.raters)
    matrix = np.full((args.raters, args.pairs), np.nan)
    matrix[rater, unit] = grade
    return lambda: {"alpha": float(peer.alpha(matrix, level_of_measurement="ordinal", value_domain=list(GRADES)))}


def sklearn(args: argparse.Namespace) -> Callable[[], dict[str, float]]:
    """The peer's quadratic kappas, of the columns of every two raters."""
    from sklearn.metrics import cohen_kappa_score

    unit, rater, grade = drawn(args.pairs, args.share, args.raters)
    matrix = np.full((args.raters, args.pairs), -1)
    matrix[rater, unit] = grade
    columns = {}
    for a, b in combinations(range(args.raters), 2):
        both = (matrix[a] >= 0) & (matrix[b] >= 0)
        columns[f"r{a}-r{b}"] = matrix[a][both], matrix[b][both]

    def values() -> dict[str, float]:
        return {
            name: float(cohen_kappa_score(one, other, labels=list(GRADES), weights="quadratic"))
            for name, (one, other) in columns.items()
        }

    return values


def nothing(args: argparse.Namespace) -> Callable[[], dict[str, float]]:
    """The grades alone."""
    ratings = drawn(args.pairs, args.share, args.raters)
    return lambda: {"rows": float(len(ratings[0]))}


SIDES = {one.__name__: one for one in (report, bootstrap, krippendorff, sklearn, nothing)}


def main() -> None:
    """Compute again and again; tell the seconds of each time, and what was computed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=SIDES)
    for name in ("pairs", "queries", "raters", "reps"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--share", type=float, required=True)
    args = parser.parse_args()
    compute = SIDES[args.side](args)
    seconds: list[float] = []
    for _ in range(args.reps):
        began = time.perf_counter()
        values = compute()
        seconds.append(time.perf_counter() - began)
    print(json.dumps({"seconds": seconds, "values": values}))


if __name__ == "__main__":
    main()
