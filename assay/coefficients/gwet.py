"""Gwet's AC1 and AC2, for data in which one grade dominates.

Kappa and alpha fall toward 0 when one grade dominates, even if raters hardly ever differ; AC1 and AC2 do not.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from assay.coefficients.coefficient import Agreement, Coefficient, Floats, weight_matrix
from assay.coefficients.intervals import agreement_of
from assay.core.errors import NotValid


def gwet_ac(
    units: npt.ArrayLike,
    grades: npt.ArrayLike,
    weights: str = "unweighted",
    *,
    values: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> Agreement:
    """Compute Gwet's AC1 (unweighted) or AC2 (linear, quadratic) from grades in long form.

    Parameters
    ----------
    units, grades : array, shape (ratings,)
        The unit of each grade, and the grade. Units with a single grade still count for the grade frequencies.
    weights : {"unweighted", "linear", "quadratic"}
        Weights by position on the scale.
    values : array, optional
        The scale; unused values change the result, so pass the whole scale.
    clusters, resamples, seed
        As in `krippendorff_alpha`.

    Returns
    -------
    Agreement
        See `Agreement`. Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61, 29; weights:
        Gwet 2014, Handbook of Inter-Rater Reliability.

    Examples
    --------
    >>> round(gwet_ac([1, 1, 2, 2, 3, 3], [0, 0, 1, 1, 0, 1]).value, 4)
    0.3333
    """
    if weights not in WEIGHTED:
        raise NotValid(f"unknown weights {weights!r}; known: {', '.join(WEIGHTED)}")
    return agreement_of(WEIGHTED[weights], units, grades, values, clusters, resamples=resamples, seed=seed)


def _parts(weights: str, counts: Floats) -> Floats:
    ratings = counts.sum(axis=1)
    shared, rated = ratings >= 2, ratings >= 1
    near = counts @ weight_matrix(counts.shape[1], weights)
    pairs = np.where(shared, ratings * (ratings - 1), 1)
    agreed = np.where(shared, (counts * (near - 1)).sum(axis=1) / pairs, 0.0)
    return np.column_stack([agreed, shared, rated, counts / np.maximum(ratings, 1)[:, None]])


def _value(weights: str, sums: Floats, values: Floats) -> Floats:
    agreed, shared, rated, given = sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3:]
    size = len(values)
    spread = weight_matrix(size, weights).sum() / max(size * (size - 1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = given / rated[..., None]
        chance = spread * (share * (1 - share)).sum(axis=-1)
        coefficient = (agreed / shared - chance) / (1 - chance)
    return np.where((shared > 0) & (1 - chance > 1e-12), coefficient, np.nan)


def _declare(name: str, weights: str) -> Coefficient:
    return Coefficient(
        name=name,
        title=f"Gwet's {name.upper()}" + ("" if weights == "unweighted" else f", {weights} weights"),
        description="Agreement that stays meaningful when one grade dominates.",
        formula="(p_a - p_e) / (1 - p_e); p_e = sum(w) / (q(q-1)) * sum pi_k (1 - pi_k), q = grades on the scale, "
        "pi_k = mean share of grade k over all graded pairs.",
        source="Gwet 2008 and 2014.",
        parts=partial(_parts, weights),
        value=partial(_value, weights),
        singles=True,
    )


AC1 = _declare("ac1", "unweighted")
AC2 = _declare("ac2", "quadratic")
WEIGHTED = {"unweighted": AC1, "linear": _declare("ac2-linear", "linear"), "quadratic": AC2}
