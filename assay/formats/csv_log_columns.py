"""Fast reader of large CSV query logs, as columns instead of single records."""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from assay.core.read_report import Tally
from assay.formats.column_names import QUERY_ID
from assay.formats.delimited import Header, Record, check_mapping, header_of, named_cells, records, usual_delimiter
from assay.formats.log_blocks import LogBlock, LogTexts
from assay.formats.log_chunks import PlainLog
from assay.formats.log_rows import DOCUMENT_ID
from assay.formats.plain_log_lines import PlainLines, plain_lines
from assay.formats.row_types import LogRow
from assay.formats.text_lines import LINES_WITH_ENDS, MAX_LINE, Content

if TYPE_CHECKING:
    from assay.formats.delimited import Columns


def csv_blocks(
    content: Content,
    tally: Tally,
    texts: LogTexts,
    *,
    known: Columns,
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> Iterator[LogBlock] | None:
    """Yield the searches of a log with one row per search; None for a counted log, which must be read whole."""
    log = _opened(content, tally, known, columns or {}, delimiter)
    return None if log is None else log.blocks(texts)


def csv_rows(
    content: Content,
    tally: Tally,
    *,
    known: Columns,
    lines: set[int],
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> Iterator[LogRow] | None:
    """Yield the rows on the given lines of a log with one row per search; None for a counted log."""
    log = _opened(content, tally, known, columns or {}, delimiter)
    return None if log is None else log.rows_on(lines)


def _opened(
    content: Content, tally: Tally, known: Columns, columns: Mapping[str, str], delimiter: str | None
) -> _Log | None:
    check_mapping(columns, known)
    chosen = delimiter or usual_delimiter(content)
    names = set(header_names(content, chosen))
    if is_counted(content, columns, delimiter) or names & {"query_id", *QUERY_ID, *DOCUMENT_ID}:
        # Counted logs, lists of queries, and pairs have other readers.
        return None
    return _Log(content, tally, known, columns, chosen, bool(delimiter))


def is_counted(content: Content, columns: Mapping[str, str], delimiter: str | None) -> bool:
    """Return whether the header names a column of counts."""
    return columns.get("count", "count").casefold() in header_names(content, delimiter or usual_delimiter(content))


def header_names(content: Content, delimiter: str) -> list[str]:
    """Return the case-folded names in the first line of a file."""
    return [name.strip().strip('"').casefold() for name in _first_line(content).split(delimiter)]


def _first_line(content: Content) -> str:
    return content.head.decode("utf-8", "replace").replace("\r", "\n").lstrip("\n").partition("\n")[0]


@dataclass(eq=False)
class _Lines:
    """Part of a log, line by line, for the careful reader; `done` is set once it is used up."""

    before: int
    data: bytes
    more: Iterator[tuple[int, bytes]]
    carriage_return_line: int | None = None
    done: bool = False

    def lines_with_ends(self) -> Iterator[tuple[int, str]]:
        piece: tuple[int, bytes] | None = (self.before, self.data)
        while piece is not None:
            number, data = piece
            text = data.decode()
            self.done = False
            for match in LINES_WITH_ENDS.finditer(text):
                number += 1
                self.done = match.end() == len(text)
                yield number, match.group()
            piece = next(self.more, None)


@dataclass(eq=False)
class _OddLines:
    """Single-line records, for the careful reader."""

    lines: list[tuple[int, bytes]]
    carriage_return_line: int | None = None
    done: bool = False

    def lines_with_ends(self) -> Iterator[tuple[int, str]]:
        return ((number, line.decode()) for number, line in self.lines)


class _Log(PlainLog):
    """State of one CSV log while its parts are read."""

    def __init__(
        self,
        content: Content,
        tally: Tally,
        known: Columns,
        mapping: Mapping[str, str],
        delimiter: str,
        delimiter_given: bool,
    ) -> None:
        super().__init__(content, tally)
        self.known, self.mapping = known, mapping
        self.delimiter, self.delimiter_given = delimiter, delimiter_given
        self.header: Header | None = None

    @property
    def ready(self) -> bool:
        return self.header is not None

    def look(self, data: bytes) -> PlainLines | None:
        if self.header is None:
            return None
        return plain_lines(data, self.header, self.delimiter, written=self.texts.written)

    def begin(self, pieces: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Return the first piece after its header if the header can be read alone, otherwise the whole piece."""
        for before, data in islice(pieces, 1):
            end = len(data) - len(data.lstrip(b"\n"))
            end = data.find(b"\n", end) + 1 or len(data)
            if b"\r" not in data and data.count(b'"', 0, end) % 2 == 0:
                # Blank lines and the header, which is the first record; there are no rows in this part.
                for _ in self._rows(_Lines(before, data[:end], iter(()))):
                    raise AssertionError("a header is not a row")
                before, data = before + data.count(b"\n", 0, end), data[end:]
            if data:
                yield before, data

    def rows_on(self, lines: set[int]) -> Iterator[LogRow]:
        import numpy as np

        wanted = sorted(lines)
        pieces = self.pieces()
        for before, data in pieces:
            if self.header is None:
                first = next(records(_Lines(before, data, pieces), self.tally, self.delimiter), None)
                self.header = None if first is None else self._read_header(first)
            if b"\r" in data:
                yield from self._rows(_Lines(before, data, pieces))
                continue
            ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
            for number in wanted[bisect_right(wanted, before) : bisect_right(wanted, before + len(ends) + 1)]:
                begin = int(ends[number - before - 2]) + 1 if number > before + 1 else 0
                yield from islice(self._rows(_Lines(number - 1, data[begin : begin + MAX_LINE], pieces)), 1)

    def careful(self, before: int, data: bytes, more: Iterator[tuple[int, bytes]]) -> Iterator[LogRow]:
        return self._rows(_Lines(before, data, more))

    def odd(self, lines: list[tuple[int, bytes]]) -> Iterator[LogRow]:
        return self._rows(_OddLines(lines))

    def time_on(self, line: bytes) -> str:
        place = self.header.places.get("timestamp") if self.header else None
        cells = next(csv.reader([line.decode()], delimiter=self.delimiter), [])
        return cells[place].strip() if place is not None and place < len(cells) else ""

    def _rows(self, lines: _Lines | _OddLines) -> Iterator[LogRow]:
        for record in records(lines, self.tally, self.delimiter):
            if self.header is None:
                self.header = self._read_header(record)
            elif (cells := named_cells(record, self.header, self.tally, self.known)) is not None:
                of = cells.of
                yield from self.books.take(
                    of["query"],
                    None,
                    of.get("timestamp", ""),
                    of.get("client_id", ""),
                    of.get("clicks", ""),
                    of.get("language", ""),
                    line=cells.line,
                    raw=cells.raw,
                    bin="repaired" if cells.repaired else "accepted",
                )
            if lines.done:
                return

    def _read_header(self, record: Record) -> Header:
        chosen = "" if self.delimiter_given else self.delimiter
        return header_of(record, self.tally, self.known, self.mapping, chosen)
