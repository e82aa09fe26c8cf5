"""Agreement within each query and each tier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.coefficients.coefficient import Agreement, grade_codes
from assay.coefficients.grade_patterns import Floats, Patterns
from assay.coefficients.grade_table import GradeTable
from assay.coefficients.intervals import agreements
from assay.coefficients.krippendorff import ORDINAL
from assay.coefficients.resampling import cluster_sums


@dataclass(frozen=True)
class GroupAgreement:
    """Agreement within one part of the queries."""

    name: str
    queries: int
    steps: float | None
    ordinal: Agreement

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
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
