"""Reader of gold pairs that a lead uploads as a file or a list, with its rejected lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judgments.core.amounts import amount
from judgments.core.errors import NotValid
from judgments.documents import answers_by_id, questions_of
from judgments.gold import MOST, Known
from judgments.models import Collection, Query
from judgments.upload_reading import read_at_once

COLUMNS = ("query_id", "doc_id", "grade")
LARGEST = 5_000_000
MOST_TOLD = 20

Row = tuple[int, Mapping[str, Any]]


def read_csv(collection: Collection, content: bytes) -> list[Known]:
    """The pairs of a CSV file with the columns ``query_id,doc_id,grade`` and, if it likes, ``explanation``.

    Parameters
    ----------
    collection : Collection
        Whose queries and documents are meant.
    content : bytes
        UTF-8, with or without a byte order mark.

    Raises
    ------
    NotValid
        The file cannot be read; or some of its lines: each is told with its number, and none is taken.
    """
    if len(content) > LARGEST:
        raise NotValid("The file is larger than 5 MB.", {"file": "A few hundred pairs are enough."})
    return from_rows(collection, read_at_once(rows_in, content, most=LARGEST), field="file", word="Line")


def rows_in(content: bytes) -> list[Row]:
    """The lines of the file with their numbers.

    Raises
    ------
    NotValid
        It is no UTF-8 text, or has no header.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        said = f"Line {line} is not UTF-8. Save the file as UTF-8 and send it again."
        raise NotValid(said, {"file": said}) from None
    if "\0" in text:
        said = f"Line {text[: text.index(chr(0))].count(chr(10)) + 1} holds a NUL character. Is this a text file?"
        raise NotValid(said, {"file": said})
    return list(_rows(text))


def _rows(text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _header(cells)
            elif len(cells) != len(header):
                yield reader.line_num, {"odd": f"{amount(len(cells), 'cell')} where the head has {len(header)}"}
            else:
                yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        yield reader.line_num, {"odd": f"cannot be read as CSV: {error}"}
    if header is None:
        raise NotValid("The file is empty.", {"file": f"Its first line names the columns: {','.join(COLUMNS)}."})


def _header(cells: list[str]) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        said = f"Line 1 names no column {', '.join(missing)}. It must read {','.join(COLUMNS)},explanation."
        raise NotValid(said, {"file": said})
    return names


def from_rows(collection: Collection, rows: Iterable[Row], *, field: str, word: str = "Number") -> list[Known]:
    """The pairs that rows name by ids, each row with its number.

    Raises
    ------
    NotValid
        Some rows cannot be used: each is told with its number, and none is taken.
    """
    held = list(rows)
    if len(held) > MOST:
        raise NotValid(f"{len(held):,} pairs are too many.", {field: f"{MOST:,} at most."})
    named = Query.of_any_kind.filter(collection=collection, query_id__in=_ids(held, "query_id"))
    queries = {row.query_id: row for row in named.order_by("-kind")}
    doc_ids = _ids(held, "doc_id")
    questions = questions_of(collection, list(doc_ids))
    documents = answers_by_id(collection, list(doc_ids))
    documents |= {row.doc_id: row for row in collection.documents.filter(doc_id__in=doc_ids)}
    found: list[Known] = []
    odd: list[str] = []
    for number, row in held:
        key = _cell(row, "query_id"), _cell(row, "doc_id")
        query, document = questions.get(key) or queries.get(key[0]), documents.get(key[1])
        why = row.get("odd") or _why(row, query is None, document is None)
        if why or query is None or document is None:
            odd.append(f"{word} {number}: {why}.")
            continue
        grade, explanation = int(_cell(row, "grade")), _cell(row, "explanation")
        found.append(Known(query, document, grade, explanation, line=number if word == "Line" else None))
    if odd:
        more = f" {amount(len(odd) - MOST_TOLD, 'more is', 'more are')} like that." if len(odd) > MOST_TOLD else ""
        said = f"{' '.join(odd[:MOST_TOLD])}{more}"
        raise NotValid(f"Nothing was added. {said}", {field: said})
    return found


def _ids(rows: Iterable[Row], name: str) -> set[str]:
    return {cell for _, row in rows if (cell := _cell(row, name)) and "\0" not in cell}


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value).strip()


def _why(row: Mapping[str, Any], no_query: bool, no_document: bool) -> str:
    """What is wrong with a row, or nothing."""
    query_id, doc_id, grade = (_cell(row, name) for name in COLUMNS)
    if no_query:
        return f"the collection has no query {query_id!r}"
    if no_document:
        return f"the collection has no document {doc_id!r}"
    if not (grade.isascii() and grade.isdigit() and len(grade) < 4):
        return f"{grade!r} is no grade"
    return ""
