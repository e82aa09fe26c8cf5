"""Reader of gold pairs from an uploaded file or a list, with error messages for rejected lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assay.core.counted_nouns import amount
from assay.core.errors import NotValid
from judgments.documents.answers import answers_by_id, questions_of
from judgments.jobs.file_reading import read_at_once
from judgments.models import Collection, Query
from judgments.quality.gold_pairs import MOST, Known

COLUMNS = ("query_id", "doc_id", "grade")
LARGEST = 5_000_000
MOST_LISTED = 20

Row = tuple[int, Mapping[str, Any]]


def read_csv(collection: Collection, content: bytes) -> list[Known]:
    """Return the pairs of a CSV file with the columns ``query_id,doc_id,grade`` and, optionally, ``explanation``."""
    if len(content) > LARGEST:
        raise NotValid("The file is larger than 5 MB.", {"file": "Upload fewer pairs. A few hundred are enough."})
    return from_rows(collection, read_at_once(rows_in, content, most=LARGEST), field="file", word="Line")


def rows_in(content: bytes) -> list[Row]:
    """Yield the lines of the file with their numbers."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        problem = f"Line {line} is not UTF-8. Save the file as UTF-8 and upload it again."
        raise NotValid(problem, "file") from None
    if "\0" in text:
        problem = f"Line {text[: text.index(chr(0))].count(chr(10)) + 1} contains a NUL character. Upload a text file."
        raise NotValid(problem, "file")
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
                yield reader.line_num, {"odd": f"{amount(len(cells), 'cell')}, but the header has {len(header)}"}
            else:
                yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        yield reader.line_num, {"odd": f"is not valid CSV: {error}"}
    if header is None:
        raise NotValid("The file is empty.", {"file": f"Write the columns into the first line: {','.join(COLUMNS)}."})


def _header(cells: list[str]) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        problem = f"Line 1 has no column {', '.join(missing)}. Write {','.join(COLUMNS)},explanation."
        raise NotValid(problem, "file")
    return names


def from_rows(collection: Collection, rows: Iterable[Row], *, field: str, word: str = "Number") -> list[Known]:
    """Return the pairs for rows of ids, each with its row number."""
    held = list(rows)
    if len(held) > MOST:
        raise NotValid(f"{len(held):,} pairs exceed the limit.", {field: f"Send at most {MOST:,} pairs."})
    named = Query.of_any_kind.filter(collection=collection, query_id__in=_ids(held, "query_id"))
    queries = {row.query_id: row for row in named.order_by("-kind")}
    doc_ids = _ids(held, "doc_id")
    questions = questions_of(collection, list(doc_ids))
    documents = answers_by_id(collection, list(doc_ids))
    documents |= {row.doc_id: row for row in collection.documents.filter(doc_id__in=doc_ids)}
    gold_grades: list[Known] = []
    odd: list[str] = []
    for number, row in held:
        key = _cell(row, "query_id"), _cell(row, "doc_id")
        query, document = questions.get(key) or queries.get(key[0]), documents.get(key[1])
        why = row.get("odd") or _why(row, query is None, document is None)
        if why or query is None or document is None:
            odd.append(f"{word} {number}: {why}.")
            continue
        grade, explanation = int(_cell(row, "grade")), _cell(row, "explanation")
        gold_grades.append(Known(query, document, grade, explanation, line=number if word == "Line" else None))
    if odd:
        more = f" {amount(len(odd) - MOST_LISTED, 'more row')} cannot be used." if len(odd) > MOST_LISTED else ""
        problem = f"{' '.join(odd[:MOST_LISTED])}{more}"
        raise NotValid(f"Nothing was added. {problem}", {field: problem})
    return gold_grades


def _ids(rows: Iterable[Row], name: str) -> set[str]:
    return {cell for _, row in rows if (cell := _cell(row, name)) and "\0" not in cell}


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value).strip()


def _why(row: Mapping[str, Any], no_query: bool, no_document: bool) -> str:
    """Return the problem of a row, or ""."""
    query_id, doc_id, grade = (_cell(row, name) for name in COLUMNS)
    if no_query:
        return f"the query {query_id!r} is not in this collection"
    if no_document:
        return f"the document {doc_id!r} is not in this collection"
    if not (grade.isascii() and grade.isdigit() and len(grade) < 4):
        return f"{grade!r} is not a grade"
    return ""
