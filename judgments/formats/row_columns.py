"""Rows of a file held as columns: a row becomes an object when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import repeat
from typing import Any, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from judgments.core.grouping import distinct
from judgments.core.texts import Bytes, Keys, Places, Texts

Row = TypeVar("Row")

# So many rows are made at a time.
CHUNK = 1 << 13


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column with few distinct values: the values, and the place of each row's value among them."""

    values: list[Any]
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, texts: Texts) -> Coded:
        """Number the distinct texts of a column."""
        names, codes = distinct(texts)
        return cls(list(names), codes.astype(np.int32))

    @classmethod
    def same(cls, value: object, size: int) -> Coded:
        """Return a column that holds one value everywhere."""
        return cls([value], np.zeros(size, dtype=np.int32))

    def mapped(self, meaning: Callable[[Any], Any]) -> Coded:
        """Return the column with another meaning of each value."""
        return Coded([meaning(value) for value in self.values], self.codes)

    def where(self, holds: Callable[[Any], bool]) -> npt.NDArray[np.bool_]:
        """Say for which rows something holds."""
        return np.array([bool(holds(value)) for value in self.values], dtype=np.bool_)[self.codes]

    def crossed(self, other: Coded, meaning: Callable[[Any, Any], Any]) -> Coded:
        """Return what the values of both columns mean together."""
        width = max(1, len(other.values))
        both = self.codes.astype(np.int64) * width + other.codes
        pairs, codes = np.unique(both, return_inverse=True)
        found = [meaning(self.values[pair // width], other.values[pair % width]) for pair in pairs.tolist()]
        return Coded(found, codes.astype(np.int32))

    def counts(self) -> Iterator[tuple[Any, int]]:
        """Yield each value with the number of rows that have it."""
        return zip(self.values, np.bincount(self.codes, minlength=len(self.values)).tolist(), strict=True)

    def keys(self) -> Keys:
        """Return one number for each row, as `Texts.keys` does."""
        return Texts.of([str(value) for value in self.values]).keys()[self.codes]


@dataclass(frozen=True, slots=True, eq=False)
class Meant:
    """A column of numbers as they are written, or nothing; they are worked out when a row is asked for."""

    texts: Texts
    meaning: Callable[[str], int | None]


Column = Texts | Coded | Meant | npt.NDArray[Any]


class RowColumns(Sequence[Row]):
    """Rows as columns.

    Parameters
    ----------
    make : type
        The dataclass of a row.
    columns : mapping of str to column
        A column for each field of the row; a field without one has its default.
    """

    def __init__(self, make: type[Row], columns: Mapping[str, Column]) -> None:
        self.make, self.columns = make, dict(columns)
        self._size = min(map(size_of, columns.values()))

    def coded(self, name: str) -> Coded:
        """Return a column that has few distinct values."""
        return cast(Coded, self.columns[name])

    def at(self, places: Places) -> RowColumns[Row]:
        """Return the rows at these places."""
        return RowColumns(self.make, {name: taken(column, places) for name, column in self.columns.items()})

    def texts(self, name: str) -> Texts:
        """Return a column of texts."""
        return cast(Texts, self.columns[name])

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, self._size, CHUNK):
            yield from self._made(start, min(start + CHUNK, self._size))

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, slice):
            start, stop, step = place.indices(self._size)
            return list(self._made(start, max(start, stop))) if step == 1 else list(self)[place]
        start = range(self._size)[place]
        return next(self._made(start, start + 1))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sequence):
            return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"RowColumns({list(self)!r})"

    def _made(self, start: int, stop: int) -> Iterator[Row]:
        given = [
            values_of(self.columns[field.name], start, stop) if field.name in self.columns else repeat(field.default)
            for field in fields(self.make)  # type: ignore[arg-type]
        ]
        # A default that a function makes belongs to no kind of row that is read in columns.
        return map(self.make, *given)


def size_of(column: Column) -> int:
    """Return how many rows a column has."""
    if isinstance(column, Coded):
        return len(column.codes)
    return len(column.texts if isinstance(column, Meant) else column)


def values_of(column: Column, start: int, stop: int) -> Sequence[Any]:
    """Return the values of some rows of a column."""
    if isinstance(column, Coded):
        return [column.values[code] for code in column.codes[start:stop].tolist()]
    if isinstance(column, Meant):
        return list(map(column.meaning, column.texts[start:stop]))
    if isinstance(column, Texts):
        return column[start:stop]
    found: list[Any] = column[start:stop].tolist()
    return found


def joined(parts: Sequence[Any], bases: Sequence[int], buffer: Bytes) -> Any:
    """Put columns of one sort one behind the other; the texts of each stand in the common buffer from its base on."""
    first = parts[0]
    if isinstance(first, Coded):
        places: dict[Any, int] = {}
        codes = []
        for part in parts:
            # Numbers of different types are equal; that is no reason to mix them up.
            here = [places.setdefault((type(value), value), len(places)) for value in part.values]
            codes.append(np.array(here, dtype=np.int32)[part.codes])
        return Coded([value for _, value in places], np.concatenate(codes))
    if isinstance(first, Meant):
        return Meant(joined([part.texts for part in parts], bases, buffer), first.meaning)
    if isinstance(first, Texts):
        begins = np.concatenate([part.starts + base for part, base in zip(parts, bases, strict=True)])
        ends = np.concatenate([part.ends + base for part, base in zip(parts, bases, strict=True)])
        return Texts(buffer, begins, ends)
    return np.concatenate(parts)


def like(column: Column, values: list[Any]) -> Column:
    """Return a column of the same sort that holds other values."""
    if isinstance(column, Coded):
        places = {value: at for at, value in enumerate(dict.fromkeys((type(value), value) for value in values))}
        codes = np.array([places[type(value), value] for value in values], dtype=np.int32)
        return Coded([value for _, value in places], codes)
    if isinstance(column, Meant):
        return Meant(Texts.of(["" if value is None else str(value) for value in values]), column.meaning)
    return Texts.of(values) if isinstance(column, Texts) else np.array(values, dtype=column.dtype)


def taken(column: Column, places: Places) -> Column:
    """Return the rows of a column at these places, in this order."""
    if isinstance(column, Coded):
        return Coded(column.values, column.codes[places])
    if isinstance(column, Meant):
        return Meant(column.texts.take(places), column.meaning)
    return column.take(places) if isinstance(column, Texts) else column[places]


def letters_of(column: Column) -> Bytes:
    """Return the buffer of a column's texts, empty for columns of another sort."""
    texts = column.texts if isinstance(column, Meant) else column
    return texts.buffer if isinstance(texts, Texts) else np.zeros(0, dtype=np.uint8)
