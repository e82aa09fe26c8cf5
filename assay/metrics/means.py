"""Means of a metric over queries, unweighted and weighted, and how they are printed.

All sums are exact (`math.fsum`) and therefore the same on every machine and in every order of queries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

MeanKind = Literal["arithmetic", "geometric", "sum"]
"""How query values are combined: their mean, exp of the mean of their logarithms, or their sum."""

LEAST_QUERIES = 10
# Two values of a metric on a query that differ by at most this much are equal up to rounding.
TIE = 1e-9
# Minimum value of a query in a geometric mean, which a single 0 would otherwise make 0; trec_eval's choice.
GEOMETRIC_FLOOR = 1e-5


@dataclass(frozen=True)
class Interval:
    """An interval around a mean; ``low`` and ``high`` are None exactly when ``reason`` is set."""

    low: float | None
    high: float | None
    reason: str | None = None


def within(interval: Interval) -> Interval:
    """Limit an interval to 0..1, the range of the mean of a bounded metric.

    Examples
    --------
    >>> within(Interval(-0.2, 0.7))
    Interval(low=0.0, high=0.7, reason=None)
    """
    if interval.low is None or interval.high is None:
        return interval
    return Interval(max(0.0, interval.low), min(1.0, interval.high), interval.reason)


def mean(values: Sequence[float], kind: MeanKind = "arithmetic") -> float | None:
    """Compute the unweighted mean; None without values.

    Parameters
    ----------
    values : sequence of float
        The metric of each query.
    kind : {"arithmetic", "geometric", "sum"}
        ``geometric`` is exp(mean ln max(m, 1e-5)), trec_eval's GMAP; ``sum`` adds up counts.

    Examples
    --------
    >>> mean([0.1] * 3)
    0.1
    >>> round(mean([1.0, 0.0], "geometric"), 6)
    0.003162
    >>> mean([3.0, 4.0], "sum")
    7.0
    """
    if not values:
        return None
    if kind == "sum":
        return math.fsum(values)
    if kind == "geometric":
        return math.exp(_between(math.fsum(logs := _logs(values)) / len(logs), logs))
    return _between(math.fsum(values) / len(values), values)


def hajek_mean(values: Sequence[float], weights: Sequence[float], kind: MeanKind = "arithmetic") -> float | None:
    """Compute the weighted mean sum(w/p m) / sum(w/p) of a sampled set of queries.

    Parameters
    ----------
    values : sequence of float
        The metric m of each query.
    weights : sequence of float
        For each query its share of traffic w divided by its inclusion probability p.
    kind : {"arithmetic", "geometric", "sum"}
        As in `mean`. A sum has no weighted form.

    Returns
    -------
    float or None
        None when the weights sum to 0, and for a sum. Source: Hájek 1971; Särndal, Swensson and Wretman 1992,
        section 5.7.

    Examples
    --------
    >>> hajek_mean([1.0, 0.0], [3.0, 1.0])
    0.75
    """
    total = math.fsum(weights)
    if kind == "sum" or not total > 0:
        return None
    if kind == "geometric":
        return math.exp(_ratio(_logs(values), weights, total))
    return _ratio(values, weights, total)


def effective_queries(weights: Sequence[float]) -> float | None:
    """Compute the equivalent number of equally weighted queries: (sum w)^2 / sum w^2.

    Examples
    --------
    >>> effective_queries([1.0, 1.0, 2.0])
    2.6666666666666665
    """
    squares = math.fsum(w * w for w in weights)
    return math.fsum(weights) ** 2 / squares if squares > 0 else None


def printed(name: str, value: float | None) -> str:
    """Format the value of a metric with four decimals, of a count without decimals, ``-`` if undefined.

    Examples
    --------
    >>> printed("AP", 0.5), printed("NumRel(rel=2)", 561.0), printed("AP", None)
    ('0.5000', '561', '-')
    """
    return "-" if value is None else f"{value:.{0 if name.startswith('Num') else 4}f}"


def _ratio(values: Sequence[float], weights: Sequence[float], total: float) -> float:
    counted = [value for value, weight in zip(values, weights, strict=True) if weight > 0]
    return _between(math.fsum(w * m for w, m in zip(weights, values, strict=True)) / total, counted)


def _logs(values: Sequence[float]) -> list[float]:
    return [math.log(max(value, GEOMETRIC_FLOOR)) for value in values]


def _between(value: float, values: Sequence[float]) -> float:
    """Limit the mean to the range of the values, which rounding could exceed."""
    return min(max(value, min(values)), max(values))
