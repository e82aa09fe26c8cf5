"""Documents as JSONL, one object per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

from judgments.core.errors import NotValid
from judgments.core.ids import id_fault
from judgments.core.report import Tally
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content, Source
from judgments.formats.grades import Keyed, Pick, RowFault
from judgments.formats.json_lines import Element, dump, id_text, objects
from judgments.formats.reading import Read, collect, note_unusual, open_as
from judgments.formats.rows import DocumentRow
from judgments.formats.writing import Written

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
    """Read documents and account for every line.

    ``docno``, ``id`` and ``_id`` are read for ``doc_id``, ``name`` for ``title``, ``description``, ``content`` and
    ``body`` for ``text``; other keys go to ``fields``.

    Parameters
    ----------
    source : path, bytes or binary stream
        The file; ``Path("-")`` is standard input.
    path : str
        The file as the user named it.
    conflicts : {"first", "last"}, optional
        Which of two different documents with one id is kept; by default none is (E16).
    encoding : str
        ``latin-1`` where the user says so.

    Raises
    ------
    UnreadableInput
        When the whole file is refused.
    """
    content, tally = open_as(source, path, NAME, _LINE, encoding=encoding)
    return collect(content, tally, partial(_parse, conflicts=conflicts), empty="documents")


def write(rows: Iterable[DocumentRow], stream: BinaryIO) -> Written:
    """Write documents in the order of their ids.

    Raises
    ------
    NotValid
        When a text cannot be written as UTF-8.
    """
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


def keep_document(row: DocumentRow, kept: Keyed[DocumentRow], tally: Tally, raw: str, bin: str) -> None:
    """Put one document into its bin, by its id."""
    if fault := id_fault(row.doc_id):
        fix = "give every document an id"
        tally.reject(fault[0], row.line, f"the document id {fault[1]}", fix=fix, raw=raw, column="doc_id")
        return
    note_unusual(tally, row.line, row.doc_id)
    kept.add(row.doc_id, row, row, row.line, raw, bin)


def _parse(content: Content, tally: Tally, conflicts: Pick | None) -> Iterator[DocumentRow]:
    if conflicts not in (None, "first", "last"):
        raise NotValid(f"conflicts of documents are settled by first or last, not {conflicts!r}")
    kept: Keyed[DocumentRow] = Keyed(tally, conflicts)
    for element in objects(content, tally):
        try:
            row, repaired = _document(element, tally)
        except RowFault as fault:
            tally.reject(fault.code, element.line, str(fault), fix=tally.expected, raw=element.raw)
            continue
        keep_document(row, kept, tally, element.raw, "repaired" if repaired else "accepted")
    yield from kept.rows()


def _document(element: Element, tally: Tally) -> tuple[DocumentRow, bool]:
    rest = dict(element.of)
    found = {column: _take(column, rest) for column in ALIASES}
    if found["doc_id"] is None:
        raise RowFault("E23", "no doc_id (nor docno, id, _id)")
    doc_id, number = id_text(found.pop("doc_id"))
    if number:
        tally.once("W42", element.line, "the id is a number", done="read as text", column="doc_id")
    texts = {column: _text(column, value) for column, value in found.items()}
    fields = rest.pop("fields", None) or {}
    if not isinstance(fields, dict):
        raise RowFault("E23", "fields is not an object")
    return DocumentRow(doc_id, **texts, fields={**fields, **rest}, line=element.line), number


def _take(column: str, rest: dict[str, Any]) -> Any:
    """Take the column's value out of the object; a second name for it then stays among the fields."""
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
    raise RowFault("E23", f"{column} is {type(value).__name__}, not text")


FORMAT = Format(
    name=NAME,
    title="Documents, JSONL",
    kind="documents",
    extensions=(".jsonl", ".ndjson"),
    description="One document a line; keys that Assay does not know go to its fields.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "conflicts": "first or last: which of two documents with one id is kept",
        "encoding": "latin-1 for old files",
    },
)
