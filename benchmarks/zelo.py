"""Time to compute scores of 1,000 documents from 4,000 pairwise comparisons, against the limit and zbench.

    python benchmarks/zelo.py [--reps N] [--quick]

Both sides use the same list of comparisons in this process, warmed up. Standard errors are timed separately, because
they are not needed to get the scores alone.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from side_by_side.rows import Row, options, print_table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from assay.llm.pairwise.battles import Battles
from assay.llm.pairwise.bradley_terry import fit, fit_as_zbench, standard_errors
from assay.llm.pairwise.score_fitting import draw_pairs

LIMIT, REPS = 0.015, 15


def main() -> int:
    """Measure."""
    cases = {"fit": fitted}
    return print_table(cases, options(__doc__, cases).parse_args())


def fitted(args: argparse.Namespace) -> Iterator[Row]:
    """Fit by Newton, by zbench's iteration, and tell how sure the scores are."""
    documents = 100 if args.quick else 1_000
    battles = simulated(documents)
    reps = args.reps or REPS
    title = f"scores, {documents:,} documents, {len(battles):,} battles"
    fit_result = fit(battles)
    ours, theirs = times(lambda: fit(battles), reps), times(lambda: fit_as_zbench(battles), reps)
    summary = f"{statistics.median(ours) * 1e3:.1f} ms, {fit_result.steps} steps, {reps}x"
    limit = None if args.quick else 1.0
    yield Row(title, f"the limit of {LIMIT * 1e3:.0f} ms", [one / LIMIT for one in ours], limit, None, summary)
    beside = f"{summary} : {statistics.median(theirs) * 1e3:.1f} ms"
    pairs = zip(ours, theirs, strict=True)
    yield Row(title, "zbench's iteration on the same edges", [one / other for one, other in pairs], None, None, beside)
    errors = times(lambda: standard_errors(battles, fit_result), max(3, reps // 5))
    alone = statistics.median(ours)
    yield Row(
        "their standard errors",
        "the fit",
        [one / alone for one in errors],
        None,
        None,
        f"{statistics.median(errors) * 1e3:.0f} ms",
    )


def simulated(documents: int) -> Battles:
    """Battles of documents of known worth, as models with noise answer them."""
    truth = np.random.default_rng(0).normal(0, 2, documents)
    pairs = np.array(draw_pairs(documents, 4, seed=1))
    noise = np.random.default_rng(2).logistic(0, 1, len(pairs))
    share = (np.tanh((truth[pairs[:, 1]] - truth[pairs[:, 0]] + noise) / 4) + 1) / 2
    return Battles(documents, pairs[:, 0], pairs[:, 1], share, np.ones(len(pairs)))


def times(act: Callable[[], object], reps: int) -> list[float]:
    """Wall seconds of each repetition, after one that warms up."""
    act()
    taken = []
    for _ in range(reps):
        began = time.perf_counter()
        act()
        taken.append(time.perf_counter() - began)
    return taken


if __name__ == "__main__":
    sys.exit(main())
