"""Agreement on each single grade, and the confusion counts between grades."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.coefficients.coefficient import Agreement, percent_agreement
from assay.coefficients.grade_patterns import Floats, Patterns
from assay.coefficients.intervals import Drawn, between, drawn
from assay.coefficients.krippendorff import NOMINAL
from assay.coefficients.rater_pairs import RaterPairs


@dataclass(frozen=True)
class GradeAgreement:
    """Agreement on one grade."""

    grade: float
    n: int
    specific: Agreement
    one_or_other: Agreement

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
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
