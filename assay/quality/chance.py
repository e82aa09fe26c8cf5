"""Probabilities for the checks: binomial tails, Wilson intervals, means clustered by query, t tests."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc, stdtr

from assay.quality.check import Floats, Ints, Z


def at_least(x: float, n: int, share: float) -> float:
    """Return P(Binomial(n, share) >= x).

    Examples
    --------
    >>> round(at_least(3, 4, 0.5), 4), at_least(0, 4, 0.5)
    (0.3125, 1.0)
    """
    return 1.0 if x <= 0 else 0.0 if x > n else float(betainc(x, n - x + 1, share))


def at_most(x: float, n: int, share: float) -> float:
    """Return P(Binomial(n, share) <= x)."""
    return at_least(n - x, n, 1 - share)


def wilson(x: float, n: int) -> tuple[float, float]:
    """Return the 95% interval of a share, after Wilson (1927).

    Examples
    --------
    >>> [round(end, 3) for end in wilson(40, 50)]
    [0.67, 0.888]
    """
    share, square = x / n, Z * Z / n
    middle = (share + square / 2) / (1 + square)
    half = Z / (1 + square) * math.sqrt(share * (1 - share) / n + square / (4 * n))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def mean_by_query(values: Floats, query: Ints) -> tuple[float, float, int]:
    """Return the mean, its standard error and the number of queries, clustered by query."""
    n = len(values)
    mean = float(values.mean())
    _, code = np.unique(query, return_inverse=True)
    sums = np.bincount(code, weights=values - mean)
    queries = len(sums)
    if queries < 2:
        return mean, math.inf, queries
    return mean, math.sqrt(queries / (queries - 1) * float(sums @ sums)) / n, queries


def beyond(difference: float, error: float, freedom: float) -> float:
    """Return P(T >= difference / error) for Student's t, the one-sided probability of a difference this large.

    Examples
    --------
    >>> round(beyond(2.0, 1.0, 10), 4), beyond(1.0, 0.0, 10), beyond(-1.0, 0.0, 10)
    (0.0367, 0.0, 1.0)
    """
    if error == 0:
        return 0.0 if difference > 0 else 1.0
    return float(stdtr(max(freedom, 1), -difference / error)) if math.isfinite(error) else 0.5
