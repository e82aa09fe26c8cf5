"""How far could another draw of queries have moved the difference between two runs?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.metrics.means import LEAST_QUERIES, Interval
from evaluation.significance.draws import Floats, resampled_counts

LEVEL = 0.95
RESAMPLES = 10_000


def difference_intervals(
    scores: Floats,
    pairs: Sequence[tuple[int, int]],
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Interval]:
    """Compute the paired percentile bootstrap interval of the mean difference, second run less first.

    The same resamples serve every pair, so that the intervals can be read side by side. Overlap of the intervals of two
    single runs decides nothing; this one does. Bounds are not cut.

    Parameters
    ----------
    scores : float64 array, shape (queries, runs)
        One metric of each run on each query, without NaN.
    pairs : sequence of (int, int)
        Columns to compare.
    level : float
        Coverage, between 0 and 1.
    resamples, seed : int
        How often queries are drawn again, and from which seed.

    Returns
    -------
    list of Interval
        One for each pair; no bounds below 10 queries. Source: Efron 1979.

    Examples
    --------
    >>> scores = np.array([[0.0, 0.5]] * 12)
    >>> difference_intervals(scores, [(0, 1)], resamples=100)
    [Interval(low=0.5, high=0.5, reason=None)]
    """
    queries = len(scores)
    if queries < LEAST_QUERIES:
        return [Interval(None, None, f"fewer than {LEAST_QUERIES} queries: no interval")] * len(pairs)
    blocks = [counts @ scores for counts in resampled_counts(queries, resamples, seed)]
    means = np.ascontiguousarray(np.concatenate(blocks).T) / queries
    ends = [(1 - level) / 2, (1 + level) / 2]
    found = []
    for first, second in pairs:
        low, high = np.quantile(means[second] - means[first], ends)
        found.append(Interval(float(low), float(high)))
    return found
