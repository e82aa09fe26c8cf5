"""Prediction-powered mean of a metric: people judged a few queries, a machine judged all of them.

People's values alone give an honest but wide interval; the machine's values alone give a narrow one around the wrong
number. This estimate takes the machine's mean and corrects it by the difference from people's values on the queries
that both judged. The weight of the machine is tuned on the same queries, so a machine that knows nothing costs
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.counted_nouns import amount
from assay.estimators.mean_estimate import LEVEL, Estimated, Interval

Floats = npt.NDArray[np.float64]

# Below this many queries that people judged, the interval is reported with a note.
FEW = 30


@dataclass(frozen=True, kw_only=True)
class Powered(Estimated):
    """A mean from few human and many machine values; its units are queries.

    Parameters
    ----------
    weight : float
        How much of the machine went in, from 0 (people alone) to 1 (the machine's mean, corrected).
    """

    weight: float


def powered_mean(
    human: npt.ArrayLike,
    machine: npt.ArrayLike,
    elsewhere: npt.ArrayLike,
    *,
    level: float = LEVEL,
    weight: float | None = None,
) -> Powered:
    """Estimate the mean of people's values from those on few queries and the machine's on many.

    Parameters
    ----------
    human, machine : float array, shape (queries,)
        The metric of each query that both judged, by human labels and by the machine's. These queries must be a
        random sample of all; a sample of the doubtful ones makes the interval wrong.
    elsewhere : float array, shape (others,)
        The metric by the machine's labels on the other queries.
    level : float
        Coverage of the interval.
    weight : float, optional
        How much of the machine goes in, 0 to 1; tuned on the data when None.

    Returns
    -------
    Powered
        ``weight * mean(elsewhere) + mean(human - weight * machine)``, the weight ``cov(human, machine) / ((1 + n/N)
        var(all machine))`` cut to [0, 1]. The unit is the query, which is what was sampled: values of pairs are to be
        averaged by query first. Source: Angelopoulos, Duchi and Zrnic 2023, PPI++. Its variance takes a tuned weight
        for a known one, which makes intervals on few queries too short; here each residual is divided by one minus its
        leverage, as the jackknife does (MacKinnon and White 1985, HC3), and the tuned weight costs a degree of freedom.

    Examples
    --------
    >>> found = powered_mean([0.2, 0.4, 0.9, 0.5], [0.3, 0.4, 0.8, 0.6], [0.5, 0.7, 0.6, 0.4, 0.3, 0.9])
    >>> round(found.estimate, 3), round(found.human_only.mean, 3), found.queries
    (0.537, 0.5, 4)
    """
    y, f, rest = (np.asarray(values, dtype=np.float64).ravel() for values in (human, machine, elsewhere))
    if len(y) != len(f):
        raise ValueError(
            f"{amount(len(y), 'human value')} and {amount(len(f), 'machine value')}; each query has one of both"
        )
    if not all(np.isfinite(values).all() for values in (y, f, rest)):
        return _undefined("not_finite", y, rest, level)
    if len(y) < 3:
        return _undefined("too_few_units", y, rest, level)
    tuned = weight is None
    share = _tuned(y, f, rest) if weight is None else min(1.0, max(0.0, weight))
    used = share if len(rest) else 0.0
    residuals = y - used * f
    mean = float(used * rest.mean() + residuals.mean()) if len(rest) else float(y.mean())
    variance, freedom = _variance(residuals, f, tuned=tuned and used > 0)
    if used:
        variance += used**2 * float(rest.var(ddof=1) if len(rest) > 1 else 0.0) / len(rest)
    half = quantile(level, freedom) * math.sqrt(variance)
    return Powered(
        estimate=mean,
        low=mean - half,
        high=mean + half,
        human_only=human_only(y, level),
        correlation=_correlation(y, f),
        queries=len(y),
        others=len(rest),
        level=level,
        weight=used,
    )


def human_only(values: npt.ArrayLike, level: float = LEVEL) -> Interval:
    """Return the mean of people's values alone, with Student's interval."""
    y = np.asarray(values, dtype=np.float64)
    half = quantile(level, len(y) - 1) * float(y.std(ddof=1)) / math.sqrt(len(y))
    mean = float(y.mean())
    return Interval(mean, mean - half, mean + half)


def queries_needed(
    half_width: float, deviation: float, correlation: float = 0.0, others: float = math.inf, level: float = LEVEL
) -> int:
    """Return how many queries people must judge for an interval of this half width.

    Parameters
    ----------
    half_width : float
        Half of the interval that is wanted, in the metric's unit.
    deviation : float
        Standard deviation of the metric over queries.
    correlation : float
        Of people's and the machine's values; 0 plans for people alone.
    others : float
        How many queries the machine judges beside them.
    level : float
        Coverage.

    Returns
    -------
    int
        Found step by step, since Student's quantile and the share of the machine depend on the answer.

    Examples
    --------
    >>> [queries_needed(0.05, 0.3, rho, 5000) for rho in (0.0, 0.5, 0.7)]
    [141, 107, 74]
    """
    if half_width <= 0 or deviation < 0:
        raise ValueError("the half width is above 0, and a standard deviation is not negative")
    number = float(FEW)
    for _ in range(100):
        student = quantile(level, max(number, 2.0) - 1)
        left = 1 - correlation**2 * (1.0 if math.isinf(others) else others / (number + others))
        following = max(2.0, (student * deviation / half_width) ** 2 * left)
        if abs(following - number) < 0.01:
            break
        number = following
    return math.ceil(number)


def _tuned(y: Floats, f: Floats, rest: Floats) -> float:
    """Return the weight under which the variance is least, were the variances known."""
    if not len(rest):
        return 0.0
    pooled = float(np.concatenate([f, rest]).var(ddof=1))
    if pooled < 1e-12:
        return 0.0
    covariance = float(((y - y.mean()) * (f - f.mean())).sum()) / (len(y) - 1)
    return min(1.0, max(0.0, covariance / ((1 + len(y) / len(rest)) * pooled)))


def _variance(residuals: Floats, f: Floats, *, tuned: bool) -> tuple[float, float]:
    """Of the mean of the residuals, and its degrees of freedom."""
    number = len(residuals)
    apart = f - f.mean()
    spread = float((apart**2).sum())
    if not tuned or spread < 1e-12:
        return float(residuals.var(ddof=1)) / number, number - 1
    left = 1 - (1 / number + apart**2 / spread)
    # A query that alone decides the weight has no residual to divide; it is taken as it is.
    scaled = (residuals - residuals.mean()) / np.where(left > 1e-9, left, 1.0)
    return float((scaled**2).sum()) / number**2, number - 2


def _correlation(y: Floats, f: Floats) -> float | None:
    if y.std() < 1e-12 or f.std() < 1e-12:
        return None
    return float(np.corrcoef(y, f)[0, 1])


def quantile(level: float, freedom: float) -> float:
    """Student's quantile for a two-sided interval of this coverage."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def _undefined(reason: str, y: Floats, rest: Floats, level: float) -> Powered:
    return Powered(queries=len(y), others=len(rest), level=level, reason=reason, weight=0.0)


def classic_parity(
    human: Sequence[float], machine: Sequence[float], elsewhere: Sequence[float], level: float
) -> Interval:
    """Return the estimate as ``ppi_py`` computes it: normal quantile, no correction for the tuned weight.

    Here so that numbers published with that package can be compared; its intervals are too short on few queries.
    """
    from scipy.special import ndtri

    y, f, rest = (np.asarray(values, dtype=np.float64) for values in (human, machine, elsewhere))
    pooled = float(np.concatenate([f, rest]).var(ddof=1))
    covariance = float(((y - y.mean()) * (f - f.mean())).mean())
    share = min(1.0, max(0.0, covariance / ((1 + len(y) / len(rest)) * pooled)))
    residuals = y - share * f
    mean = float(share * rest.mean() + residuals.mean())
    error = math.sqrt(share**2 * float(rest.var()) / len(rest) + float(residuals.var()) / len(y))
    half = float(ndtri((1 + level) / 2)) * error
    return Interval(mean, mean - half, mean + half)
