"""What is the mean of a metric over queries, and how far could another draw of queries have moved it?

All sums are exact (`math.fsum`) and therefore the same on every machine and in every order of queries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Column = npt.NDArray[np.float64]

LEAST_QUERIES = 10
# Two values of one metric on one query that differ by no more are equal: the rest is rounding.
TIE = 1e-9
BLOCK = 1_000_000


@dataclass(frozen=True)
class Interval:
    """A bootstrap interval; ``low`` and ``high`` are None exactly when ``reason`` is set."""

    low: float | None
    high: float | None
    reason: str | None = None


def mean(values: Sequence[float]) -> float | None:
    """Compute the plain mean; None for no values.

    Examples
    --------
    >>> mean([0.1] * 10)
    0.1
    """
    return math.fsum(values) / len(values) if values else None


def hajek_mean(values: Sequence[float], weights: Sequence[float]) -> float | None:
    """Compute the weighted mean sum(w/p m) / sum(w/p) of a sampled set of queries.

    Parameters
    ----------
    values : sequence of float
        The metric m of each query.
    weights : sequence of float
        For each query its share of traffic w divided by its inclusion probability p.

    Returns
    -------
    float or None
        None when the weights sum to 0. Source: Hájek 1971; Särndal, Swensson and Wretman 1992, section 5.7.

    Examples
    --------
    >>> hajek_mean([1.0, 0.0], [3.0, 1.0])
    0.75
    """
    total = math.fsum(weights)
    return math.fsum(w * m for w, m in zip(weights, values, strict=True)) / total if total > 0 else None


def effective_queries(weights: Sequence[float]) -> float | None:
    """Compute how many equally weighted queries would tell as much: (sum w)^2 / sum w^2.

    Examples
    --------
    >>> effective_queries([1.0, 1.0, 2.0])
    2.6666666666666665
    """
    squares = math.fsum(w * w for w in weights)
    return math.fsum(weights) ** 2 / squares if squares > 0 else None


def bootstrap_interval(
    values: Sequence[float],
    level: float = 0.95,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    weights: Sequence[float] | None = None,
    strata: Sequence[str] | None = None,
) -> Interval:
    """Compute the percentile bootstrap interval of a mean over queries.

    Parameters
    ----------
    values : sequence of float
        The metric of each query.
    level : float
        Coverage, between 0 and 1.
    resamples, seed : int
        How often queries are drawn with replacement, and from which seed. The same seed and number of queries give the
        same draws for every run and metric.
    weights : sequence of float, optional
        As in `hajek_mean`; the weighted mean is then recomputed in each resample.
    strata : sequence of str, optional
        The tier of each query; queries are then drawn inside their tier.

    Returns
    -------
    Interval
        No bounds below 10 queries: so few say nothing about a spread. Source: Efron 1979.

    Examples
    --------
    >>> bootstrap_interval([0.5, 0.7]).reason
    'fewer than 10 queries'
    >>> interval = bootstrap_interval([0.0, 1.0] * 20, resamples=1000, seed=1)
    >>> interval.low, interval.high
    (0.35, 0.65)
    """
    import numpy as np

    if len(values) < LEAST_QUERIES:
        return Interval(None, None, f"fewer than {LEAST_QUERIES} queries")
    column = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(column)) if weights is None else np.asarray(weights, dtype=np.float64)
    means = _resampled(column, weight, _groups(strata, len(column)), resamples, np.random.default_rng(seed))
    if not len(means):
        return Interval(None, None, "every resample has a weight of 0")
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def _groups(strata: Sequence[str] | None, size: int) -> list[npt.NDArray[np.int64]]:
    import numpy as np

    if strata is None:
        return [np.arange(size)]
    names = np.asarray(strata)
    return [np.flatnonzero(names == name) for name in sorted(set(strata))]


def _resampled(
    column: Column, weight: Column, groups: list[npt.NDArray[np.int64]], resamples: int, random: np.random.Generator
) -> Column:
    import numpy as np

    means, left = [], resamples
    while left:
        rows = min(left, max(1, BLOCK // len(column)))
        left -= rows
        drawn = np.concatenate([group[random.integers(0, len(group), (rows, len(group)))] for group in groups], axis=1)
        total = weight[drawn].sum(axis=1)
        sums = (weight * column)[drawn].sum(axis=1)
        means.append(sums[total > 0] / total[total > 0])
    return np.concatenate(means)
