"""Input of the checks: each rater's answers in a round, with order, time and the others' grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def ints(values: Sequence[int] | Ints = ()) -> Ints:
    """Return the numbers as an integer array; None as an empty one."""
    return np.asarray(values, dtype=np.int64).reshape(-1)


def floats(values: Sequence[float] | Floats = ()) -> Floats:
    """Return the numbers as a float array; unknown values are NaN."""
    return np.asarray(values, dtype=np.float64).reshape(-1)


def units(pair: Ints, called_in: Bools) -> Ints:
    """Number the pairs of the answers; each additional rating that was requested later is a separate unit.

    An additional rater is requested if two grades differ. A rater who answers only such pairs would be far from the
    others on all of them, however well they grade.

    Examples
    --------
    >>> units(ints([7, 7, 9, 9, 9]), np.array([False, False, False, False, True])).tolist()
    [0, 0, 1, 1, 2]
    """
    numbers = np.unique(pair, return_inverse=True)[1].reshape(-1).astype(np.int64)
    numbers[called_in] = numbers.max(initial=-1) + 1 + np.arange(int(called_in.sum()))
    return numbers


@dataclass(frozen=True, eq=False)
class Timed:
    """Timed answers with the length of the shown text.

    Attributes
    ----------
    rater : int array, shape (answers,)
        Positions in ``Record.raters``.
    seconds : array, shape (answers,)
        Active seconds.
    characters : array, shape (answers,)
        Length of title and text as shown.
    """

    rater: Ints = field(default_factory=ints)
    seconds: Floats = field(default_factory=floats)
    characters: Floats = field(default_factory=floats)


@dataclass(frozen=True, eq=False)
class GradeComparisons:
    """Expected and given grades of gold pairs, or first and second grades of repeats.

    Attributes
    ----------
    rater, expected, given : int arrays, shape (answers,)
        The rater's position in ``Record.raters``, the expected grade, and the rater's grade.
    """

    rater: Ints = field(default_factory=ints)
    expected: Ints = field(default_factory=ints)
    given: Ints = field(default_factory=ints)


@dataclass(frozen=True, eq=False)
class Record:
    """The grades of a round that count, in order of time.

    Attributes
    ----------
    raters : tuple of str
        The raters, by pseudonym.
    scale : tuple of int
        The grades of the scale, ascending.
    rater, unit, query, grade : int arrays, shape (grades,)
        The rater, pair (see `units`), query and value of each grade.
    seconds : array, shape (grades,)
        Duration; NaN if not measured.
    timed, gold, repeats : Timed, GradeComparisons, GradeComparisons
        Some answers with the length of the text, answers to gold pairs, and answers to repeats.
    within : int
        Number of steps from the gold grade that still count as correct.
    """

    raters: tuple[str, ...]
    scale: tuple[int, ...]
    rater: Ints
    unit: Ints
    query: Ints
    grade: Ints
    seconds: Floats
    timed: Timed = field(default_factory=Timed)
    gold: GradeComparisons = field(default_factory=GradeComparisons)
    repeats: GradeComparisons = field(default_factory=GradeComparisons)
    within: int = 0

    @property
    def size(self) -> int:
        """Return the number of raters, by which significance thresholds are divided."""
        return len(self.raters)

    @cached_property
    def counts(self) -> Ints:
        """Return the number of grades of each rater, shape (raters,)."""
        return np.bincount(self.rater, minlength=self.size).astype(np.int64)

    @cached_property
    def place(self) -> Ints:
        """Return the position of each grade on the scale, shape (grades,)."""
        return np.searchsorted(np.asarray(self.scale), self.grade).astype(np.int64)

    @cached_property
    def by_unit(self) -> Ints:
        """Return how often each pair received each grade, shape (units, grades of the scale)."""
        units = int(self.unit.max(initial=-1)) + 1
        flat = np.bincount(self.unit * len(self.scale) + self.place, minlength=units * len(self.scale))
        return flat.reshape(units, len(self.scale)).astype(np.int64)

    @cached_property
    def others(self) -> Ints:
        """Return how many other raters graded the same pair, shape (grades,)."""
        return np.asarray(self.by_unit.sum(axis=1)[self.unit] - 1, dtype=np.int64)

    @cached_property
    def bias(self) -> Floats:
        """Return each grade minus the mean of the others on the same pair, shape (grades,); NaN if there are no
        others.
        """
        totals = (self.by_unit @ np.asarray(self.scale, dtype=np.int64))[self.unit] - self.grade
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.grade - totals / np.where(self.others > 0, self.others, np.nan))

    @cached_property
    def twos(self) -> tuple[Ints, Ints]:
        """Return the rows of every two grades of one pair; the rater with the lower code comes first."""
        order = np.lexsort((self.rater, self.unit))
        unit = self.unit[order]
        first, second = [ints()], [ints()]
        shift = 1
        # Rows of a pair are adjacent, so their distance is at most the number of its grades.
        while shift < len(unit) and len(rows := np.flatnonzero(unit[:-shift] == unit[shift:])):
            first.append(order[rows])
            second.append(order[rows + shift])
            shift += 1
        return np.concatenate(first), np.concatenate(second)

    def without(self, raters: Sequence[int]) -> Record:
        """Return the record without the grades of these raters; the list of raters stays the same."""
        remaining = ~np.isin(self.rater, list(raters))
        columns = {name: getattr(self, name)[remaining] for name in ("rater", "unit", "query", "grade", "seconds")}
        return replace(self, **columns)

    def of(self, rater: int) -> Ints:
        """Return the rows of one rater in order of time."""
        return self._rows[rater]

    @cached_property
    def _rows(self) -> list[Ints]:
        order = np.argsort(self.rater, kind="stable")
        return np.split(order, np.cumsum(self.counts)[:-1])
