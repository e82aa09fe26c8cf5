"""Confidence intervals of the difference between two runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.metrics.metric import LEAST_QUERIES, Interval
from assay.scoring.intervals import resampled_means
from assay.significance.paired_differences import constant, lonely, scaled_weights, strata_rows
from assay.significance.paired_t import standard_error
from assay.significance.sign_flips import Floats, Pairs, Whole

LEVEL = 0.95
RESAMPLES = 10_000
METHODS = {
    "bootstrap": "the central share of the mean differences of resampled queries",
    "t": "mean difference and standard error with Student's t, as in the test t; no resampling",
}
# Number of pairs to process at a time.
PAIRS_AT_ONCE = 64


def difference_intervals(
    scores: Floats,
    pairs: Pairs,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    weights: Sequence[float] | None = None,
    strata: Sequence[str] | None = None,
    method: str = "bootstrap",
) -> list[Interval]:
    """Compute an interval of the mean difference, second run minus first, by the paired percentile bootstrap or t. All
    pairs share the resamples, so that the intervals are comparable. Unlike overlapping intervals of single runs, this
    interval shows whether two runs differ. A t interval of values between 0 and 1 is limited to -1 to 1, which a
    bootstrap interval never exceeds.

    Parameters
    ----------
    scores : float64 array, shape (queries, runs)
        A metric of each run on each query, without NaN.
    pairs : sequence of (int, int)
        Columns to compare.
    level : float
        Coverage, between 0 and 1.
    resamples, seed : int
        Number of resamples, and their seed.
    weights, strata : sequence, optional
        As in `paired_p_values`: the weighted mean is recomputed in each resample, and queries are drawn within their
        strata.
    method : {"bootstrap", "t"}
        A key of `METHODS`.

    Returns
    -------
    list of Interval
        An interval for each pair, without bounds if a stratum has a single query, for the bootstrap below 10 queries,
        and for t if the t test is undefined. Source: Efron 1979; Student 1908.

    Examples
    --------
    >>> scores = np.array([[0.0, 0.5]] * 12)
    >>> difference_intervals(scores, [(0, 1)], resamples=100)
    [Interval(low=0.5, high=0.5, reason=None)]
    """
    scale, rows = scaled_weights(weights, len(scores)), strata_rows(None if weights is None else strata, len(scores))
    if method == "t":
        return _by_t(scores, pairs, level, scale, rows)
    if len(scores) < LEAST_QUERIES:
        return [Interval(None, None, f"no interval with fewer than {LEAST_QUERIES} queries")] * len(pairs)
    if reason := lonely(rows):
        return [Interval(None, None, f"{reason}: no interval")] * len(pairs)
    centers = (scores * scale[:, None]).sum(axis=0) / len(scores)
    means = resampled_means(scores, centers, scale, rows, resamples=resamples, seed=seed)
    of_run = np.ascontiguousarray(means.T)
    intervals: list[Interval] = []
    for begin in range(0, len(pairs), PAIRS_AT_ONCE):
        part = np.asarray(pairs[begin : begin + PAIRS_AT_ONCE])
        ends = np.quantile(of_run[part[:, 1]] - of_run[part[:, 0]], [(1 - level) / 2, (1 + level) / 2], axis=1)
        intervals += [Interval(float(low), float(high)) for low, high in ends.T]
    return intervals


def _by_t(scores: Floats, pairs: Pairs, level: float, scale: Floats, rows: Sequence[Whole]) -> list[Interval]:
    """Return the mean difference plus and minus its standard error times Student's t, with the degrees of freedom of
    the test."""
    from scipy.special import stdtrit

    freedom, bounded = len(scores) - len(rows), bool(scores.min() >= 0 and scores.max() <= 1)
    intervals: list[Interval] = []
    if freedom < 1:
        return [Interval(None, None, "no interval, because a single query has no variance")] * len(pairs)
    for first, second in pairs:
        difference = scores[:, second] - scores[:, first]
        if reason := lonely(rows) or (constant(difference) if difference.any() else None):
            intervals.append(Interval(None, None, f"{reason}: no interval"))
            continue
        mean = float((scale * difference).sum()) / len(difference)
        reach = float(stdtrit(freedom, (1 + level) / 2)) * standard_error(difference, scale, rows)
        low, high = mean - reach, mean + reach
        intervals.append(Interval(max(low, -1.0), min(high, 1.0)) if bounded else Interval(low, high))
    return intervals
