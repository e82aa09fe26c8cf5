"""Fast reader of large files: plain lines are read as columns, only unusual lines individually. Each format defines
how lines are split, which rows are plain, and how to read a line carefully. The report is the same as if every line
were read carefully: odd lines, rows with repeated keys and the first row with each warning are read carefully, in
the order of the file; all others are only counted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from typing import Any, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt

from assay.core.errors import UnreadableInput
from assay.core.read_report import MAX_LISTED, Tally
from assay.core.text_column import SPREAD, WORD, Bytes, Keys, Places, Texts
from assay.core.text_rules import MAX_LENGTH, id_fault, is_unusual
from assay.formats.grade_cells import Keyed
from assay.formats.row_columns import LARGEST, Coded, Column, Growing, RowColumns, joined, letters_of, like, taken
from assay.formats.text_lines import LINES_WITH_ENDS, Content
from assay.formats.trec_lines import NEWLINE, RETURN, Fields, records, split_fields

Row = TypeVar("Row")
Flags = npt.NDArray[np.bool_]

# Number of bytes to process at once.
PIECE = 1 << 21
# This many lines are usually enough to confirm the format of a file.
FEW_LINES = 20
# If one line in this many is odd, all lines are read carefully.
MOST_ODD = 4
# Blocks of at most this many rows are compared row by row for repeated keys.
SMALL_BLOCK = 16


@dataclass(frozen=True, slots=True)
class Warned:
    """Rows with a warning that changes nothing else: its code, and a flag for each row."""

    code: str
    rows: Flags


@dataclass(frozen=True, slots=True)
class Plain:
    """Columns of the rows of a piece, with the usable rows."""

    columns: dict[str, Column]
    good: Flags
    repaired: Flags | None = None
    warned: Sequence[Warned] = ()


class Lines:
    """Numbered lines for the careful reader; `taken` counts them."""

    carriage_return_line: int | None = None

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self.taken = 0

    def lines_with_ends(self) -> Iterator[tuple[int, str]]:
        for line in self._lines:
            self.taken += 1
            yield line


class Layout(ABC, Generic[Row]):
    """Layout of the rows of one format in a file."""

    # The dataclass of a row, and which of its fields distinguish rows.
    row: type[Row]
    keys: tuple[str, ...]
    # Whether a lone CR ends a line in the column reader; otherwise such a file is read carefully.
    lone_returns = False
    # Whether a record may continue on the next line.
    spans_lines = False

    def begin(self, lines: Lines, tally: Tally) -> None:
        """Read the lines before the first row."""

    @abstractmethod
    def split(self, data: bytes) -> Fields | None:
        """Return the cells of some whole lines; None if all of them need the careful reader."""

    @abstractmethod
    def plain(self, fields: Fields) -> Plain:
        """Convert the rows of a piece to columns."""

    @abstractmethod
    def careful(self, lines: Lines, tally: Tally, by_key: Keyed[Row]) -> None:
        """Read lines one by one."""

    def keyed(self, tally: Tally) -> Keyed[Row]:
        """Return the collection that accepts one row for each key."""
        return Keyed(tally)

    def record_lines(self, lines: Iterator[str]) -> int:
        """Return the number of lines of the record that begins with the first line."""
        return 1

    def spread(self, columns: dict[str, Column], lines: Places, tally: Tally) -> tuple[dict[str, Column], Places]:
        """Return the columns of the rows, and the line of each, from those of the plain lines, each counted as one."""
        return columns, lines

    def count(self, rows: Sequence[Row], tally: Tally) -> None:
        """Count all accepted rows, in the order of the file."""


class TrecLayout(Layout[Row]):
    """Layout of the rows in a TREC file; formats define the rows."""

    # Number of fields in a line.
    width: int
    lone_returns = True

    def split(self, data: bytes) -> Fields | None:
        return split_fields(data, self.width, tolerant=True)

    def careful(self, lines: Lines, tally: Tally, by_key: Keyed[Row]) -> None:
        for line, text, parts in records(lines_without_ends(lines), tally):
            self.add(parts, line, text, tally, by_key)

    @abstractmethod
    def add(self, parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[Row]) -> None:
        """Add a line that was read carefully."""


def lines_without_ends(lines: Lines) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of lines without their ends."""
    return ((number, text.rstrip("\r\n")) for number, text in lines.lines_with_ends())


def rows_in_columns(content: Content, tally: Tally, layout: Layout[Row]) -> Sequence[Row]:
    """Read the rows of a whole file; the caller closes the file and its report."""
    file = _File(content, layout, tally)
    rows = file.rows()
    if layout.spans_lines and content.carriage_return_line is not None:
        # Inside a quoted cell a CR is part of the text.
        content.carriage_return_line = min(file.returns, default=None)
    layout.count(rows, tally)
    return rows


@dataclass(slots=True)
class _Parts:
    """The plain rows of all pieces, and the lines that are not among them, numbered from 0."""

    keys: Growing
    lines: Growing
    columns: dict[str, Growing] = field(default_factory=dict)
    odd: list[Places] = field(default_factory=list)
    repaired: list[Flags] = field(default_factory=list)
    warned: list[dict[str, Flags]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    comments: list[Places] = field(default_factory=list)
    blanks: list[Places] = field(default_factory=list)


class _File(Generic[Row]):
    """State of one file while it is read."""

    # Number of bytes to process.
    size = 0

    def __init__(self, content: Content, layout: Layout[Row], tally: Tally) -> None:
        self.layout, self.tally = layout, tally
        self.data = data = bytearray()
        lone = False
        for before, piece in content.pieces(PIECE):
            if before and not self.size:
                self.size = len(data)
                self._refuse_early()
            if content.encoding != "utf-8":
                piece = piece.decode(content.encoding).encode()
            if b"\r" in piece and piece.count(b"\r") != piece.count(b"\r\n"):
                lone = not layout.lone_returns
                if layout.lone_returns:
                    piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            data += piece
        if not lone and data and not data.endswith(b"\n"):
            data += b"\n"
        self.lone = lone
        self.size = len(data)
        data += bytes(WORD)
        self.lines = content.lines_read + 1
        # Lines that end in CR or CRLF, including the first such line outside quotes.
        self.returns: list[int] = []
        self.buffer: Bytes = np.frombuffer(data, dtype=np.uint8)

    def _refuse_early(self) -> None:
        """Read the first lines first, so that a large file of the wrong format is refused early."""
        for most in (FEW_LINES, 2 * MAX_LISTED):
            trial = self.tally.part()
            head = Lines(islice(self._all_lines(0, 0), most))
            self.layout.begin(head, trial)
            self.layout.careful(head, trial, self.layout.keyed(trial))
            if trial.bins["accepted"]:
                return

    def rows(self) -> Sequence[Row]:
        """Return the rows, with every line counted in its bin."""
        tally = self.tally
        head = Lines(self._all_lines(0, 0))
        self.layout.begin(head, tally)
        self._note_return(head)
        self.first = head.taken
        self.offset = self._offset_of(head.taken)
        parts = None if self.lone else self._parts()
        return self._with_care(tally) if parts is None else self._rows(parts, tally)

    def _with_care(self, tally: Tally) -> Sequence[Row]:
        by_key = self.layout.keyed(tally)
        lines = Lines(self._all_lines(self.offset, self.first))
        self.layout.careful(lines, tally, by_key)
        self._note_return(lines)
        return list(by_key.rows())

    def _note_return(self, lines: Lines) -> None:
        self.returns += [] if lines.carriage_return_line is None else [lines.carriage_return_line]

    def _all_lines(self, offset: int, number: int) -> Iterator[tuple[int, str]]:
        """Yield (number, text) of the lines from an offset on, several at a time."""
        while offset < self.size:
            end = self._end_of_lines(offset)
            for match in LINES_WITH_ENDS.finditer(self.data[offset:end].decode()):
                number += 1
                yield number, match.group()
            offset = end

    def _end_of_lines(self, offset: int) -> int:
        if offset + PIECE >= self.size:
            return self.size
        end = self.data.rfind(b"\n", offset, offset + PIECE) + 1 or self.data.find(b"\n", offset, self.size) + 1
        return end or self.size

    def _offset_of(self, line: int) -> int:
        lines = self._all_lines(0, 0)
        return sum(len(next(lines)[1].encode()) for _ in range(line))

    def _parts(self) -> _Parts | None:
        """Read all pieces; None if so many lines are unusual that the careful reader must read all of them."""
        small = np.zeros(0, dtype=np.int32 if self.lines < LARGEST else np.int64)
        keys, lines_of = np.zeros(0, dtype=np.uint64), small
        parts = _Parts(Growing(keys, self.lines, self.buffer), Growing(lines_of, self.lines, self.buffer))
        number, offset = self.first, self.offset
        odd = 0
        while offset < self.size:
            end = self._end_of_lines(offset)
            block = self.layout.split(bytes(self.data[offset:end]))
            if block is None:
                return None
            plain = self.layout.plain(block) if block.rows else None
            lines = np.arange(block.rows) if block.lines is None else block.lines
            ends = np.flatnonzero(self.buffer[offset:end] == NEWLINE)
            rest = block.odd if plain is None or plain.good.all() else np.union1d(block.odd, lines[~plain.good])
            begun, stop = self._whole_records(rest, offset, ends)
            for _ in range(stop - len(ends)):
                # The last record continues in the next piece.
                end = self.data.find(b"\n", end, self.size) + 1 or self.size
            good = np.ones(0, dtype=np.bool_)
            if plain is not None:
                good = plain.good & ~np.isin(lines, begun) if len(begun) else plain.good
                self._add(parts, plain, good, lines + number, offset)
            parts.odd.append(begun + number)
            parts.comments.append(block.comments - 1 + number)
            parts.blanks.append(block.blanks - 1 + number)
            number += max(len(ends), stop)
            odd += len(begun)
            if odd * MOST_ODD > number:
                return None
            offset = end
        return parts

    def _whole_records(self, odd: Places, offset: int, ends: Places) -> tuple[Places, int]:
        """Return the lines of unusual records, and the end of the last of these records."""
        if not self.layout.spans_lines:
            return odd, 0
        record_lines: list[int] = []
        after = 0
        for line in odd.tolist():
            if line < after:
                continue
            begin = offset + (int(ends[line - 1]) + 1 if line else 0)
            text = self.data[begin : offset + int(ends[line]) + 1]
            size = self.layout.record_lines(self._texts(begin)) if b'"' in text else 1
            after = line + size
            record_lines.extend(range(line, after))
        return np.array(record_lines, dtype=np.int64), after

    def _texts(self, offset: int) -> Iterator[str]:
        """Yield the lines from an offset on, one at a time."""
        while offset < self.size:
            end = self.data.find(b"\n", offset, self.size) + 1 or self.size
            yield self.data[offset:end].decode()
            offset = end

    def _add(self, parts: _Parts, plain: Plain, good: Flags, lines: Places, offset: int) -> None:
        whole = bool(good.all())
        rows = np.flatnonzero(good)
        repaired = np.zeros(len(good), dtype=np.bool_) if plain.repaired is None else plain.repaired
        columns = plain.columns
        if not whole:
            columns = {name: taken(column, rows) for name, column in columns.items()}
        # Doing this here keeps the data in the processor cache.
        parts.keys.add(_keys([columns[name] for name in self.layout.keys]), 0)
        for name, column in columns.items():
            if name not in parts.columns:
                parts.columns[name] = Growing(column, self.lines, self.buffer)
            parts.columns[name].add(column, offset)
        parts.lines.add(lines if whole else lines[rows], 0)
        parts.counts.append(len(rows))
        parts.repaired.append(repaired[rows])
        parts.warned.append({warned.code: warned.rows[rows] for warned in plain.warned})

    def _rows(self, parts: _Parts, tally: Tally) -> Sequence[Row]:
        if not parts.columns:
            return self._with_care(tally)
        columns = {name: column.column() for name, column in parts.columns.items()}
        lines = np.asarray(parts.lines.column())
        odd = np.concatenate(parts.odd)
        keys = np.asarray(parts.keys.column())
        twice = _repeated(keys, _keys_of(columns[self.layout.keys[-1]]))
        if len(odd):
            twice |= self._stand_in(odd, columns, keys, tally)
        del keys, parts.keys
        if (len(odd) + np.count_nonzero(twice)) * MOST_ODD > len(odd) + len(lines):
            return self._with_care(tally)
        skipped = {"comment": np.concatenate(parts.comments), "blank": np.concatenate(parts.blanks)}
        warned = _merged(parts.warned, parts.counts)
        # The first row and the first line with each warning are read carefully, because the report lists them.
        for flags in warned.values():
            twice[np.flatnonzero(flags)[:1]] = True
        first = np.concatenate([places[:1] for places in skipped.values()])
        rows = np.flatnonzero(~twice)
        numbers = np.union1d(np.union1d(odd, lines[twice]), first)
        with_care = self._accept(lines[rows], int(np.concatenate(parts.repaired)[rows].sum()), numbers, tally)
        for code, flags in warned.items():
            tally.once(code, None, "", done="", times=int(flags[rows].sum()))
        for (bin, places), code in zip(skipped.items(), ("W34", "W35"), strict=True):
            tally.read(len(places[1:]))
            tally.put(bin, len(places[1:]))
            tally.once(code, None, "", done="", times=len(places[1:]))
        if len(rows) < len(lines):
            columns, lines = {name: taken(column, rows) for name, column in columns.items()}, lines[rows]
        return self._together(*self.layout.spread(columns, lines, tally), with_care)

    def _accept(self, lines: Places, repaired: int, careful: Places, tally: Tally) -> list[tuple[int, Row]]:
        """Count plain rows in their bins, read the other lines carefully, and return their rows with their lines."""

        def accept() -> None:
            tally.read(len(lines))
            tally.put("accepted", len(lines) - repaired)
            tally.put("repaired", repaired)

        # A file whose first lines cannot be read is refused, so a readable row counts before the odd rows.
        good_first = len(lines) > 0 and (len(careful) < MAX_LISTED or lines[0] < careful[MAX_LISTED - 1])
        if good_first:
            accept()
        rows: list[tuple[int, Row]] = []
        if len(careful):
            by_key = self.layout.keyed(tally)
            with_care = Lines(self._some_lines(careful))
            self.layout.careful(with_care, tally, by_key)
            self._note_return(with_care)
            rows = by_key.places()
        if b"\r" in self.data:
            ends = np.flatnonzero(self.buffer[: self.size] == NEWLINE)[lines]
            self.returns += (lines[self.buffer[ends - 1] == RETURN] + 1)[:1].tolist()
        if not good_first:
            accept()
        return rows

    def _stand_in(self, odd: Places, columns: dict[str, Column], keys: Keys, tally: Tally) -> Flags:
        """Return which plain rows share the key of a row on an unusual line."""
        trial = tally.part()
        # These are not the first lines of the file, so the file must not be refused because of them.
        trial.read()
        trial.put("accepted")
        by_key = self.layout.keyed(trial)
        try:
            self.layout.careful(Lines(self._some_lines(odd)), trial, by_key)
        except UnreadableInput:
            # Reading them again reports the problem.
            return np.zeros(len(keys), dtype=np.bool_)
        rows = by_key.all_rows()
        if not rows:
            return np.zeros(len(keys), dtype=np.bool_)
        theirs = [like(columns[name], [getattr(row, name) for row in rows]) for name in self.layout.keys]
        return np.isin(keys, _keys(theirs))

    def _some_lines(self, numbers: Places) -> Iterator[tuple[int, str]]:
        """Yield (number, text) of the lines with these ascending numbers from 0."""
        ends = np.flatnonzero(self.buffer[: self.size] == NEWLINE)
        begins = np.where(numbers > 0, ends[numbers - 1] + 1, 0)
        for number, begin, end in zip(numbers.tolist(), begins.tolist(), ends[numbers].tolist(), strict=True):
            yield number + 1, self.data[begin : end + 1].decode()

    def _together(self, columns: dict[str, Column], lines: Places, with_care: list[tuple[int, Row]]) -> Sequence[Row]:
        """Return plain rows and carefully read rows in the order of the file."""
        columns["line"] = lines + 1
        if not with_care:
            return RowColumns(self.layout.row, columns)
        at = np.searchsorted(lines, [line - 1 for line, _ in with_care])
        order = np.insert(np.arange(len(lines)), at, np.arange(len(with_care)) + len(lines))
        others = {name: like(column, [getattr(row, name) for _, row in with_care]) for name, column in columns.items()}
        tails = {name: letters_of(column) for name, column in others.items()}
        buffer, base = np.concatenate([self.buffer, *tails.values()]), len(self.buffer)
        for name, column in columns.items():
            columns[name] = taken(joined(column, others[name], buffer, base), order)
            base += len(tails[name])
        return RowColumns(self.layout.row, columns)


def _repeated(keys: Keys, last: Keys) -> Flags:
    """Return which rows share the key of another row; `last` is the key part of the last column."""
    if _differ_in_blocks(keys, keys - last):
        return np.zeros(len(keys), dtype=np.bool_)
    ascending = np.sort(keys)
    twice = ascending[1:][ascending[1:] == ascending[:-1]]
    return np.isin(keys, twice) if len(twice) else np.zeros(len(keys), dtype=np.bool_)


def _differ_in_blocks(keys: Keys, blocks: Keys) -> bool:
    """Return whether all keys surely differ, for small blocks of adjacent equal prefixes."""
    begins = np.flatnonzero(blocks[1:] != blocks[:-1]) + 1
    largest = int(np.diff(begins, prepend=0, append=len(keys)).max(initial=0))
    if largest > SMALL_BLOCK or 2 * len(begins) > len(keys):
        return False
    ascending = np.sort(blocks[np.append(0, begins)]) if len(keys) else blocks
    if (ascending[1:] == ascending[:-1]).any():
        return False
    return not any((keys[shift:] == keys[:-shift]).any() for shift in range(1, largest))


def _keys(columns: Sequence[Column]) -> Keys:
    """Return a number for each row: rows with the same texts have the same number, others almost always a different
    one."""
    return reduce(lambda keys, other: keys * SPREAD + other, (_keys_of(column) for column in columns))


def _keys_of(column: Column) -> Keys:
    return cast(Texts | Coded, column).keys()


def plain_ids(texts: Texts) -> Flags:
    """Return which texts are surely valid ids without warnings; control characters are checked elsewhere."""
    sizes = texts.ends - texts.starts
    good = (sizes > 0) & (sizes <= MAX_LENGTH)
    for row in rows_outside_ascii(texts).tolist():
        text = texts[row]
        if id_fault(text) or is_unusual(text):
            good[row] = False
    return good


def rows_outside_ascii(texts: Texts) -> Places:
    """Return the rows with a letter outside ASCII; the texts are in their buffer in the order of the rows."""
    high = np.flatnonzero(texts.buffer >= 128)
    if not len(high) or not len(texts):
        return np.zeros(0, dtype=np.int64)
    row = np.searchsorted(texts.starts, high, side="right") - 1
    inside = (row >= 0) & (high < texts.ends[row])
    return np.unique(row[inside])


def _merged(parts: Sequence[dict[str, Flags]], counts: Sequence[int]) -> dict[str, Flags]:
    codes = dict.fromkeys(code for part in parts for code in part)
    return {
        code: np.concatenate(
            [part.get(code, np.zeros(count, dtype=np.bool_)) for part, count in zip(parts, counts, strict=True)]
        )
        for code in codes
    }


def count_grades(rows: Sequence[Any], tally: Tally) -> None:
    """Count the grades of all accepted rows in the histogram."""
    grades = rows.columns["grade"] if isinstance(rows, RowColumns) else None
    if isinstance(grades, Coded):
        for grade, times in grades.counts():
            if grade is not None and times:
                tally.grade(grade, times)
    elif grades is not None:
        values, times_each = np.unique(np.asarray(grades), return_counts=True)
        for grade, times in zip(values.tolist(), times_each.tolist(), strict=True):
            tally.grade(grade, times)
    else:
        for row in rows:
            if row.grade is not None:
                tally.grade(row.grade)
