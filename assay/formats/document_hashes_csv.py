"""CSV of document hashes: the content of each judged document when its labels were frozen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from assay.core.csv_cells import escape
from assay.core.read_report import Tally
from assay.core.text_rules import id_fault
from assay.formats.column_names import ColumnMap
from assay.formats.delimited import Columns, read_table
from assay.formats.format import Format
from assay.formats.reader import note_unusual, reader
from assay.formats.text_lines import Content
from assay.formats.writer import Written, write_csv

NAME = "document-hashes-csv"
SHA256 = re.compile(r"[0-9a-f]{64}")
_ONE = "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"
EXAMPLE = f"doc_id,content_sha256\ndoc-xyz,{_ONE}\n"
COLUMNS = Columns({"doc_id": ("docno", "docid"), "content_sha256": ("sha256",)}, ("doc_id", "content_sha256"))


@dataclass(frozen=True, slots=True)
class DocumentHash:
    """A document with the SHA-256 of its content as shown to raters."""

    doc_id: str
    content_sha256: str
    line: int = field(default=0, compare=False)


def write(rows: Iterable[DocumentHash], stream: BinaryIO) -> Written:
    """Write the documents, sorted by id bytes."""
    ordered = sorted(rows, key=lambda row: row.doc_id)
    header = ["doc_id", "content_sha256"]
    return write_csv(
        stream, header, ordered, lambda row: [escape(row.doc_id), row.content_sha256], "document id {0.doc_id!r}"
    )


def _parse(
    content: Content, tally: Tally, *, columns: ColumnMap = None, delimiter: str | None = None
) -> Iterator[DocumentHash]:
    seen: dict[str, str] = {}
    for cells in read_table(content, tally, COLUMNS, mapping=columns, delimiter=delimiter):
        doc_id, digest = cells.of["doc_id"], cells.of["content_sha256"].lower()
        wrong = id_fault(doc_id)
        if wrong:
            what = f"the document id {wrong[1]}"
            tally.reject(wrong[0], cells.line, what, fix="correct the id", raw=cells.raw, column="doc_id")
        elif not SHA256.fullmatch(digest):
            what, fix = "the SHA-256 is not 64 hexadecimal digits", "export the bundle again"
            tally.reject("E23", cells.line, what, fix=fix, raw=cells.raw, column="content_sha256")
        elif seen.get(doc_id, digest) != digest:
            what, fix = "a different hash for a document that is listed above", "export the bundle again"
            tally.reject("E23", cells.line, what, fix=fix, raw=cells.raw, column="content_sha256")
        elif doc_id in seen:
            tally.put("duplicate")
            tally.once("W33", cells.line, "a repeated document", done="counted once")
        else:
            note_unusual(tally, cells.line, "", doc_id)
            seen[doc_id] = digest
            tally.accept(cells.repaired)
            yield DocumentHash(doc_id, digest, line=cells.line)


FORMAT = Format(
    name=NAME,
    title="Document hashes, CSV",
    kind="document-hashes",
    description="The SHA-256 of each judged document's content, to detect later changes.",
    read=reader(NAME, "doc_id,content_sha256", _parse),
    write=write,
    example=EXAMPLE,
)
