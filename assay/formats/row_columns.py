"""Rows of a file stored as columns; a row becomes an object on access."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from itertools import repeat
from typing import Any, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from assay.core.text_column import Bytes, Keys, Places, Texts, distinct

Row = TypeVar("Row")

# Number of rows to create at a time.
CHUNK = 1 << 13
LARGEST = 1 << 31
# Maximum number of distinct values to find one at a time.
FEW = 24


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column with few distinct values: the values, and the position of each row's value among them."""

    values: list[Any]
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, texts: Texts) -> Coded:
        """Number the distinct texts of a column."""
        return cls._of_few(texts) or cls._of_many(texts)

    @classmethod
    def _of_many(cls, texts: Texts) -> Coded:
        names, codes = distinct(texts)
        return cls(list(names), codes.astype(np.int32))

    @classmethod
    def _of_few(cls, texts: Texts) -> Coded | None:
        """Number short texts with few distinct values, without sorting; None for other texts."""
        if not len(texts) or texts.words > 1:
            return None
        words = texts.first_word()
        codes = np.full(len(texts), -1, dtype=np.int32)
        values: list[str] = []
        row = 0
        while len(values) < FEW:
            codes[words == words[row]] = len(values)
            values.append(texts[row])
            row = int((codes < 0).argmax())
            if codes[row] >= 0:
                return cls(values, codes)
        return None

    @classmethod
    def same(cls, value: object, size: int) -> Coded:
        """Return a column with the same value everywhere."""
        return cls([value], np.zeros(size, dtype=np.int32))

    def mapped(self, meaning: Callable[[Any], Any]) -> Coded:
        """Return the column with its values mapped."""
        return Coded([meaning(value) for value in self.values], self.codes)

    def where(self, holds: Callable[[Any], bool]) -> npt.NDArray[np.bool_]:
        """Return for which rows a condition holds."""
        return np.array([bool(holds(value)) for value in self.values], dtype=np.bool_)[self.codes]

    def crossed(self, other: Coded, meaning: Callable[[Any, Any], Any]) -> Coded:
        """Combine the values of two columns."""
        width = max(1, len(other.values))
        both = self.codes.astype(np.int64) * width + other.codes
        cells = len(self.values) * width
        if cells > 4 * len(both):
            pairs, codes = np.unique(both, return_inverse=True)
        else:
            pairs = np.flatnonzero(np.bincount(both, minlength=cells))
            place = np.zeros(cells, dtype=np.int32)
            place[pairs] = np.arange(len(pairs))
            codes = place[both]
        values = [meaning(self.values[pair // width], other.values[pair % width]) for pair in pairs.tolist()]
        return Coded(values, codes.astype(np.int32))

    def counts(self) -> Iterator[tuple[Any, int]]:
        """Yield each value with the number of rows that have it."""
        return zip(self.values, np.bincount(self.codes, minlength=len(self.values)).tolist(), strict=True)

    def keys(self) -> Keys:
        """Return one key for each row, as `Texts.keys` does."""
        return Texts.of([str(value) for value in self.values]).keys()[self.codes]


@dataclass(frozen=True, slots=True, eq=False)
class Meant:
    """A column of optional integers that are computed on access."""

    given: Texts | npt.NDArray[np.float64]
    meaning: Callable[[Any], int | None]


Column = Texts | Coded | Meant | npt.NDArray[Any]


class RowColumns(Sequence[Row]):
    """Rows stored as columns."""

    def __init__(self, make: type[Row], columns: Mapping[str, Column]) -> None:
        self.make, self.columns = make, dict(columns)
        self._size = min(map(size_of, columns.values()))

    def coded(self, name: str) -> Coded:
        """Return a column with few distinct values."""
        return cast(Coded, self.columns[name])

    def at(self, places: Places) -> RowColumns[Row]:
        """Return the rows at these positions."""
        return RowColumns(self.make, {name: taken(column, places) for name, column in self.columns.items()})

    def texts(self, name: str) -> Texts:
        """Return a column of texts."""
        column = self.columns[name]
        if not isinstance(column, Coded):
            return cast(Texts, column)
        known = Texts.of(column.values)
        return Texts(known.buffer, _small(known.starts)[column.codes], _small(known.ends)[column.codes])

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

    def values(self, *names: str, order: Places | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield these fields of each row without creating row objects, optionally in another order."""
        default = _defaults(self.make)
        for start in range(0, self._size, CHUNK):
            stop = min(start + CHUNK, self._size)
            columns: list[Any] = []
            for name in names:
                if name not in self.columns:
                    columns.append(repeat(default[name], stop - start))
                elif order is None:
                    columns.append(values_of(self.columns[name], start, stop))
                else:
                    columns.append(values_of(taken(self.columns[name], order[start:stop]), 0, stop - start))
            yield from zip(*columns, strict=True)

    def _made(self, start: int, stop: int) -> Iterator[Row]:
        given = [
            values_of(self.columns[name], start, stop) if name in self.columns else repeat(default)
            for name, default in _defaults(self.make).items()
        ]
        return map(self.make, *given)


def _defaults(row: Any) -> dict[str, Any]:
    """Return the default of each field of a row class; rows do not change, so they share those of factories."""
    return {one.name: one.default if one.default_factory is MISSING else one.default_factory() for one in fields(row)}


def _small(places: Places) -> Places:
    return places.astype(np.int32) if len(places) == 0 or places[-1] < LARGEST else places


def size_of(column: Column) -> int:
    """Return the number of rows of a column."""
    if isinstance(column, Coded):
        return len(column.codes)
    return len(column.given if isinstance(column, Meant) else column)


def values_of(column: Column, start: int, stop: int) -> Sequence[Any]:
    """Return the values of a range of rows."""
    if isinstance(column, Coded):
        return [column.values[code] for code in column.codes[start:stop].tolist()]
    if isinstance(column, Meant):
        return list(map(column.meaning, values_of(column.given, start, stop)))
    if isinstance(column, Texts):
        return column[start:stop]
    values: list[Any] = column[start:stop].tolist()
    return values


class Growing:
    """A column that is built from parts, with capacity for all rows."""

    def __init__(self, first: Column, room: int, buffer: Bytes) -> None:
        self.first, self.buffer, self.size = first, buffer, 0
        self.codes: dict[Any, int] = {}
        given = first.given if isinstance(first, Meant) else first
        small = np.dtype(np.int32 if len(buffer) < LARGEST else np.int64)
        if isinstance(given, Texts):
            self.arrays = [np.empty(room, dtype=small), np.empty(room, dtype=small)]
        else:
            self.arrays = [np.empty(room, dtype=given.codes.dtype if isinstance(given, Coded) else given.dtype)]

    def add(self, part: Column, base: int) -> None:
        """Append a part, whose texts start at the base in the buffer."""
        given = part.given if isinstance(part, Meant) else part
        begin, self.size = self.size, self.size + size_of(part)
        if isinstance(given, Texts):
            np.add(given.starts, base, out=self.arrays[0][begin : self.size], casting="same_kind")
            np.add(given.ends, base, out=self.arrays[1][begin : self.size], casting="same_kind")
        elif isinstance(given, Coded):
            # Numbers of different types compare equal but must not be mixed.
            here = [self.codes.setdefault((type(value), value), len(self.codes)) for value in given.values]
            self.arrays[0][begin : self.size] = np.array(here, dtype=np.int32)[given.codes]
        else:
            self.arrays[0][begin : self.size] = given

    def column(self) -> Column:
        """Return the column."""
        arrays = [array[: self.size] for array in self.arrays]
        if isinstance(self.first, Coded):
            return Coded([value for _, value in self.codes], arrays[0])
        given: Any = Texts(self.buffer, arrays[0], arrays[1]) if len(arrays) == 2 else arrays[0]
        return Meant(given, self.first.meaning) if isinstance(self.first, Meant) else given


def joined(first: Column, second: Column, buffer: Bytes, base: int) -> Column:
    """Concatenate two columns; the texts of the second start at a base in the buffer."""
    column = Growing(first, size_of(first) + size_of(second), buffer)
    column.add(first, 0)
    column.add(second, base)
    return column.column()


def like(column: Column, values: list[Any]) -> Column:
    """Return a column of the same kind with other values."""
    if isinstance(column, Coded):
        places = {value: at for at, value in enumerate(dict.fromkeys((type(value), value) for value in values))}
        codes = np.array([places[type(value), value] for value in values], dtype=np.int32)
        return Coded([value for _, value in places], codes)
    if isinstance(column, Meant):
        missing = "" if isinstance(column.given, Texts) else float("nan")
        shown = [missing if value is None else type(missing)(value) for value in values]
        return Meant(cast(Texts, like(column.given, shown)), column.meaning)
    return Texts.of(values) if isinstance(column, Texts) else np.array(values, dtype=column.dtype)


def taken(column: Column, places: Places) -> Column:
    """Return the rows of a column at these positions, in this order."""
    if isinstance(column, Coded):
        return Coded(column.values, column.codes[places])
    if isinstance(column, Meant):
        return Meant(cast(Texts, taken(column.given, places)), column.meaning)
    return column.take(places) if isinstance(column, Texts) else column[places]


def letters_of(column: Column) -> Bytes:
    """Return the buffer of a column's texts, empty for other kinds of columns."""
    texts = column.given if isinstance(column, Meant) else column
    return texts.buffer if isinstance(texts, Texts) else np.zeros(0, dtype=np.uint8)
