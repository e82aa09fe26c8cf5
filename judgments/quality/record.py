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
    """The numbers as an array; none as an empty one."""
    return np.asarray(values, dtype=np.int64).reshape(-1)


def floats(values: Sequence[float] | Floats = ()) -> Floats:
    """The same for numbers that need not be whole; what is not known is NaN."""
    return np.asarray(values, dtype=np.float64).reshape(-1)


def units(pair: Ints, called_in: Bools) -> Ints:
    """Numbers for the pairs of some answers: what was called in stands alone, and is compared with nobody.

    A further rater is called in where two grades lie apart. Who answers such pairs only would be far from the others
    on all of them, however well they grade.

    Parameters
    ----------
    pair : int array, shape (grades,)
        Which pair each answer is for.
    called_in : bool array, shape (grades,)
        Whether it was asked for because of the answers before.

    Examples
    --------
    >>> units(ints([7, 7, 9, 9, 9]), np.array([False, False, False, False, True])).tolist()
    [0, 0, 1, 1, 2]
    """
    found = np.unique(pair, return_inverse=True)[1].reshape(-1).astype(np.int64)
    found[called_in] = found.max(initial=-1) + 1 + np.arange(int(called_in.sum()))
    return found


@dataclass(frozen=True, eq=False)
class Timed:
    """Answers whose time was measured, with how long the text was that stood on the screen.

    Attributes
    ----------
    rater : int array, shape (answers,)
        Places in ``Record.raters``.
    seconds : array, shape (answers,)
        Active seconds.
    characters : array, shape (answers,)
        Length of title and text as shown.
    """

    rater: Ints = field(default_factory=ints)
    seconds: Floats = field(default_factory=floats)
    characters: Floats = field(default_factory=floats)


@dataclass(frozen=True, eq=False)
class Asked:
    """Answers to what was known before: the known grade, and the one that was given.

    Attributes
    ----------
    rater, expected, given : int arrays, shape (answers,)
        A rater's place in ``Record.raters``, the known grade, and theirs.
    """

    rater: Ints = field(default_factory=ints)
    expected: Ints = field(default_factory=ints)
    given: Ints = field(default_factory=ints)


@dataclass(frozen=True, eq=False)
class Record:
    """The counted grades of a round, the earliest first.

    Attributes
    ----------
    raters : tuple of str
        Whoever was asked, by pseudonym.
    scale : tuple of int
        The grades that could be given, the lowest first.
    rater, unit, query, grade : int arrays, shape (grades,)
        Who gave it, to which pair (see `units`), of which query, and what.
    seconds : array, shape (grades,)
        How long it took; NaN where nobody measured.
    timed, gold, repeats : Timed, Asked, Asked
        A part of the answers with the length of the text; those to pairs of known grade; those to own pairs again.
    within : int
        How many steps off a known grade still count as right.
    """

    raters: tuple[str, ...]
    scale: tuple[int, ...]
    rater: Ints
    unit: Ints
    query: Ints
    grade: Ints
    seconds: Floats
    timed: Timed = field(default_factory=Timed)
    gold: Asked = field(default_factory=Asked)
    repeats: Asked = field(default_factory=Asked)
    within: int = 0

    @property
    def size(self) -> int:
        """How many raters there are: what each threshold for chance is divided by."""
        return len(self.raters)

    @cached_property
    def counts(self) -> Ints:
        """How many grades each rater gave, shape (raters,)."""
        return np.bincount(self.rater, minlength=self.size).astype(np.int64)

    @cached_property
    def place(self) -> Ints:
        """The place of each grade on the scale, shape (grades,)."""
        return np.searchsorted(np.asarray(self.scale), self.grade).astype(np.int64)

    @cached_property
    def by_unit(self) -> Ints:
        """How often each pair got each grade, shape (units, grades of the scale)."""
        units = int(self.unit.max(initial=-1)) + 1
        flat = np.bincount(self.unit * len(self.scale) + self.place, minlength=units * len(self.scale))
        return flat.reshape(units, len(self.scale)).astype(np.int64)

    @cached_property
    def others(self) -> Ints:
        """How many others graded the same pair, shape (grades,)."""
        return np.asarray(self.by_unit.sum(axis=1)[self.unit] - 1, dtype=np.int64)

    @cached_property
    def bias(self) -> Floats:
        """Each grade less the mean of the others' on the same pair, shape (grades,); NaN where there is none."""
        totals = (self.by_unit @ np.asarray(self.scale, dtype=np.int64))[self.unit] - self.grade
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.grade - totals / np.where(self.others > 0, self.others, np.nan))

    @cached_property
    def twos(self) -> tuple[Ints, Ints]:
        """The rows of every two grades of one pair; of each two the rater with the lower place first."""
        order = np.lexsort((self.rater, self.unit))
        unit = self.unit[order]
        first, second = [ints()], [ints()]
        shift = 1
        # Rows of one pair stand together, so no two of them are further apart than a pair has grades.
        while shift < len(unit) and len(rows := np.flatnonzero(unit[:-shift] == unit[shift:])):
            first.append(order[rows])
            second.append(order[rows + shift])
            shift += 1
        return np.concatenate(first), np.concatenate(second)

    def without(self, raters: Sequence[int]) -> Record:
        """The same round as if these raters had graded nothing; who was asked stays."""
        kept = ~np.isin(self.rater, list(raters))
        columns = {name: getattr(self, name)[kept] for name in ("rater", "unit", "query", "grade", "seconds")}
        return replace(self, **columns)

    def of(self, rater: int) -> Ints:
        """The rows of one rater, the earliest first."""
        return self._rows[rater]

    @cached_property
    def _rows(self) -> list[Ints]:
        order = np.argsort(self.rater, kind="stable")
        return np.split(order, np.cumsum(self.counts)[:-1])
