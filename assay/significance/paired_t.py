"""Student's paired t test of the mean difference."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.significance.paired_differences import PairedScores, PairedTest, PValues, constant, lonely
from assay.significance.sign_flips import Floats, Whole


def paired_t(given: PairedScores) -> PValues:
    """Compute Student's paired t test, t = mean / se with se = sd / sqrt(n) and n - 1 degrees of freedom."""
    from scipy.special import stdtr

    freedom = len(given.scores) - len(given.strata)
    no_spread = lonely(given.strata)
    values: list[float | None] = []
    reasons: list[str | None] = []
    for pair in given.pairs:
        difference = given.difference(pair)
        error = standard_error(difference, given.weights, given.strata)
        reason = no_spread or constant(difference)
        reasons.append(reason)
        if reason is None and error > 0:
            mean = float((given.weights * difference).sum()) / len(difference)
            values.append(float(2 * stdtr(freedom, -abs(mean) / error)))
        else:
            values.append(None if reason else 1.0)
    return PValues(tuple(values), tuple(reasons))


def standard_error(difference: Floats, weights: Floats, strata: Sequence[Whole]) -> float:
    """Compute the standard error of a weighted mean of differences.

    Parameters
    ----------
    difference, weights : float64 array, shape (queries,)
        Differences and weights; weights sum to the number of queries.
    strata : sequence of int64 array
        The rows of each stratum.

    Returns
    -------
    float
        The square root of the sum over strata of n_h / (n_h - 1) sum((u - mean of u)^2), with u = w (d - mean) / n;
        this is sd / sqrt(n) when all weights are 1. Source: Särndal, Swensson and Wretman 1992, section 5.7.

    Examples
    --------
    >>> import numpy as np
    >>> spread = np.array([0.1, 0.3, 0.2, 0.6])
    >>> round(standard_error(spread, np.ones(4), [np.arange(4)]), 6) == round(float(spread.std(ddof=1)) / 2, 6)
    True
    """
    queries = len(difference)
    pulls = weights * (difference - (weights * difference).sum() / queries) / queries
    variance = 0.0
    for rows in strata:
        if len(rows) > 1:
            inside = pulls[rows] - pulls[rows].mean()
            variance += len(rows) / (len(rows) - 1) * float((inside**2).sum())
    return math.sqrt(variance)


PAIRED_T = PairedTest(
    name="t",
    title="Paired t",
    description="Assumes roughly normal differences, or many queries; uses a formula instead of random draws.",
    source="Student 1908",
    draws=False,
    compute=paired_t,
)
