"""Estimates for a whole log from a sample of its queries, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TrafficMean:
    """A mean over the traffic of a log, estimated from a sample."""

    mean: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    queries: int
    certain: int
    reason: str | None = None


def weighted_mean(
    values: Sequence[float],
    weights: Sequence[float],
    probabilities: Sequence[float],
    strata: Sequence[str] | None = None,
    level: float = 0.95,
) -> TrafficMean:
    """Estimate the mean of a metric over a log's traffic from a drawn sample.

    Examples
    --------
    Two of four randomly drawn queries represent all, with the textbook variance s^2 / n (1 - n / N).

    >>> found = weighted_mean([0.0, 1.0], [1, 1], [0.5, 0.5])
    >>> found.mean, round(found.standard_error ** 2, 6)
    (0.5, 0.125)

    A sample that is the whole log has no error.

    >>> weighted_mean([0.2, 0.4], [3, 1], [1, 1]).standard_error
    0.0
    """
    value, weight, probability = (np.asarray(of, dtype=np.float64) for of in (values, weights, probabilities))
    names = np.asarray(["" for _ in values] if strata is None else strata, dtype=np.str_)
    _check(value, weight, probability, names, level)
    certain = int(np.count_nonzero(probability == 1))
    expanded = weight / probability
    total = expanded.sum()
    if not total:
        return TrafficMean(None, None, None, None, len(value), certain, "no query with traffic was drawn")
    mean = float(expanded @ value / total)
    parts = [_spread(expanded, value - mean, probability, names == name, total) for name in np.unique(names)]
    if any(part is None for part in parts):
        reason = "a stratum has only one query, so its variance is unknown"
        return TrafficMean(mean, None, None, None, len(value), certain, reason)
    variances, freedom = zip(*(part for part in parts if part is not None), strict=True)
    error = math.sqrt(math.fsum(variances))
    reach = _quantile(level, sum(freedom)) * error if error else 0.0
    return TrafficMean(mean, error, mean - reach, mean + reach, len(value), certain)


def _check(value: Floats, weight: Floats, probability: Floats, names: npt.NDArray[np.str_], level: float) -> None:
    if not len(value) == len(weight) == len(probability) == len(names):
        raise NotValid(
            "The numbers of values, weights, probabilities and strata differ. Pass one of each for every query."
        )
    if not (np.isfinite(value).all() and np.isfinite(weight).all() and (weight >= 0).all()):
        raise NotValid("A value or weight is not a number, or is below 0. Leave out queries without a value.")
    if not ((probability > 0) & (probability <= 1)).all():
        raise NotValid("A probability is not in (0, 1]. Pass the inclusion probabilities of the draw.")
    if not 0 < level < 1:
        raise NotValid(f"The level is {level:g}. Use a number between 0 and 1, such as 0.95.")


def _spread(
    expanded: Floats, residual: Floats, probability: Floats, inside: npt.NDArray[np.bool_], total: float
) -> tuple[float, int] | None:
    """Return the variance contribution of a stratum and its degrees of freedom; None if unknown."""
    missable = inside & (probability < 1)
    number = int(np.count_nonzero(missable))
    if number < 2:
        return (0.0, 0) if not number else None
    share = 1 - probability[missable]
    moved = expanded[missable] * residual[missable] / total
    center = share @ moved / share.sum()
    return float(number / (number - 1) * (share @ (moved - center) ** 2)), number - 1


def _quantile(level: float, freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))
