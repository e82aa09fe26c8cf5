"""Leave-one-out agreement: the coefficients of all raters but one.

Leaving out a rater takes one grade from each pair that the rater graded. The table of patterns is corrected for the
few patterns affected, so the grades of the other raters are not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgments.agreement.coefficient import Agreement, Coefficient, grade_codes
from judgments.agreement.intervals import agreements
from judgments.agreement.patterns import Floats, Ints, Patterns, distinct
from judgments.agreement.table import GradeTable

# With two raters nobody is left to agree with.
FEWEST = 3


@dataclass(frozen=True)
class WithoutRater:
    """The agreement of all but one.

    Parameters
    ----------
    rater : str
        Who is left out.
    coefficients : dict of str to Agreement
        Those that take any number of raters, by name, without an interval.
    """

    rater: str
    coefficients: dict[str, Agreement]

    def as_json(self) -> dict[str, Any]:
        """Return the rater, and each coefficient as in a report."""
        return {"rater": self.rater, "coefficients": {name: one.as_json() for name, one in self.coefficients.items()}}


def without_each(table: GradeTable, values: Sequence[float]) -> list[WithoutRater]:
    """Compute the coefficients of all raters but one, for each rater in turn.

    Parameters
    ----------
    table : GradeTable
        The grades; a rater gives a unit at most one.
    values : sequence of float
        The scale.

    Returns
    -------
    list of WithoutRater
        By rater; empty with fewer than three. A coefficient is that of `agreement_report` on the rows of the others.

    Raises
    ------
    NotValid
        When a grade is not on the scale.

    Examples
    --------
    >>> from judgments.core.ratings import Ratings
    >>> grades = {"r01": [3, 1, 0, 2, 0], "r02": [3, 1, 1, 2, 0], "r03": [0, 3, 2, 0, 3]}
    >>> rows = [("q1", f"d{n}", rater, grade) for rater, of in grades.items() for n, grade in enumerate(of, 1)]
    >>> found = without_each(GradeTable.of(Ratings.from_rows(rows)), (0, 1, 2, 3))
    >>> [(one.rater, round(one.coefficients["alpha-ordinal"].value, 4)) for one in found][2]
    ('r03', 0.8955)
    """
    from judgments.agreement import COEFFICIENTS

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
    """What each rater gave to units of which pattern, and how often: (patterns, codes, times) by rater."""
    size, many = patterns.rows.shape[1], len(patterns.rows)
    below = len(table.raters) * many * size
    keys = (table.rater * many + patterns.of_unit[table.unit]) * size + codes
    found, _, times = distinct(keys, below)
    starts = np.searchsorted(found, np.arange(len(table.raters) + 1) * many * size)
    return [
        (found[start:end] // size % many, found[start:end] % size, times[start:end])
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
    kept = (shown > 0) & (rows.sum(axis=1) > 0)
    # Which unit shows which row plays no part where nothing is drawn.
    others = Patterns(rows[kept], np.zeros(0, dtype=np.int64), shown[kept])
    found = agreements(members, others, scale)
    return {member.name: one for member, one in zip(members, found, strict=True)}
