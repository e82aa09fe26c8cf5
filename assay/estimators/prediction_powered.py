"""Prediction-powered mean of a metric for which people judged a few queries and a machine judged all queries. Human
values alone give a valid but wide interval; machine values alone give a narrow interval around the wrong number. This
estimate corrects the machine's mean by its difference from the human values on the queries that both judged. The weight
of the machine is tuned on the same queries, so an uninformative machine does no harm.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from assay.core.text_rules import amount

LEVEL = 0.95
REASONS = {
    "too_few_units": "undefined because people judged fewer than three queries",
    "not_finite": "undefined because a value is missing or not finite",
}


class Interval(NamedTuple):
    """A mean with its interval."""

    mean: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """Return the width of the interval."""
        return self.high - self.low


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """A mean with its interval, and the human-only mean."""

    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    human_only: Interval | None = None
    correlation: float | None = None
    queries: int
    others: int
    level: float = LEVEL
    reason: str | None = None

    def within_bounds(self) -> Self:
        """Return the estimate limited to 0 to 1, which does not reduce the coverage."""
        if self.estimate is None or self.low is None or self.high is None or self.human_only is None:
            return self
        estimate, low, high = (min(1.0, max(0.0, value)) for value in (self.estimate, self.low, self.high))
        alone = Interval(*(min(1.0, max(0.0, value)) for value in self.human_only))
        return replace(self, estimate=estimate, low=low, high=high, human_only=alone)

    @property
    def width_ratio(self) -> float | None:
        """Return the width of the interval relative to the human-only interval; below 1, the machine helped."""
        if self.low is None or self.high is None or self.human_only is None or not self.human_only.width:
            return None
        return (self.high - self.low) / self.human_only.width

    @property
    def queries_saved(self) -> int | None:
        """Return how many more units people would have to judge for an interval of the same width."""
        ratio = self.width_ratio
        return None if ratio is None or ratio <= 0 else max(0, round(self.queries / ratio**2) - self.queries)

    def as_json(self) -> dict[str, Any]:
        """Return the content of ``assay estimate --format json``, also with ``--method stratified``."""
        human = None if self.human_only is None else self.human_only._asdict()
        return {**asdict(self), "human_only": human, "width_ratio": self.width_ratio, "saved": self.queries_saved}


Floats = npt.NDArray[np.float64]

# Below this many queries that people judged, the interval is reported with a note.
FEW = 30


@dataclass(frozen=True, kw_only=True)
class Powered(Estimated):
    """A mean from few human and many machine values, with queries as units."""

    weight: float


def powered_mean(
    human: npt.ArrayLike,
    machine: npt.ArrayLike,
    elsewhere: npt.ArrayLike,
    *,
    level: float = LEVEL,
    weight: float | None = None,
) -> Powered:
    """Estimate the mean of human values from human values on few queries and machine values on many.

    Parameters
    ----------
    human, machine : float array, shape (queries,)
        The metric of each query that both judged, by human and by machine labels. These queries must be a random sample
        of all queries; a sample of doubtful queries makes the interval wrong.
    elsewhere : float array, shape (others,)
        The metric by machine labels on the other queries.
    level : float
        Coverage of the interval.
    weight : float, optional
        Weight of the machine, 0 to 1; tuned on the data if None.

    Returns
    -------
    Powered
        ``weight * mean(elsewhere) + mean(human - weight * machine)``, the weight ``cov(human, machine) / ((1 + n/N)
        var(all machine))`` cut to [0, 1]. The unit is the query, because queries were sampled: average the values of
        pairs by query first. Source: Angelopoulos, Duchi and Zrnic 2023, PPI++. Its variance treats the tuned weight as
        known, which makes intervals on few queries too short; here each residual is divided by one minus its leverage,
        as the jackknife does (MacKinnon and White 1985, HC3), and the tuned weight costs a degree of freedom.

    Examples
    --------
    >>> found = powered_mean([0.2, 0.4, 0.9, 0.5], [0.3, 0.4, 0.8, 0.6], [0.5, 0.7, 0.6, 0.4, 0.3, 0.9])
    >>> round(found.estimate, 3), round(found.human_only.mean, 3), found.queries
    (0.537, 0.5, 4)
    """
    y, f, rest = paired_arrays(human, machine, elsewhere, "query")
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
    """Return the mean of the human values alone, with Student's interval."""
    y = np.asarray(values, dtype=np.float64)
    half = quantile(level, len(y) - 1) * float(y.std(ddof=1)) / math.sqrt(len(y))
    mean = float(y.mean())
    return Interval(mean, mean - half, mean + half)


def queries_needed(
    half_width: float, deviation: float, correlation: float = 0.0, others: float = math.inf, level: float = LEVEL
) -> int:
    """Return how many queries people must judge for an interval of this half-width.

    Parameters
    ----------
    half_width : float
        Half-width of the desired interval, in the metric's unit.
    deviation : float
        Standard deviation of the metric over queries.
    correlation : float
        Correlation of human and machine values; 0 plans for human values alone.
    others : float
        Number of other queries that the machine judges.
    level : float
        Coverage.

    Returns
    -------
    int
        Found iteratively, because Student's quantile and the share of the machine depend on the result.

    Examples
    --------
    >>> [queries_needed(0.05, 0.3, rho, 5000) for rho in (0.0, 0.5, 0.7)]
    [141, 107, 74]
    """
    if half_width <= 0 or deviation < 0:
        raise ValueError("the half-width must be above 0 and the standard deviations must not be negative")
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
    """Return the weight that minimizes the variance, treating the variances as known."""
    if not len(rest):
        return 0.0
    pooled = float(np.concatenate([f, rest]).var(ddof=1))
    if pooled < 1e-12:
        return 0.0
    covariance = float(((y - y.mean()) * (f - f.mean())).sum()) / (len(y) - 1)
    return min(1.0, max(0.0, covariance / ((1 + len(y) / len(rest)) * pooled)))


def _variance(residuals: Floats, f: Floats, *, tuned: bool) -> tuple[float, float]:
    """Return the variance of the mean of the residuals, and its degrees of freedom."""
    number = len(residuals)
    apart = f - f.mean()
    spread = float((apart**2).sum())
    if not tuned or spread < 1e-12:
        return float(residuals.var(ddof=1)) / number, number - 1
    left = 1 - (1 / number + apart**2 / spread)
    # The residual of a query that alone determines the weight is not divided.
    scaled = (residuals - residuals.mean()) / np.where(left > 1e-9, left, 1.0)
    return float((scaled**2).sum()) / number**2, number - 2


def _correlation(y: Floats, f: Floats) -> float | None:
    if y.std() < 1e-12 or f.std() < 1e-12:
        return None
    return float(np.corrcoef(y, f)[0, 1])


def paired_arrays(
    human: npt.ArrayLike, machine: npt.ArrayLike, elsewhere: npt.ArrayLike, unit: str
) -> tuple[Floats, Floats, Floats]:
    """Return the values as flat arrays, the first two of equal length."""
    y, f, rest = (np.asarray(values, dtype=np.float64).ravel() for values in (human, machine, elsewhere))
    if len(y) != len(f):
        raise ValueError(
            f"{amount(len(y), 'human value')} and {amount(len(f), 'machine value')}; each {unit} needs one of each"
        )
    return y, f, rest


def quantile(level: float, freedom: float) -> float:
    """Return Student's quantile for a two-sided interval of this coverage."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def _undefined(reason: str, y: Floats, rest: Floats, level: float) -> Powered:
    return Powered(queries=len(y), others=len(rest), level=level, reason=reason, weight=0.0)
