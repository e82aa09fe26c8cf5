"""Fleiss' kappa of several raters, if every pair has the same number of grades."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.coefficients.coefficient import Agreement, Coefficient, Floats
from assay.coefficients.intervals import agreement_of


def fleiss_kappa(
    units: npt.ArrayLike,
    grades: npt.ArrayLike,
    *,
    values: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> Agreement:
    """Compute Fleiss' kappa from grades in long form.

    Parameters
    ----------
    units, grades : array, shape (ratings,)
        The unit of each grade, and the grade. Units with a single grade are left out.
    values, clusters, resamples, seed
        As in `krippendorff_alpha`.

    Returns
    -------
    Agreement
        Undefined, with reason ``unequal_ratings``, if the number of grades differs between units. Nominal: all
        disagreements count equally. Source: Fleiss 1971, Psychological Bulletin 76, 378.

    Examples
    --------
    >>> round(fleiss_kappa([1, 1, 2, 2, 3, 3], [0, 0, 1, 1, 0, 1]).value, 4)
    0.3333
    >>> fleiss_kappa([1, 1, 2, 2, 2], [0, 1, 1, 1, 0]).reason
    'unequal_ratings'
    """
    return agreement_of(FLEISS, units, grades, values, clusters, resamples=resamples, seed=seed)


def _parts(counts: Floats) -> Floats:
    ratings = counts.sum(axis=1)
    equal = (counts * (counts - 1)).sum(axis=1) / (ratings * (ratings - 1))
    return np.column_stack([equal, np.ones(len(counts)), counts])


def _value(sums: Floats, values: Floats) -> Floats:
    equal, units, given = sums[..., 0], sums[..., 1], sums[..., 2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = ((given / given.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
        kappa = (equal / units - chance) / (1 - chance)
    return np.where((units > 0) & (1 - chance > 1e-12), kappa, np.nan)


FLEISS = Coefficient(
    name="fleiss",
    title="Fleiss' kappa",
    description="Agreement for a fixed number of grades per pair; grades are unordered categories.",
    formula="(mean P_u - sum p_k^2) / (1 - sum p_k^2); P_u = sum C(C-1) / (m(m-1)), p_k = share of grade k.",
    source="Fleiss 1971.",
    parts=_parts,
    value=_value,
    equal_ratings=True,
)
