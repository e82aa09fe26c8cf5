"""Krippendorff's alpha of any number of raters, with missing grades allowed."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from assay.coefficients.coefficient import Agreement, Coefficient, Floats
from assay.coefficients.intervals import agreement_of
from assay.core.errors import NotValid


def krippendorff_alpha(
    units: npt.ArrayLike,
    grades: npt.ArrayLike,
    level: str = "ordinal",
    *,
    values: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> Agreement:
    """Compute Krippendorff's alpha from grades in long form.

    Parameters
    ----------
    units : array, shape (ratings,)
        The unit of each grade; any values that distinguish units.
    grades : array, shape (ratings,)
        The grades, as numbers.
    level : {"nominal", "ordinal", "interval", "ratio"}
        How differences between grades are weighted.
    values : array, optional
        The values of the scale, ascending; by default the grades that occur. Unused values do not change alpha.
    clusters : array, shape (ratings,), optional
        The query of each grade, for the interval.
    resamples, seed : int
        Number of resamples and seed of the bootstrap; 0 resamples for no interval.

    Returns
    -------
    Agreement
        alpha = 1 - D_o/D_e from the coincidence matrix. Units with a single grade are ignored. Undefined without
        overlap, if all overlapping grades are equal, or with a single unit. Source: Krippendorff 2011, "Computing
        Krippendorff's Alpha-Reliability".

    Raises
    ------
    NotValid
        When a grade is not on the scale or the level is unknown.

    Examples
    --------
    >>> pairs = [1, 2, 3, 4, 5] * 2
    >>> found = krippendorff_alpha(pairs, [3, 1, 0, 2, 0, 3, 1, 1, 2, 0])
    >>> round(found.value, 4), found.n
    (0.8955, 5)
    >>> krippendorff_alpha([1, 1, 2, 2], [0, 0, 0, 0]).reason
    'one_category'
    """
    if level not in LEVELS:
        raise NotValid(f"unknown level {level!r}; known: {', '.join(LEVELS)}")
    return agreement_of(LEVELS[level], units, grades, values, clusters, resamples=resamples, seed=seed)


def _coincidences(counts: Floats) -> Floats:
    share = counts / (counts.sum(axis=1, keepdims=True) - 1)
    table: Floats = counts[:, :, None] * share[:, None, :]
    place = np.arange(counts.shape[1])
    table[:, place, place] -= share
    return table.reshape(len(counts), counts.shape[1] ** 2)


def _alpha(level: str, sums: Floats, values: Floats) -> Floats:
    size = len(values)
    observed = sums.reshape(*sums.shape[:-1], size, size)
    totals = observed.sum(axis=-1)
    apart = _differences(level, totals, values)
    expected = (totals[..., :, None] * totals[..., None, :] * apart).sum(axis=(-2, -1))
    disagreement = (observed * apart).sum(axis=(-2, -1)) * (totals.sum(axis=-1) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - disagreement / expected, np.nan)


def _differences(level: str, totals: Floats, values: Floats) -> Floats:
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "ordinal":
        # Half of the own grade: the mid-rank, which depends on the given grades, not on the scale.
        places = np.cumsum(totals, axis=-1) - totals / 2
        return np.asarray((places[..., :, None] - places[..., None, :]) ** 2)
    apart = values[:, None] - values[None, :]
    if level == "interval":
        return apart**2
    sizes = values[:, None] + values[None, :]
    return np.asarray(np.where(sizes != 0, apart / np.where(sizes == 0, 1, sizes), 0.0) ** 2)


def _declare(level: str, difference: str) -> Coefficient:
    return Coefficient(
        name=f"alpha-{level}",
        title=f"Krippendorff's alpha, {level}",
        description="Agreement of any number of raters, with missing grades; report the ordinal level.",
        formula="1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck over the coincidence matrix o with row sums n_c; "
        f"d_ck = {difference}.",
        source="Krippendorff 2011.",
        parts=_coincidences,
        value=partial(_alpha, level),
    )


NOMINAL = _declare("nominal", "1 if the grades differ")
ORDINAL = _declare("ordinal", "squared difference of the mid-ranks of the two grades")
INTERVAL = _declare("interval", "squared difference of the two values")
RATIO = _declare("ratio", "squared difference of the two values over their sum")
LEVELS = {"nominal": NOMINAL, "ordinal": ORDINAL, "interval": INTERVAL, "ratio": RATIO}
