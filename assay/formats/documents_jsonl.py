"""Documents as JSONL, one object per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.ids import id_fault
from assay.core.read_report import Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, Pick, RowFault
from assay.formats.json_lines import Element, dump, id_text, objects
from assay.formats.reader import Read, collect, note_unusual, open_as
from assay.formats.row_types import DocumentRow
from assay.formats.text_lines import Content, Source
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

NAME = "documents-jsonl"
EXAMPLE = (
    '{"doc_id": "doc-abc", "title": "Trail runner", "text": "A light shoe for dry paths.", '
    '"url": "", "image": "", "fields": {"price": 89}}\n'
)
_LINE = '{"doc_id": "doc-abc", "title": "...", "text": "..."}'
ALIASES: dict[str, tuple[str, ...]] = {
    "doc_id": ("docno", "id", "_id", "docid"),
    "title": ("name",),
    "text": ("description", "content", "body"),
    "url": (),
    "image": (),
}


def read(
    source: Source, *, path: str = "-", conflicts: Pick | None = None, encoding: str = "utf-8"
) -> Read[DocumentRow]:
    """Read documents and account for every line."""
    content, tally = open_as(source, path, NAME, _LINE, encoding=encoding)
    return collect(content, tally, partial(_parse, conflicts=conflicts), empty="documents")


def write(rows: Iterable[DocumentRow], stream: BinaryIO) -> Written:
    """Write documents in the order of their ids."""
    ordered = sorted(rows, key=lambda row: row.doc_id)
    for row in ordered:
        stream.write(
            dump(
                {
                    "doc_id": row.doc_id,
                    "title": row.title,
                    "text": row.text,
                    "url": row.url,
                    "image": row.image,
                    "fields": dict(row.fields),
                }
            )
        )
    return Written(len(ordered))


def keep_document(row: DocumentRow, by_key: Keyed[DocumentRow], tally: Tally, raw: str, bin: str) -> None:
    """Add one document by its id."""
    if fault := id_fault(row.doc_id):
        fix = "give every document an id"
        tally.reject(fault[0], row.line, f"the document id {fault[1]}", fix=fix, raw=raw, column="doc_id")
        return
    note_unusual(tally, row.line, row.doc_id)
    by_key.add(row.doc_id, row, row, row.line, raw, bin)


def _parse(content: Content, tally: Tally, conflicts: Pick | None) -> Iterator[DocumentRow]:
    if conflicts not in (None, "first", "last"):
        raise NotValid(f"unknown rule {conflicts!r} for duplicate documents; use first or last")
    by_key: Keyed[DocumentRow] = Keyed(tally, conflicts)
    for element in objects(content, tally):
        try:
            row, repaired = _document(element, tally)
        except RowFault as fault:
            tally.reject(fault.code, element.line, str(fault), fix=tally.expected, raw=element.raw)
            continue
        keep_document(row, by_key, tally, element.raw, "repaired" if repaired else "accepted")
    yield from by_key.rows()


def _document(element: Element, tally: Tally) -> tuple[DocumentRow, bool]:
    rest = dict(element.of)
    values = {column: _take(column, rest) for column in ALIASES}
    if values["doc_id"] is None:
        raise RowFault("E23", "no doc_id (nor docno, id, _id)")
    doc_id, number = id_text(values.pop("doc_id"))
    if number:
        tally.once("W42", element.line, "the id is a number", done="read as text", column="doc_id")
    texts = {column: _text(column, value) for column, value in values.items()}
    fields = rest.pop("fields", None) or {}
    if not isinstance(fields, dict):
        raise RowFault("E23", "fields is not an object")
    return DocumentRow(doc_id, **texts, fields={**fields, **rest}, line=element.line), number


def _take(column: str, rest: dict[str, Any]) -> Any:
    """Remove a column's value from the object; an alternative name stays among the fields."""
    for name in (column, *ALIASES[column]):
        if rest.get(name) is not None:
            return rest.pop(name)
        if name == column:
            rest.pop(name, None)
    return None


def _text(column: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise RowFault("E23", f"{column} is {value_kind(value)}, not text")


FORMAT = Format(
    name=NAME,
    title="Documents, JSONL",
    kind="documents",
    extensions=(".jsonl", ".ndjson"),
    description="One document per line; unknown keys become fields of the document.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "conflicts": "first or last: which of two documents with the same id to keep",
        "encoding": "latin-1 for old files",
    },
)
