"""Power of paired t tests: detectable differences, and the number of queries needed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.core.errors import NotValid
from assay.significance.paired_differences import LEAST_QUERIES

POWER = 0.80
ALPHA = 0.05
# Normal quantiles of a two-sided test at .05 and of a power of .80: 1.960 + 0.842.
RULE = 2.8
MOST_QUERIES = 10_000_000


@dataclass(frozen=True)
class QueriesNeeded:
    """Number of queries needed for a difference; ``queries`` is None exactly if ``reason`` is set."""

    queries: int | None
    reason: str | None = None


def detectable(sd: float, queries: int) -> float | None:
    """Compute the smallest true mean difference that this many queries detect with 80% probability at .05.

    Parameters
    ----------
    sd : float
        Standard deviation of the differences.
    queries : int
        Number of queries, at least 1.

    Returns
    -------
    float or None
        2.8 sd / sqrt(n), a rule for many queries; None if the differences do not vary.

    Examples
    --------
    >>> round(detectable(0.15, 50), 4)
    0.0594
    """
    return RULE * sd / math.sqrt(queries) if sd > 0 else None


def reach(sd: float, queries: int) -> float:
    """Compute the half-width of the 95% interval of a mean difference over this many queries.

    Parameters
    ----------
    sd : float
        Standard deviation of the differences.
    queries : int
        Number of queries, at least 2.

    Examples
    --------
    >>> round(reach(0.15, 50), 4)
    0.0426
    """
    from scipy.special import stdtrit

    return float(stdtrit(queries - 1, 1 - ALPHA / 2)) * sd / math.sqrt(queries)


def power(difference: float, sd: float, queries: int, alpha: float = ALPHA) -> float:
    """Compute the probability that a two-sided paired t test with this many queries detects a true difference.

    Parameters
    ----------
    difference, sd : float
        True mean of the differences and their standard deviation, above 0.
    queries : int
        Number of queries, at least 2.
    alpha : float
        Significance level.

    Returns
    -------
    float
        From the noncentral t distribution with n - 1 degrees of freedom and noncentrality |difference| sqrt(n) / sd.
        Source: Cohen 1988, chapter 2.

    Examples
    --------
    >>> round(power(0.5, 1.0, 34), 4)
    0.8078
    """
    from scipy.special import stdtrit

    limit = float(stdtrit(queries - 1, 1 - alpha / 2))
    apart = abs(difference) * math.sqrt(queries) / sd
    # The probability of detecting the difference, and of detecting it with the wrong sign.
    return 1 - _below(limit, queries - 1, apart) + _below(-limit, queries - 1, apart)


def _below(limit: float, freedom: int, apart: float) -> float:
    """Return the noncentral t distribution; scipy returns nan if it is too close to 0 to compute."""
    from scipy.special import nctdtr

    probability = float(nctdtr(freedom, apart, limit))
    return 0.0 if math.isnan(probability) else probability


def queries_needed(difference: float, sd: float, wanted: float = POWER, alpha: float = ALPHA) -> QueriesNeeded:
    """Compute how many queries detect a difference with a given probability.

    Parameters
    ----------
    difference, sd : float
        Mean of the differences and their standard deviation.
    wanted : float
        The probability, between 0 and 1.
    alpha : float
        Significance level, between 0 and 1.

    Returns
    -------
    QueriesNeeded
        The smallest number, at least 6 (the minimum for a test), with a `power` of at least ``wanted``. Undefined for a
        difference of 0, for differences that do not vary, and above ten million. An observed difference is itself
        uncertain: use the number to plan the next collection, not to judge this one.

    Raises
    ------
    NotValid
        When ``wanted`` or ``alpha`` is not between 0 and 1.

    Examples
    --------
    >>> queries_needed(0.06, 0.15).queries, round((2.8 * 0.15 / 0.06) ** 2)
    (52, 49)
    >>> queries_needed(0.0, 0.15).reason
    'the mean difference is 0, so no number of queries can detect it'
    """
    if not (0 < wanted < 1 and 0 < alpha < 1):
        raise NotValid(f"power is {wanted:g} and alpha is {alpha:g}; use numbers between 0 and 1, such as 0.8 and 0.05")
    if difference == 0:
        return QueriesNeeded(None, "the mean difference is 0, so no number of queries can detect it")
    if not sd > 0:
        return QueriesNeeded(None, "the differences do not vary, so the number of queries needed is undefined")
    ratio = sd / abs(difference)
    if ratio > math.sqrt(MOST_QUERIES) or power(difference, sd, MOST_QUERIES, alpha) < wanted:
        return QueriesNeeded(None, f"more than {MOST_QUERIES:,} queries would be needed to detect the difference")
    return QueriesNeeded(_fewest(difference, sd, wanted, alpha))


def _fewest(difference: float, sd: float, wanted: float, alpha: float) -> int:
    """Find the number by doubling and bisection, because power increases with the number of queries."""
    if power(difference, sd, LEAST_QUERIES, alpha) >= wanted:
        return LEAST_QUERIES
    low, high = LEAST_QUERIES, 2 * LEAST_QUERIES
    while power(difference, sd, high, alpha) < wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if power(difference, sd, middle, alpha) < wanted:
            low = middle
        else:
            high = middle
    return high
