"""Cohen's kappa of two raters."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from assay.coefficients.coefficient import Agreement, Coefficient, Floats, Ints, Patterns, grade_codes, weight_matrix
from assay.coefficients.intervals import drawn, with_interval
from assay.core.errors import NotValid


def cohen_kappa(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    weights: str = "unweighted",
    *,
    values: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> Agreement:
    """Compute Cohen's kappa of two raters who graded the same units.

    Parameters
    ----------
    a, b : array, shape (units,)
        The grades of the two raters, unit by unit.
    weights : {"unweighted", "linear", "quadratic"}
        How much a near miss counts, by position on the scale.
    values : array, optional
        The scale; with weights, unused values change the result, so pass the whole scale.
    clusters : array, shape (units,), optional
        The query of each unit, for the interval.
    resamples, seed : int
        Number of resamples and seed of the bootstrap; 0 resamples for no interval.

    Returns
    -------
    Agreement
        (p_o - p_e) / (1 - p_e). Undefined with fewer than two units, or if both raters gave only the same grade. A
        single constant rater gives 0. Source: Cohen 1960 and 1968.

    Raises
    ------
    NotValid
        When the columns differ in length, a grade is not on the scale, or the weights are unknown.

    Examples
    --------
    >>> r01, r02 = [3, 1, 0, 2, 0], [3, 1, 1, 2, 0]
    >>> round(cohen_kappa(r01, r02).value, 4), round(cohen_kappa(r01, r02, "quadratic").value, 4)
    (0.7368, 0.918)
    """
    if weights not in WEIGHTED:
        raise NotValid(f"unknown weights {weights!r}; known: {', '.join(WEIGHTED)}")
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise NotValid(f"the two columns of grades must have the same length, not {first.shape} and {second.shape}")
    codes, scale = grade_codes(np.concatenate([first, second]), values)
    cells = codes[: len(first)] * max(len(scale), 1) + codes[len(first) :]
    return kappa_of_cells(WEIGHTED[weights], cells, scale, clusters, resamples=resamples, seed=seed)


def kappa_of_cells(
    coefficient: Coefficient,
    cells: Ints,
    scale: Floats,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = 0,
    seed: int = 0,
) -> Agreement:
    """Compute a kappa from the cell (grade of a, grade of b) of each unit, numbered row by row."""
    size = max(len(scale), 1)
    table = np.bincount(cells, minlength=size * size).astype(np.float64)
    basis = of_table(table.reshape(size, size))
    if basis.reason:
        return basis
    patterns = Patterns(np.eye(size * size), cells, table)
    sums = drawn(coefficient.parts(patterns.rows), patterns, clusters, resamples=resamples, seed=seed)
    return with_interval(basis, coefficient, sums, scale)


def of_table(table: Floats) -> Agreement:
    """Return the number of shared units, how often the raters agree, and why kappa is undefined, if so."""
    n, equal = int(table.sum()), float(np.trace(table))
    return Agreement(None, _degenerate(table), n, 2 * n, equal / n if n else None)


def _degenerate(table: Floats) -> str | None:
    if not table.sum():
        return "no_overlap"
    if table.max() == table.sum() == np.trace(table):
        return "one_category"
    return "too_few_units" if table.sum() < 2 else None


def _table(one_hot: Floats) -> Floats:
    return one_hot


def _kappa(weights: str, sums: Floats, values: Floats) -> Floats:
    size = len(values)
    table = sums.reshape(*sums.shape[:-1], size, size)
    total = table.sum(axis=(-2, -1))
    weight = weight_matrix(size, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = table / total[..., None, None]
        observed = (weight * share).sum(axis=(-2, -1))
        chance = share.sum(axis=-1)[..., :, None] * share.sum(axis=-2)[..., None, :]
        expected = (weight * chance).sum(axis=(-2, -1))
        kappa = (observed - expected) / (1 - expected)
    return np.where((total > 0) & (1 - expected > 1e-12), kappa, np.nan)


def _declare(weights: str) -> Coefficient:
    return Coefficient(
        name=f"cohen-{weights}",
        title=f"Cohen's kappa, {weights}",
        description="Agreement between two raters; quadratic weights suit a graded scale.",
        formula="(p_o - p_e) / (1 - p_e), p_o = sum w_ij p_ij, p_e = sum w_ij p_i. p_.j over the table of both raters.",
        source="Cohen 1960 (unweighted) and 1968 (weighted).",
        parts=_table,
        value=partial(_kappa, weights),
        raters="two",
    )


UNWEIGHTED, LINEAR, QUADRATIC = _declare("unweighted"), _declare("linear"), _declare("quadratic")
WEIGHTED = {"unweighted": UNWEIGHTED, "linear": LINEAR, "quadratic": QUADRATIC}
