"""How far could another draw of queries have moved a coefficient of agreement?

Queries are resampled, not pairs: pairs of one query are graded alike, and an interval over pairs would be too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from judgments.agreement.coefficient import (
    Agreement,
    Coefficient,
    Floats,
    Ints,
    degenerate,
    grade_codes,
    percent_agreement,
    unit_counts,
)

CONFIDENCE = 0.95
BLOCK = 100


def agreements(
    coefficients: Sequence[Coefficient],
    counts: Floats,
    values: Floats,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = 0,
    seed: int = 0,
) -> list[Agreement]:
    """Compute several coefficients of the same grades, all from the same resamples.

    Parameters
    ----------
    coefficients : sequence of Coefficient
        Those that take any number of raters.
    counts : array, shape (units, grades)
        How many raters gave each grade to each unit.
    values : array, shape (grades,)
        The values of the scale.
    clusters : array, shape (units,), optional
        The query of each unit; each unit is its own cluster by default.
    resamples, seed : int
        Of the bootstrap; 0 resamples give no interval.

    Returns
    -------
    list of Agreement
        One for each coefficient, by the contract of `Agreement`.
    """
    overlapping = counts.sum(axis=1) >= 2
    shared = counts[overlapping]
    queries = None if clusters is None else np.asarray(clusters)
    queries_shared = None if queries is None else queries[overlapping]
    basis = Agreement(None, None, len(shared), int(shared.sum()), percent_agreement(counts))
    found = []
    for coefficient in coefficients:
        reason = degenerate(counts, coefficient.equal_ratings)
        if reason is None:
            parts = coefficient.parts(counts if coefficient.singles else shared)
            value = float(coefficient.value(parts.sum(axis=0), values))
            of_parts = queries if coefficient.singles else queries_shared
            interval = bootstrap(coefficient, parts, values, of_parts, resamples=resamples, seed=seed)
            found.append(with_interval(replace(basis, value=value), interval))
        else:
            found.append(replace(basis, reason=reason))
    return found


def agreement_of(
    coefficient: Coefficient,
    units: npt.ArrayLike,
    grades: npt.ArrayLike,
    values: npt.ArrayLike | None,
    clusters: npt.ArrayLike | None,
    *,
    resamples: int,
    seed: int,
) -> Agreement:
    """Compute one coefficient from grades in long form: one row for each grade, with its unit and its cluster."""
    codes, scale = grade_codes(grades, values)
    counts, first = unit_counts(units, codes, scale)
    where = None if clusters is None else np.asarray(clusters)[first]
    return agreements([coefficient], counts, scale, where, resamples=resamples, seed=seed)[0]


def bootstrap(
    coefficient: Coefficient,
    parts: Floats,
    values: Floats,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int,
    seed: int,
) -> Floats:
    """Compute the coefficient in each resample of the clusters; NaN where it is undefined.

    With a single cluster its units are resampled instead: one query drawn again and again would look like certainty.

    Returns
    -------
    array, shape (resamples,)
        The same draws for the same seed and number of clusters, whatever the coefficient.
    """
    if not resamples:
        return np.zeros(0)
    sums = cluster_sums(parts, cluster_codes(clusters, len(parts)))
    draws = [coefficient.value(block, values) for block in resampled(sums, resamples, seed)]
    return np.concatenate(draws) if draws else np.zeros(0)


def cluster_codes(clusters: npt.ArrayLike | None, units: int) -> Ints:
    """Number the clusters; every unit is one where none are given or all units share one."""
    if clusters is None:
        return np.arange(units)
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1].astype(np.int64)
    return codes if len(codes) and codes.max() > 0 else np.arange(units)


def cluster_sums(parts: Floats, codes: Ints) -> Floats:
    """Add up the parts of each cluster."""
    sums = np.zeros((int(codes.max()) + 1 if len(codes) else 0, parts.shape[1]))
    np.add.at(sums, codes, parts)
    return sums


def resampled(sums: Floats, resamples: int, seed: int) -> list[Floats]:
    """Draw clusters with replacement, as many as there are, and add up their parts: blocks (draws, p)."""
    random = np.random.default_rng(seed)
    size = len(sums)
    even = np.full(size, 1 / max(size, 1))
    blocks = [min(BLOCK, resamples - done) for done in range(0, resamples, BLOCK)] if size else []
    return [random.multinomial(size, even, size=rows).astype(np.float64) @ sums for rows in blocks]


def with_interval(agreement: Agreement, draws: Floats) -> Agreement:
    """Add the percentile interval of the defined draws. Source: Efron 1979; clusters: Davison and Hinkley 1997, 3.8."""
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return replace(agreement, undefined_resamples=len(draws))
    low, high = np.quantile(defined, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return replace(agreement, low=float(low), high=float(high), undefined_resamples=len(draws) - len(defined))
