"""Ratings: the grades that several raters gave to pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.text_column import Texts, distinct, pair_keys

# With more grades than this, only the distinct grades are looked up on the scale.
LOOKED_UP = 1000


@dataclass(frozen=True, eq=False, slots=True)
class Ratings:
    """The grades of several raters in long form: a row for each grade, and no rows for missing grades.

    Units (pairs), raters and queries are numbered in the order of their UTF-8 bytes; rows are sorted by unit, then
    rater.

    Attributes
    ----------
    units : sequence of (query_id, doc_id)
        The pairs that at least one rater graded.
    raters : tuple of str
        The raters.
    query_ids : tuple of str
        The queries of the units.
    unit, rater : int64 arrays, shape (rows,)
        The unit and rater of each row.
    grade : int64 array, shape (rows,)
        The grade.
    query : int64 array, shape (units,)
        The query of each unit, for statistics clustered by query.
    duplicates : int
        Number of identical rows that were removed.

    Examples
    --------
    >>> ratings = Ratings.from_rows([("q1", "d2", "r02", 1), ("q1", "d1", "r01", 3), ("q1", "d2", "r01", 0)])
    >>> ratings.unit.tolist(), ratings.rater.tolist(), ratings.grade.tolist(), ratings.raters
    ([0, 1, 1], [0, 0, 1], [3, 0, 1], ('r01', 'r02'))
    """

    units: Sequence[tuple[str, str]]
    raters: tuple[str, ...]
    query_ids: tuple[str, ...]
    unit: npt.NDArray[np.int64]
    rater: npt.NDArray[np.int64]
    grade: npt.NDArray[np.int64]
    query: npt.NDArray[np.int64]
    duplicates: int = 0

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, str, int]]) -> Ratings:
        """Build the table from rows of (query_id, doc_id, rater, grade) in any order.

        Raises
        ------
        NotValid
            When a rater gives a pair two grades, or a grade is not a whole number.
        """
        unit_codes: dict[tuple[str, str], int] = {}
        rater_codes: dict[str, int] = {}
        columns: tuple[list[int], list[int], list[int]] = ([], [], [])
        for query_id, doc_id, rater, grade in rows:
            if grade != int(grade):
                raise NotValid(f"query {query_id!r}, document {doc_id!r}: the grade {grade} is not a whole number")
            columns[0].append(unit_codes.setdefault((query_id, doc_id), len(unit_codes)))
            columns[1].append(rater_codes.setdefault(rater, len(rater_codes)))
            columns[2].append(int(grade))
        units, raters = sorted(unit_codes), tuple(sorted(rater_codes))
        unit = _renumbered(columns[0], [unit_codes[name] for name in units])
        given = _renumbered(columns[1], [rater_codes[name] for name in raters])
        grades = np.array(columns[2], dtype=np.int64)
        order = np.lexsort((given, unit))
        unit, given, grades = unit[order], given[order], grades[order]
        again = _repeated(units, raters, unit, given, grades)
        query_ids = tuple(sorted({query_id for query_id, _ in units}))
        query_code = {query_id: code for code, query_id in enumerate(query_ids)}
        once = ~again
        return cls(
            units=units,
            raters=raters,
            query_ids=query_ids,
            unit=unit[once],
            rater=given[once],
            grade=grades[once],
            query=np.fromiter((query_code[query_id] for query_id, _ in units), dtype=np.int64, count=len(units)),
            duplicates=int(again.sum()),
        )

    @classmethod
    def from_columns(
        cls,
        query_ids: Texts,
        doc_ids: Texts,
        raters: Sequence[str],
        rater: npt.NDArray[np.integer],
        grades: npt.NDArray[np.int64],
    ) -> Ratings:
        """Build the table from columns of equal length; `rater` contains positions in `raters`, which are distinct.

        Raises
        ------
        NotValid
            When a rater gives a pair two grades.
        """
        # Rows of the same pair are usually adjacent: only the first is compared with others.
        begins = np.flatnonzero(query_ids.changes() | doc_ids.changes()) if len(query_ids) else np.zeros(0, np.int64)
        queries, documents = query_ids.take(begins), doc_ids.take(begins)
        names, query = distinct(queries)
        if _ascending(query, documents):
            first = order = place = unit = np.arange(len(query))
        else:
            keys = pair_keys(query, documents)
            ascending = np.sort(keys)
            if (ascending[1:] == ascending[:-1]).any():
                _, first, unit = np.unique(keys, return_index=True, return_inverse=True)
                same = documents.same(np.arange(len(unit)), documents, first[unit]) & (query == query[first[unit]])
                if not same.all():
                    # Two pairs have the same key; the texts distinguish them.
                    given = [raters[code] for code in rater.tolist()]
                    return cls.from_rows(zip(query_ids, doc_ids, given, grades.tolist(), strict=True))
            else:
                first = unit = np.arange(len(keys))
            order = documents.take(first).descending(-query[first])[::-1]
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
        unit_of = np.repeat(place[unit], np.diff(begins, append=len(query_ids)))
        present = np.flatnonzero(np.bincount(rater, minlength=len(raters)))
        known = sorted(present.tolist(), key=lambda code: raters[code])
        names_of_raters = tuple(raters[code] for code in known)
        rater_place = np.zeros(len(raters), dtype=np.int64)
        rater_place[known] = np.arange(len(known))
        given_by = rater_place[rater]
        units = _Units(names, query[first[order]], documents.take(first[order]))
        row_keys = unit_of * max(1, len(known)) + given_by
        if (row_keys[1:] > row_keys[:-1]).all():
            return cls(units, names_of_raters, names, unit_of, given_by, grades, units.query)
        rows = np.argsort(row_keys, kind="stable")
        unit_of, given_by, grades = unit_of[rows], given_by[rows], grades[rows]
        again = _repeated(units, names_of_raters, unit_of, given_by, grades)
        once = ~again
        return cls(
            units,
            names_of_raters,
            names,
            unit_of[once],
            given_by[once],
            grades[once],
            units.query,
            duplicates=int(again.sum()),
        )

    def rows(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield (query_id, doc_id, rater, grade) in the order of the table."""
        for unit, rater, grade in zip(self.unit.tolist(), self.rater.tolist(), self.grade.tolist(), strict=True):
            query_id, doc_id = self.units[unit]
            yield query_id, doc_id, self.raters[rater], grade

    def __len__(self) -> int:
        return len(self.grade)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ratings):
            return NotImplemented
        return list(self.rows()) == list(other.rows())

    __hash__ = None  # type: ignore[assignment]


class _Units(Sequence[tuple[str, str]]):
    """Pairs stored as columns; a pair becomes an object on access."""

    def __init__(self, names: tuple[str, ...], query: npt.NDArray[np.int64], doc_ids: Texts) -> None:
        self.names, self.query, self.doc_ids = names, query, doc_ids

    def __len__(self) -> int:
        return len(self.query)

    @overload
    def __getitem__(self, place: int) -> tuple[str, str]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[str, str]]: ...
    def __getitem__(self, place: int | slice) -> tuple[str, str] | list[tuple[str, str]]:
        if isinstance(place, slice):
            return list(self)[place]
        return self.names[self.query[place]], self.doc_ids[place]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((self.names[code], doc_id) for code, doc_id in zip(self.query.tolist(), self.doc_ids, strict=True))


def places(grades: npt.ArrayLike, scale: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the position of each grade on the scale, from 0.

    Examples
    --------
    >>> places([3, 1], np.array([1.0, 2.0, 3.0])).tolist()
    [2, 0]
    """
    if len(scale) == 0:
        return np.zeros(0, dtype=np.int64)
    whole = np.asarray(grades)
    if whole.dtype.kind in "iu" and len(whole) > LOOKED_UP and int(np.ptp(whole)) < LOOKED_UP:
        low = int(whole.min())
        present = np.flatnonzero(np.bincount(whole - low))
        place = np.zeros(int(present[-1]) + 1, dtype=np.int64)
        place[present] = places((present + low).astype(np.float64), scale)
        return np.asarray(place[whole - low])
    given = np.asarray(grades, dtype=np.float64)
    positions = np.minimum(np.searchsorted(scale, given), len(scale) - 1)
    off = given[scale[positions] != given]
    if len(off):
        allowed = ", ".join(f"{value:g}" for value in scale)
        raise NotValid(f"the grade {off[0]:g} is not on the scale {allowed}; set the scale that the raters used")
    return positions.astype(np.int64)


def _ascending(query: npt.NDArray[np.int64], documents: Texts) -> bool:
    """Return whether the pairs are distinct and ordered by query, then document by UTF-8 bytes."""
    if (query[1:] < query[:-1]).any():
        return False
    within = np.flatnonzero(query[1:] == query[:-1])
    return bool(documents.below(within, within + 1).all())


def _renumbered(codes: list[int], ordered: list[int]) -> npt.NDArray[np.int64]:
    """Renumber codes by the order of the names; ``ordered`` contains the old codes in that order."""
    places = np.empty(len(ordered), dtype=np.int64)
    places[ordered] = np.arange(len(ordered))
    return np.asarray(places[np.array(codes, dtype=np.int64)])


def _repeated(
    units: Sequence[tuple[str, str]],
    raters: tuple[str, ...],
    unit: npt.NDArray[np.int64],
    rater: npt.NDArray[np.int64],
    grade: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """Return which rows repeat the row before them, for sorted rows; refuse a rater's two grades for a unit."""
    again = np.zeros(len(unit), dtype=np.bool_)
    again[1:] = (unit[1:] == unit[:-1]) & (rater[1:] == rater[:-1])
    two = np.flatnonzero(again[1:] & (grade[1:] != grade[:-1]))
    if len(two):
        row = int(two[0]) + 1
        query_id, doc_id = units[unit[row]]
        named = raters[rater[row]]
        known, other = int(grade[row - 1]), int(grade[row])
        raise NotValid(
            f"query {query_id!r}, document {doc_id!r}: rater {named!r} gave two grades, {known} and {other}; keep one"
        )
    return again
