"""Click logs as CSV or TSV: one shown result per record, or counts per query, document and rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import BinaryIO

from assay.core.csv_cells import csv_row, escape
from assay.core.errors import NotValid
from assay.core.read_report import Tally
from assay.formats.click_rows import COLUMNS, ClickBooks
from assay.formats.delimited import read_table
from assay.formats.format import Format
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import ClickRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written

NAME = "click-log-csv"
EXAMPLE = (
    "query,doc_id,position,clicked,client_id\n"
    "rain jacket,doc-abc,1,1,c17\n"
    "rain jacket,doc-mno,2,0,c17\n"
    "running shoes,doc-xyz,1,0,c04\n"
)


def read(
    source: Source,
    *,
    path: str = "-",
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Read[ClickRow]:
    """Read a click log and account for every record."""
    content, tally = open_as(source, path, NAME, "query,doc_id,position,clicked", encoding=encoding)
    return collect(content, tally, partial(stream, columns=columns, delimiter=delimiter), empty="results")


def stream(
    content: Content, tally: Tally, *, columns: Mapping[str, str] | None = None, delimiter: str | None = None
) -> Iterator[ClickRow]:
    """Yield the rows of a log as they are read; options as for `read`."""
    books = ClickBooks(tally, table=True)
    for cells in read_table(content, tally, COLUMNS, mapping=columns, delimiter=delimiter):
        bin = "repaired" if cells.repaired else "accepted"
        yield from books.take(cells.of, line=cells.line, raw=cells.raw, bin=bin)


def write(rows: Iterable[ClickRow], stream: BinaryIO) -> Written:
    """Write a log in the given order, without empty columns."""
    table = [table_of(row) for row in rows]
    names = columns_of(table)
    try:
        stream.write(csv_row(names).encode())
        for of in table:
            stream.write(csv_row([escape(of[name]) for name in names]).encode())
    except UnicodeEncodeError as error:
        raise NotValid(f"a row cannot be written as UTF-8: {error}") from error
    return Written(len(table))


def table_of(row: ClickRow) -> dict[str, str]:
    """Return a row's cells by column."""
    if row.results:
        raise NotValid("a search with its result list can only be written as UBI")
    return {
        "query_id": row.query_id,
        "query": row.query,
        "doc_id": row.doc_id,
        "position": "" if row.position is None else str(row.position),
        "clicked": str(row.clicks) if row.impressions == 1 and row.clicks <= 1 else "",
        "impressions": str(row.impressions),
        "clicks": str(row.clicks),
        "client_id": row.client_id,
        "search_id": row.search_id,
    }


def columns_of(table: list[dict[str, str]]) -> list[str]:
    """Return the needed columns: ``clicked`` if each row is one result, otherwise both counts."""
    single = all(of["clicked"] for of in table)
    left_out = {"impressions", "clicks"} if single else {"clicked"}
    always = {"query", "doc_id", "position", "clicked", "impressions", "clicks"}
    if table and not any(of["query"] for of in table):
        always.discard("query")
    return [
        name for name in COLUMNS.known if name not in left_out and (name in always or any(of[name] for of in table))
    ]


FORMAT = Format(
    name=NAME,
    title="Click log, CSV",
    kind="click-log",
    extensions=(".csv", ".tsv"),
    description=(
        "One shown result per record (query, doc_id, position, clicked), or impressions and clicks per query, "
        "document and rank."
    ),
    read=read,
    write=write,
    example=EXAMPLE,
    stream=stream,
    options={
        "columns": "maps columns of the file, such as doc_id=sku",
        "delimiter": "comma, semicolon or TAB; detected from the header by default",
        "encoding": "latin-1 for old files",
    },
)
