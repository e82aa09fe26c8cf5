"""Labels as a JSON judgment list, grouped by query.

The byte layout is fixed, because relevance tests of search engines may be strict about it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.ids import id_fault
from assay.core.read_report import Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, Pick, RowFault, scale_grade
from assay.formats.json_lines import DECODER, id_text, refuse_unstorable
from assay.formats.query_texts import note_personal
from assay.formats.query_texts import query_fault
from assay.formats.reader import Read, collect, note_unusual, open_as
from assay.formats.row_types import LabelRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written, export_order, whole_grade

NAME = "judgment-list"
EXAMPLE = """[
  {
    "query_id": "q001",
    "query": "running shoes",
    "ratings": [
      {"doc_id": "doc-abc", "rating": 3},
      {"doc_id": "doc-mno", "rating": 0}
    ]
  }
]
"""
_EXPECTED = '[{"query_id": "q001", "query": "...", "ratings": [{"doc_id": "doc-abc", "rating": 3}]}]'
COPIED = ("query_id", "doc_id", "why")
_SPACE = re.compile(r"[ \t\r\n]*")


def read(
    source: Source,
    *,
    path: str = "-",
    grades: tuple[int, ...] | None = None,
    conflicts: Pick | None = None,
    encoding: str = "utf-8",
) -> Read[LabelRow]:
    """Read a judgment list and account for every query and rating."""
    content, tally = open_as(source, path, NAME, _EXPECTED, encoding=encoding)
    return collect(content, tally, partial(_parse, grades=grades, conflicts=conflicts))


def write(
    rows: Iterable[LabelRow],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    omit_unrated: bool = True,
) -> Written:
    """Write labels in the order of their ids."""
    texts = queries or {}
    ordered = export_order(row for row in rows if row.grade is not None or not omit_unrated)
    elements = []
    for query_id, group in groupby(ordered, key=lambda row: row.query_id):
        labels = list(group)
        text = texts.get(query_id) or labels[0].query
        if not text:
            raise NotValid(
                f"query {query_id!r} has no text, which {NAME} needs; give the texts (--queries queries.csv)"
            )
        elements.append(_element(query_id, text, labels))
    try:
        stream.write(("[\n" + ",\n".join(elements) + "\n]\n" if elements else "[]\n").encode())
    except UnicodeEncodeError as error:
        raise NotValid(f"cannot be written as UTF-8: {error}") from error
    return Written(len(ordered))


def _rating(row: LabelRow) -> str:
    return "null" if row.grade is None else whole_grade(row.grade, row.query_id, row.doc_id)


def _element(query_id: str, text: str, labels: list[LabelRow]) -> str:
    ratings = ",\n".join(
        f'      {{"doc_id": {_quoted(row.doc_id)}, "rating": {_rating(row)}{_copied(row)}}}' for row in labels
    )
    return (
        f'  {{\n    "query_id": {_quoted(query_id)},\n    "query": {_quoted(text)},\n'
        f'    "ratings": [\n{ratings}\n    ]\n  }}'
    )


def _copied(row: LabelRow) -> str:
    """Return the fields that mark a label as copied from another pair."""
    if row.copied_from is None:
        return ""
    parts = zip(COPIED, row.copied_from, strict=True)
    return ', "copied_from": {' + ", ".join(f'"{name}": {_quoted(text)}' for name, text in parts) + "}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _parse(
    content: Content, tally: Tally, grades: tuple[int, ...] | None, conflicts: Pick | None
) -> Iterator[LabelRow]:
    by_key: Keyed[LabelRow] = Keyed(tally, conflicts)
    texts: dict[str, str] = {}
    for place, (line, value) in enumerate(_elements(content, tally)):
        tally.read()
        try:
            query_id, ratings = _query(value, texts, line, tally)
        except RowFault as fault:
            tally.reject(fault.code, line, str(fault), fix=fault.fix or tally.expected, column=f"[{place}]")
            continue
        tally.put("header")
        for number, rating in enumerate(ratings):
            tally.read()
            where = f"[{place}].ratings[{number}]"
            raw = json.dumps(rating, ensure_ascii=False)
            try:
                row, repaired = _label(rating, query_id, texts[query_id], line, tally, grades)
            except RowFault as fault:
                tally.reject(fault.code, line, str(fault), fix=fault.fix or tally.expected, raw=raw, column=where)
                continue
            key = (query_id, row.doc_id)
            by_key.add(key, row.grade, row, line, f"{where} {raw}", "repaired" if repaired else "accepted")
    for row in by_key.rows():
        if row.grade is not None:
            tally.grade(row.grade)
        yield row


def _elements(content: Content, tally: Tally) -> Iterator[tuple[int, Any]]:
    """Yield (line, value) of each element of the list, one at a time."""
    if not content.head.lstrip().startswith(b"["):
        tally.refuse("does not begin with [, so it is not a JSON array")
    text = content.text()
    place = _SPACE.match(text, text.index("[") + 1).end()  # type: ignore[union-attr]
    line, counted = 1, 0
    if text[place : place + 1] == "]":
        place += 1
    else:
        while True:
            line, counted = line + text.count("\n", counted, place), place
            value, place = _decode(text, place, line, tally)
            yield line, value
            place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
            mark = text[place : place + 1]
            place = _SPACE.match(text, place + 1).end()  # type: ignore[union-attr]
            if mark == "]":
                break
            if mark != ",":
                at = 1 + text.count("\n", 0, place)
                tally.refuse("JSON syntax error: , or ] is missing between two elements", line=at, code="F05")
    if text[place:].strip():
        tally.refuse("there is text after the array", line=1 + text.count("\n", 0, place), code="F05")


def _decode(text: str, place: int, line: int, tally: Tally) -> tuple[Any, int]:
    try:
        return DECODER.raw_decode(text, place)
    except json.JSONDecodeError as error:
        tally.refuse(f"JSON syntax error in column {error.colno}: {error.msg}", line=error.lineno, code="F05")
    except RowFault as fault:
        return fault, _after(text, place, tally, line)
    except (RecursionError, ValueError) as error:
        tally.refuse(f"JSON cannot be read: {error}", line=line, code="F05")


def _after(text: str, place: int, tally: Tally, line: int) -> int:
    """Return the end of an element that contains something refused, using the standard decoder."""
    try:
        return json.JSONDecoder().raw_decode(text, place)[1]
    except (RecursionError, ValueError) as error:
        tally.refuse(f"JSON cannot be read: {error}", line=line, code="F05")


def _query(value: Any, texts: dict[str, str], line: int, tally: Tally) -> tuple[str, list[Any]]:
    if isinstance(value, RowFault):
        raise value
    if not isinstance(value, dict):
        raise RowFault("E23", "not an object")
    refuse_unstorable(value)
    query_id, number = id_text(value.get("query_id"))
    if number:
        tally.once("W42", line, "the query id is a number", done="read as text", column="query_id")
    if fault := id_fault(query_id):
        raise RowFault(fault[0], f"the query id {fault[1]}", "correct the id")
    text, ratings = value.get("query"), value.get("ratings")
    if not isinstance(text, str) or not isinstance(ratings, list):
        raise RowFault("E23", "query is not text, or ratings is not an array")
    if wrong := query_fault(text):
        raise RowFault(*wrong)
    if query_id not in texts:
        note_personal(tally, line, text)
    if texts.setdefault(query_id, text) != text:
        raise RowFault("E18", f"the query {query_id!r} was {texts[query_id]!r} before, now {text!r}", "keep one text")
    for key in value.keys() - {"query_id", "query", "ratings"}:
        tally.once("W41", line, f"unknown key {key!r}", done="ignored", column=key)
    return query_id, ratings


def _label(
    rating: Any, query_id: str, query: str, line: int, tally: Tally, grades: tuple[int, ...] | None
) -> tuple[LabelRow, bool]:
    if not isinstance(rating, dict) or "rating" not in rating:
        raise RowFault("E23", "not an object with doc_id and rating")
    doc_id, number = id_text(rating.get("doc_id"))
    if fault := id_fault(doc_id):
        raise RowFault(fault[0], f"the document id {fault[1]}", "correct the id")
    note_unusual(tally, line, query_id, doc_id)
    if number:
        tally.once("W42", line, "a document id is a number", done="read as text", column="doc_id")
    value = rating["rating"]
    source = _source(rating.get("copied_from"))
    origin = "3" if source else "2"
    if value is None:
        return LabelRow(query_id, doc_id, None, origin, query, source, line), number
    if isinstance(value, bool | str | dict | list):
        raise RowFault("E12", f"the rating {value!r} is not a number", "expected a whole number")
    grade = scale_grade(repr(value), grades)
    if not isinstance(grade[0], int):
        raise RowFault(*grade)
    if grade[1]:
        tally.once("W32", line, f"the rating is written as {value!r}", done=f"read as {grade[0]}")
    return LabelRow(query_id, doc_id, grade[0], origin, query, source, line), number or bool(grade[1])


def _source(value: Any) -> tuple[str, str, str] | None:
    """Return the pair that a copied label comes from, and why it is valid here."""
    if value is None:
        return None
    candidates = [value.get(name) for name in COPIED] if isinstance(value, dict) else []
    parts = [part for part in candidates if isinstance(part, str) and part]
    if len(parts) != len(COPIED):
        raise RowFault("E23", "copied_from is not an object with query_id, doc_id and why", "name the judged pair")
    return parts[0], parts[1], parts[2]


FORMAT = Format(
    name=NAME,
    title="Judgment list, JSON",
    kind="qrels",
    extensions=(".json",),
    description="Labels grouped by query, with its text, for relevance tests; a carried label names its source.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "grade scale; by default any whole number is accepted",
        "conflicts": "first, last, min or max: which of two grades for a pair to use",
        "encoding": "latin-1 for old files",
    },
)
