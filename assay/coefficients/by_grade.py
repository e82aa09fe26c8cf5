"""Agreement within groups of pairs: by tier, by group of raters and by grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.coefficients.coefficient import Agreement, Floats, GradeTable, Patterns, grade_codes, percent_agreement
from assay.coefficients.intervals import Drawn, agreements, between, cluster_sums, drawn
from assay.coefficients.krippendorff import NOMINAL, ORDINAL
from assay.coefficients.rater_pairs import RaterPairs


@dataclass(frozen=True)
class GroupAgreement:
    """Agreement within one part of the queries."""

    name: str
    queries: int
    steps: float | None
    ordinal: Agreement

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "queries": self.queries,
            "n": self.ordinal.n,
            "percent_agreement": self.ordinal.percent_agreement,
            "steps_apart": self.steps,
            "alpha_ordinal": self.ordinal.as_json(),
        }


def by_tier(
    table: GradeTable,
    tiers: Sequence[str],
    values: Sequence[float],
    *,
    resamples: int = 0,
    seed: int = 0,
) -> list[GroupAgreement]:
    """Compute the agreement within each tier, or any other partition of the queries."""
    named = np.asarray(tiers, dtype=np.str_)
    groups = []
    for name in dict.fromkeys(tiers):
        if name:
            part = table.of_queries(np.flatnonzero(named == name))
            groups.append(_group(name, part, values, resamples, seed))
    return groups


def _group(name: str, table: GradeTable, values: Sequence[float], resamples: int, seed: int) -> GroupAgreement:
    codes, scale = grade_codes(table.grade, values)
    patterns = Patterns.of(table.unit, codes, table.units, len(scale))
    (ordinal,) = agreements([ORDINAL], patterns, scale, table.query, resamples=resamples, seed=seed)
    shared = patterns.shared()
    queries = len(np.unique(table.query[(patterns.ratings >= 2)[patterns.of_unit]]))
    return GroupAgreement(name, queries, _steps(shared.times @ ORDINAL.parts(shared.rows), len(scale)), ordinal)


def by_query(table: GradeTable, values: Sequence[float]) -> list[GroupAgreement]:
    """Compute the agreement within each query that has overlap, largest distance first."""
    codes, scale = grade_codes(table.grade, values)
    size = len(scale)
    patterns = Patterns.of(table.unit, codes, table.units, size)
    shared, has_overlap = patterns.shared(), (patterns.ratings >= 2)[patterns.of_unit]
    pairs = shared.ratings * (shared.ratings - 1)
    equal = (shared.rows * (shared.rows - 1)).sum(axis=1)
    parts = np.column_stack(
        [np.ones(len(pairs)), shared.ratings, equal, pairs, shared.rows, ORDINAL.parts(shared.rows)]
    )
    sums = cluster_sums(parts, shared.of_unit, table.query[has_overlap])
    present = np.flatnonzero(sums[:, 0]) if len(sums) else np.zeros(0, dtype=np.int64)
    alphas = ORDINAL.value(sums[present][:, 4 + size :], scale) if len(present) else np.zeros(0)
    rows = [
        _query(table.query_ids[code], sums[code], float(alpha), size)
        for code, alpha in zip(present.tolist(), alphas, strict=True)
    ]
    return sorted(rows, key=lambda row: (-(row.steps or 0.0), -row.ordinal.n, row.name.encode()))


def _query(name: str, sums: Floats, alpha: float, size: int) -> GroupAgreement:
    units, ratings, equal, pairs = sums[:4].tolist()
    basis = Agreement(None, None, int(units), int(ratings), equal / pairs)
    steps = _steps(sums[4 + size :], size)
    if (sums[4 : 4 + size] > 0).sum() < 2:
        return GroupAgreement(name, 1, steps, replace(basis, reason="one_category"))
    if units < 2:
        return GroupAgreement(name, 1, steps, replace(basis, reason="too_few_units"))
    return GroupAgreement(name, 1, steps, replace(basis, value=alpha))


def _steps(coincidences: Floats, size: int) -> float | None:
    total = float(coincidences.sum())
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).reshape(-1)
    return float(coincidences @ apart) / total if total else None


@dataclass(frozen=True)
class GradeAgreement:
    """Agreement on one grade."""

    grade: float
    n: int
    specific: Agreement
    one_or_other: Agreement

    def as_json(self) -> dict[str, Any]:
        return {
            "grade": int(self.grade) if self.grade == int(self.grade) else self.grade,
            "n": self.n,
            "specific": self.specific.as_json(),
            "alpha": self.one_or_other.as_json(),
        }


def by_grade(
    patterns: Patterns,
    values: Floats,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = 0,
    seed: int = 0,
) -> list[GradeAgreement]:
    """Compute the agreement on each grade, all from the same draws."""
    queries = None if clusters is None else np.asarray(clusters)
    shared = patterns.shared()
    where = None if queries is None else queries[(patterns.ratings >= 2)[patterns.of_unit]]
    parts = (
        np.column_stack([_parts(shared, place) for place in range(len(values))]) if len(values) else np.zeros((0, 0))
    )
    sums = drawn(parts, shared, where, resamples=resamples, seed=seed)
    basis = Agreement(
        None, None, int(shared.times.sum()), int(shared.times @ shared.ratings), percent_agreement(patterns)
    )
    return [
        _one(float(value), shared, basis, _columns(sums, place), place) for place, value in enumerate(values.tolist())
    ]


def _parts(shared: Patterns, place: int) -> Floats:
    given, ratings = shared.rows[:, place], shared.ratings
    either = np.column_stack([ratings - given, given])
    specific = np.column_stack([given * (given - 1), given * (ratings - 1)])
    return np.column_stack([specific, NOMINAL.parts(either)])


def _columns(sums: Drawn, place: int) -> Drawn:
    own = slice(6 * place, 6 * place + 6)
    return Drawn(sums.whole[own], sums.resampled[:, own])


def _one(grade: float, shared: Patterns, basis: Agreement, sums: Drawn, place: int) -> GradeAgreement:
    n = int(shared.times @ (shared.rows[:, place] > 0))
    if not basis.n:
        nothing = replace(basis, reason="no_overlap")
        return GradeAgreement(grade, n, nothing, nothing)
    specific = replace(basis, reason="one_category")
    if sums.whole[1] > 0:
        with np.errstate(divide="ignore", invalid="ignore"):
            specific = between(
                replace(basis, value=float(sums.whole[0] / sums.whole[1])), sums.resampled[:, 0] / sums.resampled[:, 1]
            )
    two = np.array([0.0, 1.0])
    value = float(NOMINAL.value(sums.whole[2:], two))
    if basis.n < 2 or np.isnan(value):
        reason = "too_few_units" if basis.n < 2 else "one_category"
        return GradeAgreement(grade, n, specific, replace(basis, reason=reason))
    either = between(replace(basis, value=value), np.asarray(NOMINAL.value(sums.resampled[:, 2:], two)))
    return GradeAgreement(grade, n, specific, either)


def confusion(pairs: RaterPairs, size: int) -> list[list[int]]:
    """Count how often two raters gave a unit each combination of grades, in either order."""
    tables = [pair.table for pair in pairs.pairs]
    table = np.asarray(sum(tables)) if tables else np.zeros((size, size))
    both = np.triu(table + table.T)
    both[np.diag_indices(size)] = np.diag(table)
    return [[int(cell) for cell in row] for row in both]
