"""Documents as CSV with a header."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from assay.core.csv_cells import csv_row, escape
from assay.core.errors import NotValid
from assay.core.read_report import Tally
from assay.formats.delimited import Columns, read_table
from assay.formats.documents_jsonl import ALIASES, keep_document
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, Pick, RowFault
from assay.formats.json_lines import dump, parse
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import DocumentRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written

NAME = "documents-csv"
EXAMPLE = 'doc_id,title,text,url,image,fields\ndoc-abc,Trail runner,A light shoe for dry paths.,,,"{""price"": 89}"\n'
HEADER = ["doc_id", "title", "text", "url", "image", "fields"]
COLUMNS = Columns({**ALIASES, "fields": ()}, ("doc_id",), keep_others=True)


def read(
    source: Source,
    *,
    path: str = "-",
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    conflicts: Pick | None = None,
    encoding: str = "utf-8",
) -> Read[DocumentRow]:
    """Read documents and account for every record."""
    content, tally = open_as(source, path, NAME, "doc_id,title,text", encoding=encoding)
    parse_table = partial(_parse, mapping=columns, delimiter=delimiter, conflicts=conflicts)
    return collect(content, tally, parse_table, empty="documents")


def write(rows: Iterable[DocumentRow], stream: BinaryIO) -> Written:
    """Write documents in the order of their ids; ``fields`` as one JSON object."""
    stream.write(csv_row(HEADER).encode())
    ordered = sorted(rows, key=lambda row: row.doc_id)
    for row in ordered:
        fields = dump(row.fields).decode().rstrip("\n") if row.fields else ""
        cells = [escape(cell) for cell in (row.doc_id, row.title, row.text, row.url, row.image)]
        try:
            stream.write(csv_row([*cells, fields]).encode())
        except UnicodeEncodeError as error:
            raise NotValid(f"document {row.doc_id!r} cannot be written as UTF-8: {error}") from error
    return Written(len(ordered))


def _parse(
    content: Content, tally: Tally, mapping: Mapping[str, str] | None, delimiter: str | None, conflicts: Pick | None
) -> Iterator[DocumentRow]:
    by_key: Keyed[DocumentRow] = Keyed(tally, conflicts)
    for cells in read_table(content, tally, COLUMNS, mapping=mapping, delimiter=delimiter):
        try:
            fields = _fields(cells.of.get("fields", ""))
        except RowFault as fault:
            tally.reject(
                fault.code, cells.line, str(fault), fix="expected a JSON object", raw=cells.raw, column="fields"
            )
            continue
        fields |= {name: text for name, text in cells.others.items() if text}
        texts = {column: cells.of.get(column, "") for column in ALIASES}
        row = DocumentRow(**texts, fields=fields, line=cells.line)
        keep_document(row, by_key, tally, cells.raw, "repaired" if cells.repaired else "accepted")
    yield from by_key.rows()


def _fields(text: str) -> dict[str, Any]:
    if not text:
        return {}
    value = parse(text)
    if not isinstance(value, dict):
        raise RowFault("E23", "fields is not a JSON object")
    return value


FORMAT = Format(
    name=NAME,
    title="Documents, CSV",
    kind="documents",
    extensions=(".csv", ".tsv"),
    description="One document per record; unknown columns become fields of the document.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "columns": "maps columns of the file, such as text=long_description",
        "delimiter": "comma, semicolon or TAB; detected from the header by default",
        "conflicts": "first or last: which of two documents with the same id to keep",
        "encoding": "latin-1 for old files",
    },
)
