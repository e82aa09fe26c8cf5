"""Table of grades as numbers: unit, rater and grade, without ids.

`Ratings` stores the ids of a million pairs, which no coefficient needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.coefficients.grade_patterns import Ints
from assay.core.ratings import Ratings


@dataclass(frozen=True, eq=False)
class GradeTable:
    """Grades in long form, rows in order of unit, then rater."""

    raters: tuple[str, ...]
    query_ids: tuple[str, ...]
    unit: Ints
    rater: Ints
    grade: Ints
    query: Ints

    @classmethod
    def of(cls, ratings: Ratings) -> GradeTable:
        """Build the table from ratings."""
        return cls(ratings.raters, ratings.query_ids, ratings.unit, ratings.rater, ratings.grade, ratings.query)

    @property
    def units(self) -> int:
        """Return the number of units with a grade."""
        return len(self.query)

    def of_queries(self, chosen: Ints) -> GradeTable:
        """Return only the units of some queries, renumbered in order."""
        place = np.full(len(self.query_ids), -1)
        place[chosen] = np.arange(len(chosen))
        selected = place[self.query] >= 0
        rows, number = selected[self.unit], np.cumsum(selected) - 1
        return GradeTable(
            self.raters,
            tuple(self.query_ids[code] for code in chosen),
            number[self.unit[rows]],
            self.rater[rows],
            self.grade[rows],
            place[self.query[selected]],
        )
