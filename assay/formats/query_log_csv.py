"""Query logs as CSV: one search per record, or one query per record with its count.

A large log with one search per record is read as columns in blocks, a counted log as the columns of the whole file.
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import numpy.typing as npt

from assay.core.csv_cells import escape
from assay.core.read_report import Tally
from assay.core.text_column import Texts
from assay.formats.column_names import QUERY_ID, ColumnMap
from assay.formats.column_reader import Flags, Plain, rows_in_columns
from assay.formats.csv_columns import CsvLayout, whole_numbers
from assay.formats.delimited import (
    Cells,
    Columns,
    Header,
    Record,
    check_mapping,
    first_line,
    header_of,
    named_cells,
    names_of,
    read_table,
    records,
    usual_delimiter,
)
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, count
from assay.formats.log_blocks import LogBlock, LogTexts, as_written, careful_blocks, client_keys
from assay.formats.log_chunks import PlainLines, PlainLog, line_at
from assay.formats.log_rows import DOCUMENT_ID, LogBooks, Repeated, check_for_pairs, check_for_queries
from assay.formats.queries import MAX_QUERY, could_be_query
from assay.formats.reader import reader
from assay.formats.row_columns import Coded, Column, Meant
from assay.formats.row_types import LogRow
from assay.formats.text_lines import LINES_WITH_ENDS, MAX_LINE, Content
from assay.formats.timestamp_columns import usual_times
from assay.formats.trec_lines import BLANK, DELETE, Fields, numbers_or_nan
from assay.formats.writer import Written, optional_cell, write_csv

if TYPE_CHECKING:
    import polars

Whole = npt.NDArray[np.int64]

# Number of bytes processed at once, so that they stay in the processor cache.
WINDOW = 1 << 18
NAME = "query-log-csv"
EXAMPLE = (
    "query,timestamp,client_id,clicks\n"
    "rain jacket,2026-03-02T09:14:07Z,c17,doc-abc\n"
    "running shoes,2026-03-02T09:15:40Z,c04,\n"
)
COLUMNS = Columns(
    {
        "query": ("user_query", "query_text", "search_term"),
        "count": (),
        "clients": (),
        "timestamp": ("time", "date"),
        "client_id": ("session_id", "user_id", "user"),
        "clicks": (),
        "language": ("lang", "locale"),
        "query_id": QUERY_ID,
    },
    ("query",),
    numeric=frozenset({"count", "clients", "timestamp"}),
)


def parse_log(
    content: Content,
    tally: Tally,
    *,
    columns: ColumnMap = None,
    delimiter: str | None = None,
    repeated: Repeated | None = None,
) -> Iterable[LogRow]:
    """Return the rows of a log: those of a counted log as columns, others one by one as they are read."""
    check_mapping(columns or {}, COLUMNS)
    # If each row represents itself, repeated queries need not be found.
    if repeated != "each" and _is_counted(content, columns or {}, delimiter):
        return rows_in_columns(content, tally, _CountedLog(content, repeated, columns, delimiter))
    return _searches(content, tally, columns, delimiter, repeated)


def _searches(
    content: Content, tally: Tally, columns: ColumnMap, delimiter: str | None, repeated: Repeated | None
) -> Iterator[LogRow]:
    header = _header_names(content, delimiter or usual_delimiter(content))
    check_for_pairs(header, lambda column: names_of(column, COLUMNS, columns), tally, 1)
    books = LogBooks(tally, repeated)
    for cells in read_table(content, tally, COLUMNS, mapping=columns, delimiter=delimiter):
        check_for_queries(cells.of, tally, cells.line)
        yield from books.take_cells(cells)
    yield from books.counted()


def _blocks(
    content: Content,
    tally: Tally,
    texts: LogTexts,
    *,
    columns: ColumnMap = None,
    delimiter: str | None = None,
    repeated: Repeated | None = None,
) -> Iterator[LogBlock]:
    """Return the searches of a log as columns; options as for `parse_log`."""
    if (log := _opened(content, tally, columns or {}, delimiter)) is not None:
        return log.blocks(texts)
    return careful_blocks(parse_log(content, tally, columns=columns, delimiter=delimiter, repeated=repeated), texts)


def _rows_on(
    content: Content,
    tally: Tally,
    *,
    lines: set[int],
    columns: ColumnMap = None,
    delimiter: str | None = None,
    repeated: Repeated | None = None,
) -> Iterable[LogRow]:
    """Return the rows on the given lines; options as for `parse_log`."""
    if (log := _opened(content, tally, columns or {}, delimiter)) is not None:
        return log.rows_on(lines)
    return parse_log(content, tally, columns=columns, delimiter=delimiter, repeated=repeated)


def _opened(content: Content, tally: Tally, columns: Mapping[str, str], delimiter: str | None) -> _Log | None:
    """Return a log with one row per search; None for a counted log, which must be read whole."""
    check_mapping(columns, COLUMNS)
    chosen = delimiter or usual_delimiter(content)
    names = set(_header_names(content, chosen))
    if _is_counted(content, columns, delimiter) or names & {"query_id", *QUERY_ID, *DOCUMENT_ID}:
        # Counted logs, lists of queries, and pairs have other readers.
        return None
    return _Log(content, tally, columns, chosen, bool(delimiter))


def _is_counted(content: Content, columns: Mapping[str, str], delimiter: str | None) -> bool:
    """Return whether the header names a column of counts."""
    return columns.get("count", "count").casefold() in _header_names(content, delimiter or usual_delimiter(content))


def _header_names(content: Content, delimiter: str) -> list[str]:
    """Return the case-folded names in the first line of a file."""
    return [name.strip().strip('"').casefold() for name in first_line(content).split(delimiter)]


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
        mapping: Mapping[str, str],
        delimiter: str,
        delimiter_given: bool,
    ) -> None:
        super().__init__(content, tally)
        self.mapping = mapping
        self.delimiter, self.delimiter_given = delimiter, delimiter_given
        self.header: Header | None = None

    @property
    def ready(self) -> bool:
        return self.header is not None

    def look(self, data: bytes) -> PlainLines | None:
        if self.header is None:
            return None
        return _plain_lines(data, self.header, self.delimiter, written=self.texts.written)

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
            elif (cells := named_cells(record, self.header, self.tally, COLUMNS)) is not None:
                yield from self.books.take_cells(cells)
            if lines.done:
                return

    def _read_header(self, record: Record) -> Header:
        chosen = "" if self.delimiter_given else self.delimiter
        return header_of(record, self.tally, COLUMNS, self.mapping, chosen)


def _plain_lines(data: bytes, header: Header, delimiter: str, *, written: bool = False) -> PlainLines | None:
    """Split a part that ends with a line feed; None if it needs the careful reader as a whole."""
    import polars as pl

    ends, odd = _odd_lines(data, delimiter.encode(), len(header.names))
    if np.count_nonzero(odd) * 4 > len(odd) or not _stand_alone(data, ends, odd, delimiter):
        return None
    places = np.flatnonzero(~odd)
    # polars treats this character as a byte order mark at the start of its input, but it is one only at the start of
    # the file.
    while len(places) and line_at(data, ends, int(places[0])).startswith(b"\xef\xbb\xbf"):
        odd[places[0]] = True
        places = places[1:]
    try:
        frame = _split(_without(data, ends, odd), header, delimiter, clicks=written)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # If polars rejects the input, the careful reader reports the problem, if any.
        return None
    if frame.height != len(places):
        return None
    columns = dict(zip(frame.columns, frame.get_columns(), strict=True))
    written_texts = as_written(columns.get("timestamp"), columns.get("clicks"), number=len(places)) if written else None
    moment, times = usual_times(columns.get("timestamp"), len(places))
    clients = client_keys(columns["client_id"]) if "client_id" in columns else None
    language = columns["language"].str.strip_chars(" \t") if "language" in columns else None
    return PlainLines(data, ends, odd, places, columns["query"], moment, times, clients, language, written_texts)


def _odd_lines(data: bytes, delimiter: bytes, width: int) -> tuple[Whole, Flags]:
    """Return the end of each line, and whether it has quotes, a wrong number of cells, or a leading apostrophe."""
    letters = np.frombuffer(data, dtype=np.uint8)
    marked = []
    for begin in range(0, len(letters), WINDOW):
        part = letters[begin : begin + WINDOW]
        marked.append(np.flatnonzero((part == ord(delimiter)) | (part == ord("\n"))) + begin)
    marks = np.concatenate(marked)
    last = np.flatnonzero(letters[marks] == ord("\n"))
    ends = marks[last]
    odd = np.diff(last, prepend=-1) != width
    if width == 1:
        odd |= np.diff(ends, prepend=-1) == 1
    if b'"' in data:
        odd[np.searchsorted(ends, np.flatnonzero(letters == ord('"')))] = True
    if b"'" in data:
        quotes = np.flatnonzero(letters == ord("'"))
        in_front = (quotes == 0) | np.isin(letters[quotes - 1], [ord(delimiter), ord("\n")])
        odd[np.searchsorted(ends, quotes[in_front])] = True
    return ends, odd


def _stand_alone(data: bytes, ends: Whole, odd: Flags, delimiter: str) -> bool:
    """Return whether each unusual line is a complete record, without quotes that continue on the next line."""
    for at in np.flatnonzero(odd):
        line = line_at(data, ends, int(at))
        if b'"' in line:
            try:
                next(csv.reader([line.decode()], delimiter=delimiter, strict=True), None)
            except csv.Error:
                return False
    return True


def _without(data: bytes, ends: Whole, odd: Flags) -> bytes:
    parts, begin = [], 0
    for at in np.flatnonzero(odd):
        parts.append(data[begin : int(ends[at - 1]) + 1 if at else 0])
        begin = int(ends[at]) + 1
    return b"".join([*parts, data[begin:]]) if parts else data


def _split(data: bytes, header: Header, delimiter: str, *, clicks: bool) -> polars.DataFrame:
    """Return the needed columns as texts; an empty query is an empty text, other empty cells are null."""
    import polars as pl

    places = {column: place for column, place in header.places.items() if clicks or column != "clicks"}
    if not data:
        return pl.DataFrame(schema=dict.fromkeys(places, pl.String))
    frame = pl.read_csv(
        data,
        has_header=False,
        separator=delimiter,
        quote_char=None,
        schema={str(place): pl.String for place in range(len(header.names))},
        columns=sorted(places.values()),
        low_memory=False,
    )
    return frame.select(**{column: pl.col(str(place)) for column, place in places.items()}).with_columns(
        pl.col("query").fill_null("")
    )


class _CountedLog(CsvLayout[LogRow]):
    """Records of a query and its count under a header."""

    row = LogRow
    keys = ("query",)

    def __init__(self, content: Content, repeated: Repeated | None, mapping: ColumnMap, delimiter: str | None) -> None:
        super().__init__(content, COLUMNS, mapping=mapping, delimiter=delimiter)
        self.repeated = repeated

    def keyed(self, tally: Tally) -> Keyed[LogRow]:
        return _Counted(tally, self.repeated)

    def split(self, data: bytes) -> Fields | None:
        # All times must be of the same kind, and own ids must be checked individually.
        careful = {"timestamp", "query_id"} & self.places.keys() or "count" not in self.places
        return None if careful else super().split(data)

    def plain(self, fields: Fields) -> Plain:
        queries, counts = fields.texts(self.places["query"]), fields.texts(self.places["count"])
        good = _plain_queries(queries) & whole_numbers(counts) & (counts.ends > counts.starts)
        numbers = np.nan_to_num(numbers_or_nan(counts)).astype(np.int64)
        good &= numbers >= 1
        columns: dict[str, Column] = {"query": queries, "count": numbers}
        if (clients := self.texts(fields, "clients")) is not None:
            good &= whole_numbers(clients)
            columns["clients"] = Meant(clients, lambda text: count(text, "clients"))
        if (languages := self.texts(fields, "language")) is not None:
            columns["language"] = Coded.of(languages).mapped(lambda text: text.strip(" \t"))
        for name in ("client_id", "clicks"):
            if (texts := self.texts(fields, name)) is not None:
                columns[name] = texts
        return Plain(columns, good)

    def add(self, cells: Cells, tally: Tally, by_key: Keyed[LogRow]) -> None:
        check_for_queries(cells.of, tally, cells.line)
        if isinstance(by_key, _Counted):
            by_key.searches += by_key.books.take_cells(cells)


class _Counted(Keyed[LogRow]):
    """Accepted rows of a counted log, one for each query."""

    def __init__(self, tally: Tally, repeated: Repeated | None) -> None:
        super().__init__(tally)
        self.books = LogBooks(tally, repeated)
        # In case the file has no counts after all.
        self.searches: list[LogRow] = []

    def places(self) -> list[tuple[int, LogRow]]:
        return [(row.line, row) for row in self.rows()]

    def rows(self) -> Iterator[LogRow]:
        return chain(self.searches, self.books.counted())

    def all_rows(self) -> list[LogRow]:
        return self.books.all_counted()


def _plain_queries(queries: Texts) -> Flags:
    """Return which texts are surely valid queries."""
    sizes = queries.ends - queries.starts
    good: Flags = (sizes > 0) & (sizes <= MAX_QUERY)
    first = queries.buffer[queries.starts]
    # A leading blank, or letters outside ASCII, may be the whole text.
    for row in np.flatnonzero(good & ((first <= BLANK) | (first >= DELETE))).tolist():
        good[row] = could_be_query(queries[row])
    return good


def write(rows: Iterable[LogRow], stream: BinaryIO) -> Written:
    """Write a log in the given order, as a counted log if no row has a time, client or click."""
    listed = list(rows)
    raw = any(row.timestamp or row.client_id or row.clicks for row in listed)
    names = ["query", "timestamp", "client_id", "clicks"] if raw else ["query", "count"]
    names += ["clients"] if not raw and any(row.clients is not None for row in listed) else []
    names += ["language"] if any(row.language for row in listed) else []
    names += ["query_id"] if not raw and any(row.query_id for row in listed) else []

    def cells(row: LogRow) -> list[str]:
        values = (getattr(row, name) for name in names)
        return [
            optional_cell(value) if name in COLUMNS.numeric else escape(value)
            for name, value in zip(names, values, strict=True)
        ]

    return write_csv(stream, names, listed, cells, "the query {0.query!r}")


FORMAT = Format(
    name=NAME,
    title="Query log, CSV",
    kind="query-log",
    extensions=(".csv", ".tsv"),
    description=(
        "One search per record (query, timestamp, client_id, clicks), or one query with its count and number of "
        "clients."
    ),
    read=reader(NAME, "query,timestamp,client_id", parse_log, empty="searches"),
    write=write,
    example=EXAMPLE,
    blocks=_blocks,
    rows=_rows_on,
    stream=parse_log,
    options={"columns": "maps columns of the file, such as count=count_generated"},
)
