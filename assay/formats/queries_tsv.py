"""Queries as TSV, as commonly distributed with qrels: two columns, no header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO

from assay.core.counted_nouns import amount
from assay.core.csv_cells import escape, unescape
from assay.core.read_report import Tally
from assay.formats.format import Format
from assay.formats.queries_csv import keep_query
from assay.formats.query_texts import query_fault, query_id_fault
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import QueryRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written, refuse_ids

NAME = "queries-tsv"
EXAMPLE = "q001\trunning shoes\nq002\train jacket\n"
_HEADER_IDS = {"qid", "query_id", "query-id", "id", "topic"}
_BREAKS = re.compile(r"\r\n|[\t\n\r]")


def read(
    source: Source, *, path: str = "-", header: bool | None = None, tabs: bool = False, encoding: str = "utf-8"
) -> Read[QueryRow]:
    """Read queries and account for every line."""
    content, tally = open_as(source, path, NAME, "q001<TAB>running shoes", encoding=encoding)
    return collect(content, tally, partial(_parse, header=header, tabs=tabs), empty="queries")


def write(rows: Iterable[QueryRow], stream: BinaryIO) -> Written:
    """Write queries in the order of their ids; a TAB or line break inside a query becomes one space."""
    ordered = sorted(rows, key=lambda row: row.query_id)
    refuse_ids(NAME, (row.query_id for row in ordered), spaces=True)
    notes = []
    for row in ordered:
        text = _BREAKS.sub(" ", row.query)
        if text != row.query:
            notes.append(f"query {row.query_id!r}: TABs and line breaks became spaces")
        cells = escape(row.query_id), escape(text)
        if cells != (row.query_id, text):
            notes.append(
                f"query {row.query_id!r}: an apostrophe was added before text that a spreadsheet would run as a formula"
            )
        stream.write("\t".join(cells).encode() + b"\n")
    return Written(len(ordered), tuple(notes))


def _parse(content: Content, tally: Tally, header: bool | None, tabs: bool) -> Iterator[QueryRow]:
    by_id: dict[str, QueryRow] = {}
    for line, text in content.lines():
        tally.read()
        query_id, tab, query = text.partition("\t")
        if not text.strip():
            tally.put("blank")
            tally.once("W35", line, "a blank line", done="skipped")
        elif not by_id and not tally.bins["header"] and header is not False and _is_header(query_id, header):
            if header is None:
                expected = "set whether the file has a header (header=true or header=false)"
                tally.refuse(
                    f"the first line looks like a header: {text[:80]!r}", line=line, expected=expected, code="F04"
                )
            tally.put("header")
        elif not tab or ("\t" in query and not tabs):
            what = f"{amount(text.count(chr(9)) + 1, 'column')} instead of 2"
            tally.reject("E10", line, what, fix="expected an id, one TAB and the query", raw=text)
        elif fault := query_id_fault(query_id) or query_fault(query):
            tally.reject(fault.code, line, fault.what, fix=fault.fix, raw=text)
        else:
            plain = unescape(query_id), unescape(query)
            if repaired := plain != (query_id, query):
                tally.once("W37", line, "an apostrophe in front of a formula", done="removed")
            keep_query(QueryRow(*plain, line=line), by_id, tally, text, "repaired" if repaired else "accepted")
    yield from by_id.values()


def _is_header(first: str, header: bool | None) -> bool:
    return header is True or first.strip().casefold() in _HEADER_IDS


FORMAT = Format(
    name=NAME,
    title="Queries, TSV",
    kind="queries",
    extensions=(".tsv", ".txt"),
    description="One query per line: its id, a TAB, its text. Use it with files that contain only ids.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "header": "true or false: whether the first line is a header",
        "tabs": "true: a query may contain TABs",
        "encoding": "latin-1 for old files",
    },
)
