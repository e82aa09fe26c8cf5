"""Time and p-values of a paired randomization test of runs, in Assay and in its peers.

    python benchmarks/side_by_side/flips.py {assay,scipy,ranx} [--queries N] [--runs N] [--permutations N] [--pairs N]

``assay`` tests all pairs of runs at once. A peer tests only the first of the sampled pairs, because it takes one pair
at a time. The sampled pairs are those whose p by Student's t is nearest to .05, .2 and .5. Prints JSON: the seconds
of the test alone, and the p of each sampled pair.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
SEED = 8_140_227
SAMPLED_AT = (0.05, 0.2, 0.5)


def scores(queries: int, runs: int) -> Scores:
    """Make nDCG-like scores, shape (queries, runs): hard and easy queries, systems that differ a little."""
    rng = np.random.default_rng([SEED, queries, runs])
    difficulty = rng.normal(0.0, 0.2, (queries, 1))
    # Smaller steps between systems where more queries would tell them apart.
    quality = 0.5 + np.linspace(-1, 1, runs) * 0.6 / np.sqrt(queries)
    return np.clip(quality + difficulty + rng.normal(0.0, 0.12, (queries, runs)), 0.0, 1.0)


def sampled(table: Scores, count: int) -> list[tuple[int, int]]:
    """Choose the pairs that a peer tests."""
    from scipy.stats import ttest_rel

    pairs = list(combinations(range(table.shape[1]), 2))
    first, second = np.array(pairs).T
    p_values = ttest_rel(table[:, first], table[:, second]).pvalue
    return [pairs[int(np.argmin(abs(p_values - wanted)))] for wanted in SAMPLED_AT[:count]]


def assay(table: Scores, pairs: list[tuple[int, int]], permutations: int) -> tuple[float, list[float]]:
    """Test all pairs; the p of the sampled ones are read from the answer."""
    from assay.significance.paired_differences import paired_p_values

    paired_p_values(table[:20, :4], permutations=100)
    began = time.perf_counter()
    p_values = paired_p_values(table, permutations=permutations, seed=1)
    seconds = time.perf_counter() - began
    at = {pair: number for number, pair in enumerate(combinations(range(table.shape[1]), 2))}
    return seconds, [float(p_values.values[at[pair]] or 0.0) for pair in pairs]


def scipy(table: Scores, pairs: list[tuple[int, int]], permutations: int) -> tuple[float, list[float]]:
    """Test with scipy.stats.permutation_test, which flips the same signs."""
    from scipy.stats import permutation_test

    def test(pair: tuple[int, int]) -> float:
        result = permutation_test(
            (table[:, pair[0]], table[:, pair[1]]),
            lambda a, b, axis: (a - b).mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=permutations,
            batch=max(1, 20_000_000 // len(table) // 10),
            rng=np.random.default_rng(2),
        )
        return float(result.pvalue)

    return _timed(test, pairs)


def ranx(table: Scores, pairs: list[tuple[int, int]], permutations: int) -> tuple[float, list[float]]:
    """Test with ranx's own function, compiled before the clock runs."""
    from ranx.statistical_tests import fisher_randomization_test

    columns = np.ascontiguousarray(table.T)
    fisher_randomization_test(columns[0], columns[1], 100, 0.01, 1)
    return _timed(
        lambda pair: float(fisher_randomization_test(columns[pair[0]], columns[pair[1]], permutations, 0.01, 1)[0]),
        pairs,
    )


def _timed(test: Callable[[tuple[int, int]], float], pairs: list[tuple[int, int]]) -> tuple[float, list[float]]:
    began = time.perf_counter()
    p_values = [test(pair) for pair in pairs]
    return time.perf_counter() - began, p_values


SIDES = {"assay": assay, "scipy": scipy, "ranx": ranx}


def main() -> None:
    """Test and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", choices=sorted(SIDES))
    for name, default in (("queries", 43), ("runs", 60), ("permutations", 100_000), ("pairs", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    table = scores(args.queries, args.runs)
    seconds, p_values = SIDES[args.side](table, sampled(table, args.pairs), args.permutations)
    print(json.dumps({"seconds": seconds, "p": p_values}))


if __name__ == "__main__":
    main()
