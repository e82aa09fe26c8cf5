"""Query logs as CSV: one search per record, or one query per record with its count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from assay.core.csv_cells import csv_row, escape
from assay.core.errors import NotValid
from assay.core.read_report import Tally
from assay.formats.column_names import QUERY_ID
from assay.formats.csv_log_columns import csv_blocks, csv_rows, header_names, is_counted
from assay.formats.delimited import Columns, check_mapping, read_table, usual_delimiter
from assay.formats.format import Format
from assay.formats.log_blocks import LogBlock, LogTexts, careful_blocks
from assay.formats.log_rows import LogBooks, Repeated, check_for_pairs, check_for_queries
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import LogRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written

if TYPE_CHECKING:
    from assay.formats.counted_log import CountedLog

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


def read(
    source: Source,
    *,
    path: str = "-",
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    repeated: Repeated | None = None,
    encoding: str = "utf-8",
) -> Read[LogRow]:
    """Read a query log and account for every record."""
    check_mapping(columns or {}, COLUMNS)
    content, tally = open_as(source, path, NAME, "query,timestamp,client_id", encoding=encoding)
    if (layout := _counted(content, columns, delimiter, repeated)) is not None:
        from assay.formats.column_reader import read_in_columns

        return read_in_columns(content, tally, layout, empty="searches")
    parse = partial(parse_log, columns=columns, delimiter=delimiter, repeated=repeated)
    return collect(content, tally, parse, empty="searches")


def parse_log(
    content: Content,
    tally: Tally,
    *,
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    repeated: Repeated | None = None,
) -> Iterator[LogRow]:
    """Yield the rows of a log as they are read; those of a counted log come at the end, when the counts are final."""
    check_mapping(columns or {}, COLUMNS)
    if (layout := _counted(content, columns, delimiter, repeated)) is not None:
        from assay.formats.column_reader import rows_in_columns

        yield from rows_in_columns(content, tally, layout)
        return
    header = header_names(content, delimiter or usual_delimiter(content))
    check_for_pairs(header, partial(_named, columns=columns or {}), tally, 1)
    books = LogBooks(tally, repeated)
    for cells in read_table(content, tally, COLUMNS, mapping=columns, delimiter=delimiter):
        check_for_queries(cells.of, tally, cells.line)
        yield from books.take_cells(cells)
    yield from books.counted()


def _named(column: str, columns: Mapping[str, str]) -> tuple[str, ...]:
    return (columns[column],) if column in columns else (column, *COLUMNS.known[column])


def _counted(
    content: Content, columns: Mapping[str, str] | None, delimiter: str | None, repeated: Repeated | None
) -> CountedLog | None:
    """Return the column layout of a counted log; None for other logs, and if each row represents itself."""
    if repeated == "each" or not is_counted(content, columns or {}, delimiter):
        return None
    from assay.formats.counted_log import CountedLog

    return CountedLog(content, COLUMNS, repeated, mapping=columns, delimiter=delimiter)


def blocks(
    content: Content,
    tally: Tally,
    texts: LogTexts,
    *,
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    repeated: Repeated | None = None,
) -> Iterator[LogBlock]:
    """Yield the searches of a log as columns; options as for `read`."""
    log_blocks = csv_blocks(content, tally, texts, known=COLUMNS, columns=columns, delimiter=delimiter)
    if log_blocks is None:
        rows = parse_log(content, tally, columns=columns, delimiter=delimiter, repeated=repeated)
        log_blocks = careful_blocks(rows, texts)
    yield from log_blocks


def rows_on(
    content: Content,
    tally: Tally,
    *,
    lines: set[int],
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    repeated: Repeated | None = None,
) -> Iterator[LogRow]:
    """Yield the rows on the given lines; options as for `read`."""
    log_rows = csv_rows(content, tally, known=COLUMNS, lines=lines, columns=columns, delimiter=delimiter)
    if log_rows is None:
        log_rows = parse_log(content, tally, columns=columns, delimiter=delimiter, repeated=repeated)
    yield from log_rows


def write(rows: Iterable[LogRow], stream: BinaryIO) -> Written:
    """Write a log in the given order, as a counted log if no row has a time, client or click."""
    listed = list(rows)
    raw = any(row.timestamp or row.client_id or row.clicks for row in listed)
    owned = not raw and any(row.query_id for row in listed)
    named = any(row.language for row in listed)
    clients = not raw and any(row.clients is not None for row in listed)
    header = "query,timestamp,client_id,clicks" if raw else "query,count"
    stream.write(f"{header}{',clients' * clients}{',language' * named}{',query_id' * owned}\n".encode())
    for row in listed:
        cells = [row.timestamp, escape(row.client_id), escape(row.clicks)] if raw else [str(row.count)]
        cells += ["" if row.clients is None else str(row.clients)] if clients else []
        cells += [escape(row.language)] if named else []
        cells += [escape(row.query_id)] if owned else []
        try:
            stream.write(csv_row([escape(row.query), *cells]).encode())
        except UnicodeEncodeError as error:
            raise NotValid(f"the query {row.query!r} cannot be written as UTF-8: {error}") from error
    return Written(len(listed))


FORMAT = Format(
    name=NAME,
    title="Query log, CSV",
    kind="query-log",
    extensions=(".csv", ".tsv"),
    description=(
        "One search per record (query, timestamp, client_id, clicks), or one query with its count and number of "
        "clients."
    ),
    read=read,
    write=write,
    example=EXAMPLE,
    blocks=blocks,
    rows=rows_on,
    stream=parse_log,
    options={
        "columns": "maps columns of the file, such as count=count_generated",
        "delimiter": "comma, semicolon or TAB; detected from the header by default",
        "repeated": "sum, max or first: how to combine a query that appears twice in a counted log",
        "encoding": "latin-1 for old files",
    },
)
