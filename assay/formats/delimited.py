"""Records of CSV files as named cells, regardless of the order of the columns. A record may span lines and is
reported under its first line. Column names are compared without case and surrounding blanks. Each format lists its
alternative names, and the user may map columns.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from assay.core.csv_cells import unescape
from assay.core.errors import NotValid
from assay.core.read_report import Tally
from assay.core.text_rules import amount
from assay.formats.column_names import ColumnMap, note_rest
from assay.formats.text_lines import Content

MAX_CELL = 1 << 22
NAMED = "name a column exactly as it is written in the file"

# The csv module's own limit (128 KiB) is too small for the text of a document, and it has only this global one.
csv.field_size_limit(MAX_CELL)


class Record(NamedTuple):
    """One record: its first line, its cells, and the beginning of its text."""

    line: int
    cells: list[str]
    raw: str


class Cells(NamedTuple):
    """A record by the names of its columns; ``others`` contains the columns that the format does not know."""

    line: int
    of: Mapping[str, str]
    others: Mapping[str, str]
    raw: str
    repaired: bool


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns that a format reads."""

    known: Mapping[str, tuple[str, ...]]
    required: tuple[str, ...]
    numeric: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    keep_others: bool = False


@dataclass(slots=True)
class Header:
    """Names of all columns, and positions of those that are read or passed on."""

    names: list[str]
    places: dict[str, int]
    others: dict[str, int] = field(default_factory=dict)


def read_table(
    content: Content,
    tally: Tally,
    columns: Columns,
    *,
    mapping: ColumnMap = None,
    delimiter: str | None = None,
    unescaped: bool = True,
) -> Iterator[Cells]:
    """Yield the records of a file with a header; those with a wrong number of cells are rejected (E10)."""
    check_mapping(mapping or {}, columns)
    header: Header | None = None
    chosen = delimiter or usual_delimiter(content)
    for record in records(content, tally, chosen):
        if header is None:
            header = header_of(record, tally, columns, mapping or {}, "" if delimiter else chosen)
        elif (cells := named_cells(record, header, tally, columns, unescaped)) is not None:
            yield cells


def usual_delimiter(content: Content) -> str:
    """Return the most frequent of ``,`` ``;`` and TAB in the first line."""
    return max(",;\t", key=first_line(content).count)


def first_line(content: Content) -> str:
    """Return the first line that is not blank."""
    return content.head.decode("utf-8", "replace").replace("\r", "\n").lstrip("\n").partition("\n")[0]


def check_mapping(mapping: Mapping[str, str], columns: Columns) -> None:
    """Raise `NotValid` if the mapping names a column that the format does not read."""
    if unknown := next((column for column in mapping if column not in columns.known), None):
        raise NotValid(f"unknown column {unknown!r}; the format reads {', '.join(columns.known)}", "columns")


def names_of(column: str, columns: Columns, mapping: ColumnMap) -> tuple[str, ...]:
    """Return the names under which a column is read: the one it is mapped to, or its own and its alternatives."""
    mapped = (mapping or {}).get(column)
    return (column, *columns.known[column]) if mapped is None else (mapped,)


class HasLines(Protocol):
    """A whole file, or the part of one that is read carefully."""

    carriage_return_line: int | None

    def lines_with_ends(self) -> Iterator[tuple[int, str]]:
        """Yield (number, text) with each line's own end."""


def records(content: HasLines, tally: Tally, delimiter: str) -> Iterator[Record]:
    """Yield the records of a file; blank lines and broken quotes are counted here."""
    feed = _Feed(content)
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    while True:
        feed.taken.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            tally.read()
            line, raw = feed.taken[0]
            what = f"broken quotes from here to line {feed.taken[-1][0]} ({error})"
            tally.reject("E10", line, what, fix='double each " inside a quoted cell', raw=raw.rstrip("\r\n"))
            continue
        line, raw = feed.taken[0]
        tally.read()
        if feed.taken[-1][1].endswith("\r") or feed.taken[-1][1].endswith("\r\n"):
            content.carriage_return_line = content.carriage_return_line or feed.taken[-1][0]
        if not cells or (len(cells) == 1 and not cells[0].strip()):
            tally.put_blank(line)
        else:
            yield Record(line, cells, raw.rstrip("\r\n"))


class _Feed:
    """Iterator that passes lines to the csv module and records which lines the current record used."""

    def __init__(self, content: HasLines) -> None:
        self._lines = content.lines_with_ends()
        self.taken: list[tuple[int, str]] = []

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        number, text = next(self._lines)
        # The first line's text is for the report, the last line's number for the message; other lines are not kept.
        if len(self.taken) > 1:
            self.taken.pop()
        self.taken.append((number, text))
        return text


def header_of(record: Record, tally: Tally, columns: Columns, mapping: Mapping[str, str], chosen: str) -> Header:
    """Read the header as `read_header` does, and report a detected separator (W46)."""
    if chosen not in (",", ""):
        tally.once("W46", record.line, f"cells are separated by {chosen!r}", done="read with this separator")
    return read_header(record, tally, columns, mapping)


def read_header(record: Record, tally: Tally, columns: Columns, mapping: Mapping[str, str]) -> Header:
    """Locate the columns that are read, and report unknown and renamed columns."""
    tally.put("header")
    names = [cell.strip() for cell in record.cells]
    folded = [name.casefold() for name in names]
    absent = [column for column in columns.known if mapping.get(column) and mapping[column].casefold() not in folded]
    if absent:
        _refuse_header(record, tally, [f"{mapping[column]!r}, to which {column} is mapped" for column in absent], NAMED)
    places: dict[str, int] = {}
    for column, others in columns.known.items():
        wanted = [mapping[column].casefold()] if column in mapping else [column, *others]
        for name in wanted:
            if folded.count(name) > 1:
                tally.refuse(
                    f"has two columns named {name!r}", line=record.line, expected="rename one of them", code="E22"
                )
            if name in folded and column not in places and folded.index(name) not in places.values():
                places[column] = folded.index(name)
                if name != column:
                    tally.once("W47", record.line, f"the column {name!r}", done=f"read as {column}", column=name)
    missing = [column for column in columns.required if column not in places]
    if missing:
        expected = f"expected a header; add one, or map a column (columns: {missing[0]}=NAME)"
        _refuse_header(record, tally, missing, expected)
    header = Header(names, places)
    taken = {column: names[place] for column, place in places.items()}
    for place, name in enumerate(names):
        if place in places.values() or folded[place] in columns.silent:
            continue
        if columns.keep_others and name:
            if name in header.others:
                tally.refuse(
                    f"has two columns named {name!r}", line=record.line, expected="rename one of them", code="E22"
                )
            header.others[name] = place
        else:
            note_rest(name, record.line, taken, columns.known, tally, "column")
    return header


def _refuse_header(record: Record, tally: Tally, missing: list[str], expected: str) -> None:
    header = ", ".join(map(repr, record.cells[:20]))
    wanted = " and ".join(missing)
    tally.refuse(
        f"the first line has no column {wanted}; it has {header}",
        line=record.line,
        expected=expected,
        code="F04",
    )


def named_cells(record: Record, header: Header, tally: Tally, columns: Columns, unescaped: bool = True) -> Cells | None:
    """Return a record's cells by name, or None for a wrong number of cells, which is rejected here (E10)."""
    if len(record.cells) != len(header.names):
        what = f"{amount(len(record.cells), 'cell')}, but the header has {len(header.names)}"
        tally.reject("E10", record.line, what, fix="quote cells that contain the separator", raw=record.raw)
        return None
    of = {column: record.cells[place] for column, place in header.places.items()}
    others = {name: record.cells[place] for name, place in header.others.items()}
    repaired = False
    if unescaped:
        for cells in (of, others):
            for column, text in cells.items():
                if text[:1] == "'" and column not in columns.numeric and (plain := unescape(text)) != text:
                    cells[column] = plain
                    repaired = True
                    tally.once("W37", record.line, "an apostrophe in front of a formula", done="removed", column=column)
    return Cells(record.line, of, others, record.raw, repaired)
