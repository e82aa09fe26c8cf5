"""Distinct patterns of grades, so that the cost depends on the number of patterns instead of pairs.

A coefficient uses the number of raters who gave each grade to a pair. With five raters and four grades there are at
most a few dozen such patterns; everything is computed per pattern and weighted by its number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
