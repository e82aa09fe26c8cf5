"""Stratified mean: machine values sort all units into strata, and people judge a few units of each stratum. The
machine only determines which units are similar: within a stratum only human values count, and each stratum is
weighted by its number of units. No machine value enters the mean, so the estimate is easy to explain and correct no
matter how bad the machine is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.estimators.prediction_powered import LEVEL, Estimated, Floats, Interval, human_only, paired_arrays, quantile

# Number of units judged by people per stratum; with fewer, the variance of each stratum is unreliable.
PER_STRATUM, MOST_STRATA = 12, 5
# Below two a stratum has no variance.
LEAST = 2


@dataclass(frozen=True)
class Stratum:
    """Units with similar machine values."""

    low: float
    high: float
    units: int
    judged: int
    mean: float


@dataclass(frozen=True, kw_only=True)
class Stratified(Estimated):
    """A mean over strata; the correlation is the square root of the share of human variance between strata."""

    strata: tuple[Stratum, ...] = ()
    merged: int = 0


def stratified_mean(
    human: npt.ArrayLike,
    machine: npt.ArrayLike,
    elsewhere: npt.ArrayLike,
    *,
    strata: int | None = None,
    level: float = LEVEL,
) -> Stratified:
    """Estimate the mean of human values by strata of machine values.

    Parameters
    ----------
    human, machine : float array, shape (queries,)
        The metric of each query that both judged. These queries must be a random sample of all queries.
    elsewhere : float array, shape (others,)
        The metric by machine labels on the other queries.
    strata : int, optional
        Number of strata, cut at quantiles of the machine values of all queries; if None, one for every 12 queries that
        people judged, at most 5. Equal values stay together.
    level : float
        Coverage of the interval.

    Returns
    -------
    Stratified
        ``sum W_h mean(y_h)`` with ``W_h`` the stratum's share of all queries. The variance is ``sum W_h^2 s_h^2 / n_h +
        sum W_h (mean_h - mean)^2 / N``: the second term is needed because the N queries are themselves a sample, as in
        the human-only interval. If all N are judged, it is Student's interval. Degrees of freedom by Satterthwaite.
        Source: Cochran 1977, Sampling Techniques, 5A.9 and 12.2.

    Examples
    --------
    >>> found = stratified_mean([0, 0.2, 0.8, 1], [0.1, 0.1, 0.9, 0.9], [0.1, 0.1, 0.1, 0.9], strata=2)
    >>> round(found.estimate, 3), [(one.units, one.judged) for one in found.strata]
    (0.4, [(5, 2), (3, 2)])
    """
    y, f, rest = paired_arrays(human, machine, elsewhere, "query")
    if strata is not None and strata < 1:
        raise ValueError("at least one stratum is needed")
    if not all(np.isfinite(values).all() for values in (y, f, rest)):
        return _undefined("not_finite", len(y), len(rest), level)
    if len(y) < 3:
        return _undefined("too_few_units", len(y), len(rest), level)
    every = np.concatenate([f, rest])
    wanted = strata or min(MOST_STRATA, max(1, len(y) // PER_STRATUM))
    cuts, merged = _cuts(every, f, wanted)
    return _over(y, np.searchsorted(cuts, f), every, np.searchsorted(cuts, every), merged, level)


def stratified_rate(
    relevant: npt.ArrayLike, grades: npt.ArrayLike, elsewhere: npt.ArrayLike, *, level: float = LEVEL
) -> Stratified:
    """Estimate the share of all pairs that people would consider relevant, by strata of machine grades."""
    y, f, rest = paired_arrays(relevant, grades, elsewhere, "pair")
    if len(y) < 3:
        return _undefined("too_few_units", len(y), len(rest), level)
    every = np.concatenate([f, rest])
    cuts, merged = _merged(np.unique(every)[:-1], every, f)
    return _over(y, np.searchsorted(cuts, f), every, np.searchsorted(cuts, every), merged, level, rate=True)


def _cuts(every: Floats, f: Floats, strata: int) -> tuple[Floats, int]:
    """Return the upper ends of all strata except the last, at quantiles of the machine values."""
    ends = np.quantile(every, np.arange(1, strata) / strata, method="inverted_cdf")
    ends = np.unique(ends)
    return _merged(ends[ends < every.max()], every, f)


def _merged(cuts: Floats, every: Floats, f: Floats) -> tuple[Floats, int]:
    """Return the ends without strata that have too few judged units, which are merged with the smaller neighbor."""
    remaining, merged = list(cuts), 0
    while remaining:
        judged = np.bincount(np.searchsorted(remaining, f), minlength=len(remaining) + 1)
        thin = int(judged.argmin())
        if judged[thin] >= LEAST:
            break
        units = np.bincount(np.searchsorted(remaining, every), minlength=len(remaining) + 1)
        down = thin == len(remaining) or (thin > 0 and units[thin - 1] <= units[thin + 1])
        remaining.pop(thin - 1 if down else thin)
        merged += 1
    return np.asarray(remaining, dtype=np.float64), merged


def _over(
    y: Floats,
    places: npt.NDArray[np.intp],
    every: Floats,
    all_places: npt.NDArray[np.intp],
    merged: int,
    level: float,
    *,
    rate: bool = False,
) -> Stratified:
    number = int(all_places.max()) + 1
    units, judged = (np.bincount(of, minlength=number) for of in (all_places, places))
    share = units / len(every)
    means = np.bincount(places, weights=y, minlength=number) / judged
    within = np.bincount(places, weights=(y - means[places]) ** 2, minlength=number) / (judged - 1)
    mean = float(share @ means)
    between = float(share @ (means - mean) ** 2)
    if rate:
        smooth = (means * judged + 0.5) / (judged + 1)
        parts = share**2 * smooth * (1 - smooth) / (judged - 1) * (1 - judged / units)
        variance = float(parts.sum())
        alone = _rate_alone(y, len(every), level)
    else:
        parts = share**2 * within / judged
        variance = float(parts.sum()) + between / len(every)
        alone = human_only(y, level)
    half = quantile(level, _freedom(parts, judged)) * math.sqrt(variance)
    whole = between + float(share @ within)
    low, high = (max(0.0, mean - half), min(1.0, mean + half)) if rate else (mean - half, mean + half)
    return Stratified(
        estimate=mean,
        low=low,
        high=high,
        human_only=alone,
        correlation=math.sqrt(between / whole) if whole > 1e-12 else None,
        queries=len(y),
        others=len(every) - len(y),
        level=level,
        strata=_result(every, all_places, units, judged, means),
        merged=merged,
    )


def _freedom(parts: Floats, judged: npt.NDArray[np.intp]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of variances, or those of all units if none varies."""
    squares = float((parts**2 / (judged - 1)).sum())
    most = float((judged - 1).sum())
    return min(most, float(parts.sum()) ** 2 / squares) if squares > 1e-24 else most


def _rate_alone(y: Floats, pairs: int, level: float) -> Interval:
    """Return the human-only share over exactly these pairs, limited to 0 to 1."""
    number, mean = len(y), float(y.mean())
    smooth = (float(y.sum()) + 0.5) / (number + 1)
    half = quantile(level, number - 1) * math.sqrt(smooth * (1 - smooth) / (number - 1) * (1 - number / pairs))
    return Interval(mean, max(0.0, mean - half), min(1.0, mean + half))


def _result(
    every: Floats,
    places: npt.NDArray[np.intp],
    units: npt.NDArray[np.intp],
    judged: npt.NDArray[np.intp],
    means: Floats,
) -> tuple[Stratum, ...]:
    inside = [every[places == at] for at in range(len(units))]
    return tuple(
        Stratum(float(values.min()), float(values.max()), int(units[at]), int(judged[at]), float(means[at]))
        for at, values in enumerate(inside)
    )


def _undefined(reason: str, queries: int, others: int, level: float) -> Stratified:
    return Stratified(queries=queries, others=others, level=level, reason=reason)
