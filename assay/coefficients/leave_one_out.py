"""Leave-one-out agreement: the coefficients of all raters but one.

Leaving out a rater takes one grade from each pair that the rater graded. The table of patterns is corrected for the
few patterns affected, so the grades of the other raters are not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.coefficients.coefficient import (
    Agreement,
    Coefficient,
    Floats,
    GradeTable,
    Ints,
    Patterns,
    distinct,
    grade_codes,
)
from assay.coefficients.intervals import agreements

# Without one of two raters, no pair of raters is left.
FEWEST = 3


@dataclass(frozen=True)
class WithoutRater:
    """Agreement of all raters but one."""

    rater: str
    coefficients: dict[str, Agreement]

    def as_json(self) -> dict[str, Any]:
        """Return the rater and each coefficient as in a report."""
        return {"rater": self.rater, "coefficients": {name: one.as_json() for name, one in self.coefficients.items()}}


def without_each(table: GradeTable, values: Sequence[float]) -> list[WithoutRater]:
    """Compute the coefficients of all raters but one, for each rater in turn.

    Parameters
    ----------
    table : GradeTable
        The grades, at most one per rater and unit.
    values : sequence of float
        The scale.

    Returns
    -------
    list of WithoutRater
        By rater; empty with fewer than three. Each coefficient equals that of `agreement_report` on the rows of the
        other raters.

    Raises
    ------
    NotValid
        When a grade is not on the scale.

    Examples
    --------
    >>> from assay.core.ratings import Ratings
    >>> grades = {"r01": [3, 1, 0, 2, 0], "r02": [3, 1, 1, 2, 0], "r03": [0, 3, 2, 0, 3]}
    >>> rows = [("q1", f"d{n}", rater, grade) for rater, of in grades.items() for n, grade in enumerate(of, 1)]
    >>> found = without_each(GradeTable.of(Ratings.from_rows(rows)), (0, 1, 2, 3))
    >>> [(one.rater, round(one.coefficients["alpha-ordinal"].value, 4)) for one in found][2]
    ('r03', 0.8955)
    """
    from assay.coefficients import COEFFICIENTS

    if len(table.raters) < FEWEST:
        return []
    codes, scale = grade_codes(table.grade, values)
    patterns = Patterns.of(table.unit, codes, table.units, len(scale))
    members = [COEFFICIENTS[name] for name in COEFFICIENTS if COEFFICIENTS[name].raters == "all"]
    given = _given(table, codes, patterns)
    return [
        WithoutRater(rater, _of_others(members, patterns, given[place], scale))
        for place, rater in enumerate(table.raters)
    ]


def _given(table: GradeTable, codes: Ints, patterns: Patterns) -> list[tuple[Ints, Ints, Ints]]:
    """Return the grades of each rater by unit pattern: (patterns, codes, times) per rater."""
    size, many = patterns.rows.shape[1], len(patterns.rows)
    below = len(table.raters) * many * size
    keys = (table.rater * many + patterns.of_unit[table.unit]) * size + codes
    distinct_keys, _, times = distinct(keys, below)
    starts = np.searchsorted(distinct_keys, np.arange(len(table.raters) + 1) * many * size)
    return [
        (distinct_keys[start:end] // size % many, distinct_keys[start:end] % size, times[start:end])
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]


def _of_others(
    members: Sequence[Coefficient], patterns: Patterns, given: tuple[Ints, Ints, Ints], scale: Floats
) -> dict[str, Agreement]:
    which, codes, times = given
    stay = patterns.times - np.bincount(which, weights=times, minlength=len(patterns.rows))
    changed = patterns.rows[which]
    changed[np.arange(len(which)), codes] -= 1
    rows, shown = np.concatenate([patterns.rows, changed]), np.concatenate([stay, times])
    usable = (shown > 0) & (rows.sum(axis=1) > 0)
    # Without resampling, the row of each unit does not matter.
    others = Patterns(rows[usable], np.zeros(0, dtype=np.int64), shown[usable])
    values = agreements(members, others, scale)
    return {member.name: one for member, one in zip(members, values, strict=True)}
