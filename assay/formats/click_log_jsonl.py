"""Click logs as JSONL: one shown result per line, or counts per query, document and rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from assay.core.read_report import Tally
from assay.formats.click_log_csv import columns_of, table_of
from assay.formats.click_rows import COLUMNS, ClickBooks
from assay.formats.delimited import check_mapping
from assay.formats.format import Format
from assay.formats.json_lines import dump, objects
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import ClickRow
from assay.formats.text_lines import Content, Source
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

NAME = "click-log-jsonl"
EXAMPLE = (
    '{"query": "rain jacket", "doc_id": "doc-abc", "position": 1, "impressions": 310, "clicks": 124}\n'
    '{"query": "rain jacket", "doc_id": "doc-mno", "position": 2, "impressions": 310, "clicks": 31}\n'
)
NUMBERS = ("position", "clicked", "impressions", "clicks")


def read(
    source: Source, *, path: str = "-", columns: Mapping[str, str] | None = None, encoding: str = "utf-8"
) -> Read[ClickRow]:
    """Read a click log and account for every line."""
    content, tally = open_as(source, path, NAME, EXAMPLE.splitlines()[0], encoding=encoding)
    return collect(content, tally, partial(stream, columns=columns), empty="results")


def stream(content: Content, tally: Tally, *, columns: Mapping[str, str] | None = None) -> Iterator[ClickRow]:
    """Yield the rows of a log as they are read; options as for `read`."""
    check_mapping(columns or {}, COLUMNS)
    books = ClickBooks(tally, table=False)
    for element in objects(content, tally):
        values = {name: _value(element.of, name, columns or {}) for name in COLUMNS.known}
        of = {name: _text(value) for name, value in values.items() if value is not None}
        wrong = next((name for name, value in values.items() if isinstance(value, dict | list)), None)
        if wrong is not None or "doc_id" not in of:
            what = f"{wrong} is {value_kind(values[wrong])}" if wrong else "no doc_id"
            tally.reject("E23", element.line, what, fix=tally.expected, raw=element.raw)
        else:
            yield from books.take(of, line=element.line, raw=element.raw)


def write(rows: Iterable[ClickRow], stream: BinaryIO) -> Written:
    """Write a log in the given order, without empty keys."""
    table = [table_of(row) for row in rows]
    names = columns_of(table)
    for of in table:
        stream.write(dump({name: int(of[name]) if name in NUMBERS and of[name] else of[name] for name in names}))
    return Written(len(table))


def _value(of: Mapping[str, Any], column: str, columns: Mapping[str, str]) -> Any:
    names = (columns[column],) if column in columns else (column, *COLUMNS.known[column])
    return next((of[name] for name in names if of.get(name) is not None), None)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(value)


FORMAT = Format(
    name=NAME,
    title="Click log, JSONL",
    kind="click-log",
    extensions=(".jsonl", ".ndjson"),
    description="One shown result per line, or impressions and clicks per query, document and rank.",
    read=read,
    write=write,
    example=EXAMPLE,
    stream=stream,
    options={
        "columns": "maps keys of the file, such as doc_id=sku",
        "encoding": "latin-1 for old files",
    },
)
