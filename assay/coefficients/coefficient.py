"""Definition of an agreement coefficient and of its result.

Every coefficient is a function of sums over units. A unit adds a row of numbers (its parts), and the coefficient is
computed from the sum of the rows. Units with the same grades are therefore computed once, and the bootstrap only
weights rows, for all resamples at once.

A coefficient uses the number of raters who gave each grade to a pair. With five raters and four grades there are at
most a few dozen such patterns; everything is computed per pattern and weighted by its number of pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.ratings import Ratings, places

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# A table of counts up to this size is filled directly; for larger sizes, values are found by sorting.
TABLE = 8_000_000
# Whole numbers up to here are exact as float64.
EXACT = 2**53


@dataclass(frozen=True, eq=False)
class Patterns:
    """Units grouped by their grades."""

    rows: Floats
    of_unit: Ints
    times: Floats

    @classmethod
    def of(cls, unit: Ints, codes: Ints, units: int, size: int) -> Patterns:
        """Count the grades of each unit and group equal units.

        Examples
        --------
        >>> found = Patterns.of(np.array([0, 0, 1, 2, 2]), np.array([1, 0, 1, 0, 1]), units=3, size=2)
        >>> found.rows.tolist(), found.of_unit.tolist(), found.times.tolist()
        ([[0.0, 1.0], [1.0, 1.0]], [1, 0, 1], [1.0, 2.0])
        """
        if not len(unit):
            return cls(np.zeros((0, size)), np.zeros(0, dtype=np.int64), np.zeros(0))
        base = int(np.bincount(unit, minlength=units).max()) + 1
        if base**size >= EXACT:
            table = np.bincount(unit * size + codes, minlength=units * size).reshape(units, size)
            return cls._of_table(table)
        powers = np.array([base**place for place in range(size)], dtype=np.float64)
        keys = np.bincount(unit, weights=powers[codes], minlength=units).astype(np.int64)
        distinct_keys, of_unit, times = distinct(keys, base**size)
        rows = distinct_keys[:, None] // powers.astype(np.int64) % base
        return cls(rows.astype(np.float64), of_unit, times.astype(np.float64))

    @classmethod
    def _of_table(cls, table: npt.NDArray[np.integer]) -> Patterns:
        rows, of_unit, times = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        return cls(rows.astype(np.float64), of_unit.reshape(-1).astype(np.int64), times.astype(np.float64))

    @property
    def ratings(self) -> Floats:
        """Return the number of grades of a unit of each pattern."""
        return np.asarray(self.rows.sum(axis=1))

    def shared(self) -> Patterns:
        """Return only the units with two or more grades."""
        return self.only(self.ratings >= 2)

    def only(self, patterns: npt.NDArray[np.bool_]) -> Patterns:
        """Return only the units of some patterns."""
        place = np.cumsum(patterns) - 1
        return Patterns(self.rows[patterns], place[self.of_unit[patterns[self.of_unit]]], self.times[patterns])


def distinct(keys: Ints, below: int) -> tuple[Ints, Ints, Ints]:
    """Find the distinct keys in ascending order, the index of each key among them, and their frequencies.

    Parameters
    ----------
    keys : int array
        Whole numbers from 0.
    below : int
        A number larger than every key; if it is small, no sorting is needed.

    Examples
    --------
    >>> [one.tolist() for one in distinct(np.array([7, 2, 7]), 10)]
    [[2, 7], [1, 0, 1], [1, 2]]
    """
    if below > TABLE:
        distinct_keys, place, times = np.unique(keys, return_inverse=True, return_counts=True)
        return distinct_keys, place, times
    times = np.bincount(keys, minlength=1)
    distinct_keys = np.flatnonzero(times)
    places = np.cumsum(times > 0) - 1
    return distinct_keys, places[keys], times[distinct_keys]


# `Ratings` stores the ids of a million pairs, which no coefficient needs.
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


REASONS = {
    "no_overlap": "undefined because no pair was graded by two raters",
    "one_category": "undefined because all overlapping grades are the same; see the percent agreement",
    "too_few_units": "undefined because only one pair was graded by two raters",
    "being_computed": "undefined because it is still being computed; check again in a moment",
    "hidden": "undefined because you can still rate pairs in this round; you will see it after your last pair",
    "unequal_ratings": "undefined because the number of grades differs between pairs; use Krippendorff's alpha",
}


@dataclass(frozen=True)
class Agreement:
    """Value of a coefficient with the data behind it.

    Parameters
    ----------
    value : float or None
        None exactly if `reason` is set; degenerate data never yields 1.0.
    reason : str or None
        A key of `REASONS`.
    n : int
        Units (pairs) with two or more grades.
    ratings : int
        Number of grades on these units.
    percent_agreement : float or None
        Share of grade pairs on a unit that are equal.
    low, high : float or None
        The bootstrap interval, if requested and defined.
    undefined_resamples : int
        Resamples in which the coefficient is undefined; they are left out of the interval.
    """

    value: float | None
    reason: str | None
    n: int
    ratings: int
    percent_agreement: float | None
    low: float | None = None
    high: float | None = None
    undefined_resamples: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the five fields of the JSON output."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n, "reason": self.reason}


@dataclass(frozen=True)
class Coefficient:
    """Declaration of an agreement coefficient.

    Parameters
    ----------
    name, title, description, formula, source : str
        For help and docs.
    parts : callable
        ``parts(counts)``: from the table (units, grades) of how many raters gave each grade, the rows (units, p) to
        sum.
        Cohen's kappas use the table (units, grades, grades) of the two raters' grades instead.
    value : callable
        ``value(sums, values)``: from sums (..., p) and the scale's values the coefficient (...), NaN if undefined.
    raters : {"all", "two"}
        Whether it accepts any number of raters or exactly two.
    equal_ratings : bool
        Whether every unit must have the same number of grades.
    singles : bool
        Whether units with a single grade are used; if not, `parts` does not receive them.
    """

    name: str
    title: str
    description: str
    formula: str
    source: str
    parts: Callable[[Floats], Floats]
    value: Callable[[Floats, Floats], Floats]
    raters: str = "all"
    equal_ratings: bool = False
    singles: bool = False


def grade_codes(grades: npt.ArrayLike, values: npt.ArrayLike | None) -> tuple[Ints, Floats]:
    """Number the grades by their position on the scale.

    Parameters
    ----------
    grades : array of number
        The grades.
    values : array of number, optional
        The scale, ascending; by default the grades that occur.

    Returns
    -------
    tuple of array
        The codes 0 to K-1, and the K values.

    Raises
    ------
    NotValid
        When a grade is not on the scale.

    Examples
    --------
    >>> grade_codes([3, 1], values=[1, 2, 3])[0].tolist()
    [2, 0]
    """
    given = np.asarray(grades, dtype=np.float64)
    scale = np.unique(given) if values is None else np.unique(np.asarray(values, dtype=np.float64))
    return places(given, scale), scale


def weight_matrix(size: int, weights: str) -> Floats:
    """Return the agreement weight of every two positions on the scale.

    Parameters
    ----------
    size : int
        Number of grades K.
    weights : {"unweighted", "linear", "quadratic"}
        1 on the diagonal only; 1 - |i-j|/(K-1); 1 - ((i-j)/(K-1))^2.

    Examples
    --------
    >>> weight_matrix(3, "linear")[0].tolist()
    [1.0, 0.5, 0.0]
    """
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / max(size - 1, 1)
    shapes = {"unweighted": (apart == 0).astype(np.float64), "linear": 1 - apart, "quadratic": 1 - apart**2}
    if weights not in shapes:
        raise NotValid(f"unknown weights {weights!r}; known: {', '.join(shapes)}")
    return np.asarray(shapes[weights], dtype=np.float64)


def degenerate(patterns: Patterns, equal_ratings: bool = False) -> str | None:
    """Return why no coefficient can be computed from these grades, or None."""
    shared = patterns.shared()
    if not len(shared.rows):
        return "no_overlap"
    if (shared.rows.sum(axis=0) > 0).sum() < 2:
        return "one_category"
    if shared.times.sum() < 2:
        return "too_few_units"
    return "unequal_ratings" if equal_ratings and np.ptp(shared.ratings) else None


def percent_agreement(patterns: Patterns) -> float | None:
    """Compute the share of equal grades among all grade pairs on a unit; None without overlap.

    Examples
    --------
    >>> percent_agreement(Patterns.of(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), 2, 2))
    0.5
    """
    ratings = patterns.ratings
    pairs = float(patterns.times @ (ratings * (ratings - 1)))
    return float(patterns.times @ (patterns.rows * (patterns.rows - 1)).sum(axis=1)) / pairs if pairs else None
