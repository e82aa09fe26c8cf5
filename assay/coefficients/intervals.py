"""Bootstrap intervals of agreement coefficients, from draws of queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.coefficients.coefficient import Agreement, Coefficient, degenerate, grade_codes, percent_agreement
from assay.coefficients.grade_patterns import Floats, Ints, Patterns
from assay.coefficients.resampling import cluster_codes, cluster_sums, redrawn, resampled

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Drawn:
    """Sums over all units and over each draw, sufficient for every coefficient with the same parts."""

    whole: Floats
    resampled: Floats


def drawn(
    parts: Floats, patterns: Patterns, clusters: npt.ArrayLike | None = None, *, resamples: int, seed: int
) -> Drawn:
    """Sum the parts of all units, and of the units of each draw of the clusters."""
    whole = patterns.times @ parts
    if not resamples:
        return Drawn(whole, np.zeros((0, parts.shape[1])))
    codes = cluster_codes(clusters)
    if codes is None:
        return Drawn(whole, redrawn(parts, patterns.times, resamples, seed))
    return Drawn(whole, resampled(cluster_sums(parts, patterns.of_unit, codes), resamples, seed))


def agreements(
    coefficients: Sequence[Coefficient],
    patterns: Patterns,
    values: Floats,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = 0,
    seed: int = 0,
) -> list[Agreement]:
    """Compute several coefficients of the same grades, all from the same draws."""
    queries = None if clusters is None else np.asarray(clusters)
    shared = patterns.shared()
    of_shared = None if queries is None else queries[(patterns.ratings >= 2)[patterns.of_unit]]
    basis = Agreement(
        None, None, int(shared.times.sum()), int(shared.times @ shared.ratings), percent_agreement(patterns)
    )
    known: dict[tuple[Callable[[Floats], Floats], bool], Drawn] = {}
    estimates = []
    for coefficient in coefficients:
        reason = degenerate(patterns, coefficient.equal_ratings)
        if reason is not None:
            estimates.append(replace(basis, reason=reason))
            continue
        key = (coefficient.parts, coefficient.singles)
        if key not in known:
            of, where = (patterns, queries) if coefficient.singles else (shared, of_shared)
            known[key] = drawn(coefficient.parts(of.rows), of, where, resamples=resamples, seed=seed)
        estimates.append(with_interval(basis, coefficient, known[key], values))
    return estimates


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
    """Compute a coefficient from grades in long form: a row for each grade, with its unit and cluster."""
    codes, scale = grade_codes(grades, values)
    unit, first = numbered(units)
    patterns = Patterns.of(unit, codes, len(first), max(len(scale), 1))
    where = None if clusters is None else np.asarray(clusters)[first]
    return agreements([coefficient], patterns, scale, where, resamples=resamples, seed=seed)[0]


def numbered(units: npt.ArrayLike) -> tuple[Ints, Ints]:
    """Number the units in ascending order: the number of each row, and the first row of each unit.

    Examples
    --------
    >>> [one.tolist() for one in numbered(["b", "a", "b"])]
    [[1, 0, 1], [1, 0]]
    """
    given = np.asarray(units)
    if given.ndim == 1 and len(given) and given.dtype.kind in "iu" and (np.diff(given) >= 0).all():
        starts = np.concatenate([[True], given[1:] != given[:-1]])
        return np.cumsum(starts) - 1, np.flatnonzero(starts)
    _, first, unit = np.unique(given, return_index=True, return_inverse=True)
    return unit.astype(np.int64), first.astype(np.int64)


def with_interval(basis: Agreement, coefficient: Coefficient, sums: Drawn, values: Floats) -> Agreement:
    """Compute the value and its percentile interval over the draws in which it is defined."""
    value = float(coefficient.value(sums.whole, values))
    return between(replace(basis, value=value), coefficient.value(sums.resampled, values))


def between(agreement: Agreement, values: Floats) -> Agreement:
    """Add the percentile interval over the draws; undefined draws are counted and left out."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return replace(agreement, undefined_resamples=len(values))
    low, high = np.quantile(defined, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return replace(agreement, low=float(low), high=float(high), undefined_resamples=len(values) - len(defined))
