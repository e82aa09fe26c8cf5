"""CSV of document hashes: the content of each judged document when its labels were frozen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

from assay.core.csv_cells import csv_row, escape
from assay.core.errors import NotValid
from assay.core.ids import id_fault
from assay.core.read_report import Tally
from assay.formats.delimited import Columns, read_table
from assay.formats.format import Format
from assay.formats.reader import Read, collect, note_unusual, open_as
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written

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


def read(
    source: Source,
    *,
    path: str = "-",
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Read[DocumentHash]:
    """Read the documents of a file and account for every record."""
    content, tally = open_as(source, path, NAME, "doc_id,content_sha256", encoding=encoding)
    return collect(content, tally, partial(_parse, mapping=columns, delimiter=delimiter))


def write(rows: Iterable[DocumentHash], stream: BinaryIO) -> Written:
    """Write the documents, sorted by id bytes."""
    stream.write(b"doc_id,content_sha256\n")
    ordered = sorted(rows, key=lambda row: row.doc_id)
    for row in ordered:
        try:
            stream.write(csv_row([escape(row.doc_id), row.content_sha256]).encode())
        except UnicodeEncodeError as error:
            raise NotValid(f"document id {row.doc_id!r} cannot be written as UTF-8: {error}") from error
    return Written(len(ordered))


def _parse(
    content: Content, tally: Tally, mapping: Mapping[str, str] | None, delimiter: str | None
) -> Iterator[DocumentHash]:
    seen: dict[str, str] = {}
    for cells in read_table(content, tally, COLUMNS, mapping=mapping, delimiter=delimiter):
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
            tally.put("repaired" if cells.repaired else "accepted")
            yield DocumentHash(doc_id, digest, line=cells.line)


FORMAT = Format(
    name=NAME,
    title="Document hashes, CSV",
    kind="document-hashes",
    extensions=(".csv",),
    description="The SHA-256 of each judged document's content, to detect later changes.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "columns": "maps columns of the file, such as doc_id=sku",
        "delimiter": "comma, semicolon or TAB; detected from the header by default",
        "encoding": "latin-1 for old files",
    },
)
