"""Queries as JSONL, one object per line, as BEIR stores them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from assay.core.read_report import Tally
from assay.formats.column_names import note_rest
from assay.formats.delimited import Cells
from assay.formats.format import Format
from assay.formats.grade_cells import RowFault
from assay.formats.json_lines import Element, objects
from assay.formats.json_rows import reader, write_objects
from assay.formats.queries_csv import COLUMNS, HEADER, LANGUAGE_HEADER, STRATA_HEADER, also_cell, read_queries
from assay.formats.row_types import QueryRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

NAME = "queries-jsonl"
EXAMPLE = '{"query_id": "q001", "query": "running shoes"}\n{"query_id": "q002", "query": "rain jacket"}\n'
KNOWN = {
    **COLUMNS.known,
    "query_id": ("_id", *COLUMNS.known["query_id"]),
    "query": (*COLUMNS.known["query"], "text"),
}
# A BEIR key, which is almost always an empty object.
SILENT = frozenset({"metadata"})


def write(rows: Iterable[QueryRow], stream: BinaryIO) -> Written:
    """Write queries in the order of their ids; unknown values are left out."""
    return write_objects(map(_as_json, sorted(rows, key=lambda row: row.query_id)), stream)


def _as_json(row: QueryRow) -> dict[str, Any]:
    columns = (*HEADER, *STRATA_HEADER, *LANGUAGE_HEADER)
    values = {name: getattr(row, name) for name in columns} | {"also": also_cell(row.also)}
    return {name: value for name, value in values.items() if value not in (None, "") or name in HEADER[:2]}


def _parse(content: Content, tally: Tally) -> Iterator[QueryRow]:
    return read_queries(_records(content, tally), tally)


def _records(content: Content, tally: Tally) -> Iterator[Cells]:
    numbered: bool | None = None
    for element in objects(content, tally):
        try:
            cells = _cells(element, tally)
            numbered = "query_id" not in cells.of if numbered is None else numbered
            if ("query_id" not in cells.of) is not numbered:
                raise RowFault("E23", f"a query {'with' if numbered else 'without'} an id, unlike earlier queries")
        except RowFault as fault:
            tally.reject(fault.code, element.line, str(fault), fix=fault.fix or tally.expected, raw=element.raw)
            continue
        yield cells


def _cells(element: Element, tally: Tally) -> Cells:
    """Return an object as the cells of a record."""
    taken: dict[str, str] = {}
    for column, others in KNOWN.items():
        if alias := next((name for name in (column, *others) if name in element.of), None):
            taken[column] = alias
    for name in element.of.keys() - set(taken.values()) - SILENT:
        note_rest(name, element.line, taken, KNOWN, tally, "key")
    if "query" not in taken:
        raise RowFault("E23", "no query (nor query_text, text)")
    of = {column: _text(element.of[name], name) for column, name in taken.items()}
    return Cells(element.line, of, {}, element.raw, False)


def _text(value: Any, name: str) -> str:
    if isinstance(value, bool | dict | list):
        raise RowFault("E23", f"{name} is {value_kind(value)}, not text")
    return "" if value is None else str(value)


read = reader(NAME, '{"query_id": "q001", "query": "running shoes"}', _parse)

FORMAT = Format(
    name=NAME,
    title="Queries, JSONL",
    kind="queries",
    extensions=(".jsonl", ".ndjson"),
    description="One query per line; also reads BEIR's queries.jsonl (_id, text) and the columns of queries-csv.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
)
