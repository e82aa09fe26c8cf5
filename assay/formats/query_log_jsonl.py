"""Query logs as JSONL: one search per line, or one query per line with its count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from assay.core.read_report import RowFault, Tally
from assay.formats.column_names import ColumnMap
from assay.formats.delimited import check_mapping, names_of
from assay.formats.format import Format
from assay.formats.json_lines import dump, objects
from assay.formats.jsonl_log_columns import NumberedLines, ObjectLog
from assay.formats.log_blocks import LogBlock, LogTexts, careful_blocks
from assay.formats.log_rows import LogBooks, Repeated, check_for_pairs, check_for_queries
from assay.formats.query_log_csv import COLUMNS
from assay.formats.reader import reader
from assay.formats.row_types import LogRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

NAME = "query-log-jsonl"
EXAMPLE = '{"query": "running shoes", "count": 1204}\n{"query": "rain jacket", "count": 310}\n'


def parse_log(
    content: Content | NumberedLines,
    tally: Tally,
    books: LogBooks | None = None,
    *,
    columns: ColumnMap = None,
    repeated: Repeated | None = None,
) -> Iterator[LogRow]:
    """Yield the rows of a log as they are read; those of a counted log come at the end, when the counts are final."""
    check_mapping(columns or {}, COLUMNS)
    log_books = LogBooks(tally, repeated) if books is None else books
    looked = False
    for element in objects(content, tally):
        with tally.rejecting(element.line, raw=element.raw):
            values = {column: _value(element.of, column, columns or {}) for column in COLUMNS.known}
            there = [column for column, value in values.items() if value is not None]
            check_for_queries(there, tally, element.line)
            if not looked:
                check_for_pairs(element.of, lambda column: names_of(column, COLUMNS, columns), tally, element.line)
                looked = True
            if values["query"] is None:
                fix = "name the key with the query (columns: query=NAME)"
                tally.reject("E23", element.line, "no query", fix=fix, raw=element.raw)
                continue
            if values["count"] is None and "count" in (columns or {}):
                what = f"no {(columns or {})['count']!r}, to which count is mapped"
                tally.reject("E23", element.line, what, fix="name the key with the count", raw=element.raw)
                continue
            yield from log_books.take(values, line=element.line, raw=element.raw)
    if books is None:
        yield from log_books.counted()


def blocks(
    content: Content, tally: Tally, texts: LogTexts, *, columns: ColumnMap = None, repeated: Repeated | None = None
) -> Iterator[LogBlock]:
    """Yield the searches of a log as columns; options as for `read`."""
    check_mapping(columns or {}, COLUMNS)
    names = {column: names_of(column, COLUMNS, columns) for column in COLUMNS.known}
    each, mentions_count = repeated == "each", any(f'"{name}"'.encode() in content.head for name in names["count"])
    if "count" in (columns or {}) or (mentions_count and not each):
        # Repeated queries are known only at the end of a counted log.
        yield from careful_blocks(parse_log(content, tally, columns=columns, repeated=repeated), texts)
    else:
        parse = partial(parse_log, columns=columns)
        log = ObjectLog(content, tally, names, parse, without=() if each else names["count"], repeated=repeated)
        yield from log.blocks(texts)


def write(rows: Iterable[LogRow], stream: BinaryIO) -> Written:
    """Write a log in the given order, as a counted log if no row has a time, client or click."""
    listed = list(rows)
    raw = any(row.timestamp or row.client_id or row.clicks for row in listed)
    for row in listed:
        rest = {"timestamp": row.timestamp, "client_id": row.client_id, "clicks": row.clicks}
        language = {"language": row.language} if row.language else {}
        counted = {"count": row.count, "clients": row.clients, "query_id": row.query_id or None}
        counted = {name: value for name, value in counted.items() if value is not None}
        stream.write(dump({"query": row.query, **(rest if raw else counted), **language}))
    return Written(len(listed))


def _value(of: Mapping[str, Any], column: str, columns: Mapping[str, str]) -> str | None:
    value = next((of[name] for name in names_of(column, COLUMNS, columns) if of.get(name) is not None), None)
    if isinstance(value, bool | dict | list) and column != "clicks":
        raise RowFault("E23", f"{column} is {value_kind(value)}")
    return None if value is None else str(value)


FORMAT = Format(
    name=NAME,
    title="Query log, JSONL",
    kind="query-log",
    description="One search per line, or one query per line with its count and clients.",
    read=reader(NAME, EXAMPLE.partition("\n")[0], parse_log, empty="searches"),
    write=write,
    example=EXAMPLE,
    blocks=blocks,
    stream=parse_log,
    options={"columns": "maps keys of the file, such as count=searches"},
)
