"""Documents as JSONL, one object per line, and as CSV with a header."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from assay.core.csv_cells import escape
from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.core.text_rules import id_fault
from assay.formats.column_names import ColumnMap
from assay.formats.delimited import Columns, read_table
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, Pick
from assay.formats.json_lines import Element, dump, id_text, objects, parse, write_objects
from assay.formats.parquet import parquet_objects, write_parquet_objects
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import DocumentRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written, write_csv

ALIASES: dict[str, tuple[str, ...]] = {
    "doc_id": ("docno", "id", "_id", "docid"),
    "title": ("name",),
    "text": ("description", "content", "body"),
    "url": (),
    "image": (),
}
COLUMNS = Columns({**ALIASES, "fields": ()}, ("doc_id",), keep_others=True)
CONFLICTS = "first or last: which of two documents with the same id to keep"


def write_jsonl(rows: Iterable[DocumentRow], stream: BinaryIO, *, beir: bool = False) -> Written:
    """Write documents in the order of their ids; ``beir`` writes the keys of BEIR's corpus.jsonl."""
    ordered = sorted(rows, key=lambda row: row.doc_id)
    if beir:
        return write_objects(map(_as_beir, ordered), stream)
    return write_objects(
        ({name: getattr(row, name) for name in ALIASES} | {"fields": dict(row.fields)} for row in ordered), stream
    )


def document_texts(documents: Iterable[DocumentRow]) -> dict[str, str]:
    """Return title and text of each document that has one, joined as BEIR joins them."""
    joined = ((row.doc_id, " ".join(part for part in (row.title, row.text) if part.strip())) for row in documents)
    return {doc_id: text for doc_id, text in joined if text}


def _as_beir(row: DocumentRow) -> dict[str, Any]:
    """Return a document with the keys of BEIR; its loader ignores all but the first three."""
    rest = {name: value for name in ("url", "image") if (value := getattr(row, name))} | dict(row.fields)
    metadata = rest.pop("metadata", None)
    if isinstance(metadata, dict):
        rest = {**metadata, **rest}
    elif metadata is not None:
        rest["metadata"] = metadata
    return {"_id": row.doc_id, "title": row.title, "text": row.text, "metadata": rest}


def _write_parquet(rows: Iterable[DocumentRow], stream: BinaryIO) -> Written:
    """Write documents in the order of their ids, with the columns of MTEB; ``fields`` as one JSON object."""
    ordered = sorted(rows, key=lambda row: row.doc_id)
    objects = []
    for row in ordered:
        one = {"_id": row.doc_id, "title": row.title, "text": row.text}
        one |= {name: value for name in ("url", "image") if (value := getattr(row, name))}
        objects.append(one | ({"fields": dump(row.fields).decode().rstrip("\n")} if row.fields else {}))
    names = ["_id", "text", "title", "url", "image", "fields"]
    return write_parquet_objects(objects, names, stream)


def _write_csv(rows: Iterable[DocumentRow], stream: BinaryIO) -> Written:
    """Write documents in the order of their ids; ``fields`` as one JSON object."""
    ordered = sorted(rows, key=lambda row: row.doc_id)
    return write_csv(stream, [*ALIASES, "fields"], ordered, _cells, "document {0.doc_id!r}")


def _cells(row: DocumentRow) -> list[str]:
    fields = dump(row.fields).decode().rstrip("\n") if row.fields else ""
    return [*(escape(getattr(row, name)) for name in ALIASES), fields]


def _keep(row: DocumentRow, by_key: Keyed[DocumentRow], tally: Tally, raw: str, repaired: bool) -> None:
    """Add one document by its id."""
    if fault := id_fault(row.doc_id):
        fix = "give every document an id"
        tally.reject(fault[0], row.line, f"the document id {fault[1]}", fix=fix, raw=raw, column="doc_id")
        return
    note_unusual(tally, row.line, row.doc_id)
    by_key.add(row.doc_id, row, row, row.line, raw, repaired)


def _parse_jsonl(content: Content, tally: Tally, *, conflicts: Pick | None = None) -> Iterator[DocumentRow]:
    if conflicts not in (None, "first", "last"):
        raise NotValid(f"unknown rule {conflicts!r} for duplicate documents; use first or last")
    yield from _documents(objects(content, tally), tally, conflicts)


def _parse_parquet(content: Content, tally: Tally, *, conflicts: Pick | None = None) -> Iterator[DocumentRow]:
    return _documents(parquet_objects(content, tally), tally, conflicts)


def _documents(elements: Iterable[Element], tally: Tally, conflicts: Pick | None) -> Iterator[DocumentRow]:
    by_key: Keyed[DocumentRow] = Keyed(tally, conflicts)
    for element in elements:
        with tally.rejecting(element.line, raw=element.raw):
            row, repaired = _document(element, tally)
            _keep(row, by_key, tally, element.raw, repaired)
    yield from by_key.rows()


def _document(element: Element, tally: Tally) -> tuple[DocumentRow, bool]:
    rest = dict(element.of)
    values = {column: _take(column, rest) for column in ALIASES}
    if values["doc_id"] is None:
        raise RowFault("E23", "no doc_id, docno, id or _id")
    doc_id, number = id_text(values.pop("doc_id"))
    if number:
        tally.once("W42", element.line, "the id is a number", done="read as text", column="doc_id")
    texts = {column: _text(column, value) for column, value in values.items()}
    fields = rest.pop("fields", None) or {}
    fields = _fields(fields) if isinstance(fields, str) else fields
    if not isinstance(fields, dict):
        raise RowFault("E23", "fields is not an object")
    return DocumentRow(doc_id, **texts, fields={**fields, **rest}, line=element.line), number


def document_of(doc_id: str, of: Mapping[str, Any], line: int) -> DocumentRow:
    """Return a document with the fields that another tool shows; values that are not text stay among the fields."""
    rest = dict(of)
    texts = {}
    for column in ALIASES:
        names = (name for name in (column, *ALIASES[column]) if isinstance(of.get(name), str) and of[name])
        if column != "doc_id" and (name := next(names, None)):
            texts[column] = rest.pop(name)
    return DocumentRow(doc_id, **texts, fields=rest, line=line)


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


def _parse_csv(
    content: Content,
    tally: Tally,
    *,
    columns: ColumnMap = None,
    delimiter: str | None = None,
    conflicts: Pick | None = None,
) -> Iterator[DocumentRow]:
    by_key: Keyed[DocumentRow] = Keyed(tally, conflicts)
    for cells in read_table(content, tally, COLUMNS, mapping=columns, delimiter=delimiter):
        try:
            fields = _fields(cells.of.get("fields", ""))
        except RowFault as fault:
            fix = "expected a JSON object"
            tally.reject(fault.code, cells.line, str(fault), fix=fix, raw=cells.raw, column="fields")
            continue
        fields |= {name: text for name, text in cells.others.items() if text}
        texts = {column: cells.of.get(column, "") for column in ALIASES}
        _keep(DocumentRow(**texts, fields=fields, line=cells.line), by_key, tally, cells.raw, cells.repaired)
    yield from by_key.rows()


def _fields(text: str) -> dict[str, Any]:
    value = parse(text) if text else {}
    if not isinstance(value, dict):
        raise RowFault("E23", "fields is not a JSON object")
    return value


JSONL = Format(
    name="documents-jsonl",
    title="Documents, JSONL",
    tool="BEIR",
    kind="documents",
    description="One document per line; unknown keys become fields of the document.",
    read=reader(
        "documents-jsonl", '{"doc_id": "doc-abc", "title": "...", "text": "..."}', _parse_jsonl, empty="documents"
    ),
    write=write_jsonl,
    example=(
        '{"doc_id": "doc-abc", "title": "Trail runner", "text": "A light shoe for dry paths.", '
        '"url": "", "image": "", "fields": {"price": 89}}\n'
    ),
    options={"conflicts": CONFLICTS},
)
CSV = Format(
    name="documents-csv",
    title="Documents, CSV",
    kind="documents",
    extensions=(".csv", ".tsv"),
    description="One document per record; unknown columns become fields of the document.",
    read=reader("documents-csv", "doc_id,title,text", _parse_csv, empty="documents"),
    write=_write_csv,
    example=(
        'doc_id,title,text,url,image,fields\ndoc-abc,Trail runner,A light shoe for dry paths.,,,"{""price"": 89}"\n'
    ),
    options={"columns": "maps columns of the file, such as text=long_description", "conflicts": CONFLICTS},
)
PARQUET = Format(
    name="documents-parquet",
    title="Documents, Parquet",
    tool="MTEB",
    kind="documents",
    description="One document per row, with the columns of MTEB's corpora (_id, title, text), shown here as CSV.",
    read=reader(
        "documents-parquet", "the columns _id, title and text", _parse_parquet, empty="documents", encoded=False
    ),
    write=_write_parquet,
    example=CSV.example,
    options={"conflicts": CONFLICTS},
    binary=True,
)
