"""Power of paired t tests: detectable differences, and the queries needed to show one."""

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
    """How many queries a difference takes; ``queries`` is None exactly when ``reason`` is set."""

    queries: int | None
    reason: str | None = None


def detectable(sd: float, queries: int) -> float | None:
    """Compute the smallest true mean difference that so many queries show in four of five cases, at .05.

    Parameters
    ----------
    sd : float
        Standard deviation of the differences.
    queries : int
        How many, at least 1.

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
    """Compute how far the 95 % interval of a mean difference over so many queries goes to either side.

    Parameters
    ----------
    sd : float
        Standard deviation of the differences.
    queries : int
        How many, at least 2.

    Examples
    --------
    >>> round(reach(0.15, 50), 4)
    0.0426
    """
    from scipy.special import stdtrit

    return float(stdtrit(queries - 1, 1 - ALPHA / 2)) * sd / math.sqrt(queries)


def power(difference: float, sd: float, queries: int, alpha: float = ALPHA) -> float:
    """Compute the chance that a two-sided paired t test of so many queries shows a true difference.

    Parameters
    ----------
    difference, sd : float
        True mean of the differences and their standard deviation, above 0.
    queries : int
        How many, at least 2.
    alpha : float
        Below which p a difference counts as shown.

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
    # The chance to show the difference, and the one to show it with the wrong sign.
    return 1 - _below(limit, queries - 1, apart) + _below(-limit, queries - 1, apart)


def _below(limit: float, freedom: int, apart: float) -> float:
    """Return the noncentral t distribution; where it is too near to 0 to compute, scipy says nan."""
    from scipy.special import nctdtr

    probability = float(nctdtr(freedom, apart, limit))
    return 0.0 if math.isnan(probability) else probability


def queries_needed(difference: float, sd: float, wanted: float = POWER, alpha: float = ALPHA) -> QueriesNeeded:
    """Compute how many queries show a difference with a given chance.

    Parameters
    ----------
    difference, sd : float
        Mean of the differences and their standard deviation.
    wanted : float
        The chance, between 0 and 1.
    alpha : float
        Below which p a difference counts as shown, between 0 and 1.

    Returns
    -------
    QueriesNeeded
        The fewest, from 6 on (below there is no test), whose `power` is at least ``wanted``. Undefined for a difference
        of 0, for differences that do not vary, and above ten million. An observed difference is itself uncertain: what
        it needs is a plan for the next collection, not a verdict on this one.

    Raises
    ------
    NotValid
        When ``wanted`` or ``alpha`` is not between 0 and 1.

    Examples
    --------
    >>> queries_needed(0.06, 0.15).queries, round((2.8 * 0.15 / 0.06) ** 2)
    (52, 49)
    >>> queries_needed(0.0, 0.15).reason
    'the mean difference is 0: no number of queries shows it'
    """
    if not (0 < wanted < 1 and 0 < alpha < 1):
        raise NotValid(f"power {wanted:g} and alpha {alpha:g} must lie between 0 and 1, such as 0.8 and 0.05")
    if difference == 0:
        return QueriesNeeded(None, "the mean difference is 0: no number of queries shows it")
    if not sd > 0:
        return QueriesNeeded(None, "the differences do not vary: how many queries are needed is not defined")
    ratio = sd / abs(difference)
    if ratio > math.sqrt(MOST_QUERIES) or power(difference, sd, MOST_QUERIES, alpha) < wanted:
        return QueriesNeeded(None, f"more than {MOST_QUERIES:,} queries would be needed to see the difference")
    return QueriesNeeded(_fewest(difference, sd, wanted, alpha))


def _fewest(difference: float, sd: float, wanted: float, alpha: float) -> int:
    """Power grows with the queries: double until it is enough, then halve the gap."""
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
