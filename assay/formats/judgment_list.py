"""Labels as a JSON judgment list, grouped by query.

The byte layout is fixed, because relevance tests of search engines may be strict about it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Keyed, Pick, scale_grade
from assay.formats.json_lines import list_elements, note_unknown, read_id, refuse_unstorable
from assay.formats.queries import checked_query, note_personal
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import LabelRow
from assay.formats.text_lines import MAX_TEXT, Content
from assay.formats.writer import Written, export_order, whole_grade, write_text

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
            raise NotValid(f"query {query_id!r} has no text, which {NAME} needs; add the texts (--queries queries.csv)")
        elements.append(_element(query_id, text, labels))
    write_text(stream, ("[\n" + ",\n".join(elements) + "\n]\n" if elements else "[]\n"))
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
    content: Content, tally: Tally, *, grades: Grades = None, conflicts: Pick | None = None
) -> Iterator[LabelRow]:
    by_key: Keyed[LabelRow] = Keyed(tally, conflicts)
    texts: dict[str, str] = {}
    if not content.head.lstrip().startswith(b"["):
        tally.refuse("does not begin with [, so it is not a JSON array")
    for place, (line, value, _) in enumerate(list_elements(content, tally, MAX_TEXT)):
        tally.read()
        with tally.rejecting(line, column=f"[{place}]"):
            query_id, ratings = _query(value, texts, line, tally)
            tally.put("header")
            for number, rating in enumerate(ratings):
                tally.read()
                where = f"[{place}].ratings[{number}]"
                raw = json.dumps(rating, ensure_ascii=False)
                with tally.rejecting(line, raw=raw, column=where):
                    row, repaired = _label(rating, query_id, texts[query_id], line, tally, grades)
                    key = (query_id, row.doc_id)
                    by_key.add(key, row.grade, row, line, f"{where} {raw}", repaired)
    for row in by_key.rows():
        if row.grade is not None:
            tally.grade(row.grade)
        yield row


def _query(value: Any, texts: dict[str, str], line: int, tally: Tally) -> tuple[str, list[Any]]:
    if isinstance(value, RowFault):
        raise value
    if not isinstance(value, dict):
        raise RowFault("E23", "not an object")
    refuse_unstorable(value)
    query_id, _ = read_id(value.get("query_id"), line, tally, "query id", column="query_id")
    text, ratings = value.get("query"), value.get("ratings")
    if not isinstance(text, str) or not isinstance(ratings, list):
        raise RowFault("E23", "query is not text, or ratings is not an array")
    checked_query(text)
    if query_id not in texts:
        note_personal(tally, line, text)
    if texts.setdefault(query_id, text) != text:
        raise RowFault("E18", f"the query {query_id!r} was {texts[query_id]!r} before, now {text!r}", "keep one text")
    note_unknown(value, {"query_id", "query", "ratings"}, line, tally)
    return query_id, ratings


def _label(rating: Any, query_id: str, query: str, line: int, tally: Tally, grades: Grades) -> tuple[LabelRow, bool]:
    if not isinstance(rating, dict) or "rating" not in rating:
        raise RowFault("E23", "not an object with doc_id and rating")
    doc_id, number = read_id(rating.get("doc_id"), line, tally, column="doc_id")
    note_unusual(tally, line, query_id, doc_id)
    value = rating["rating"]
    source = _source(rating.get("copied_from"))
    origin = "3" if source else "2"
    if value is None:
        return LabelRow(query_id, doc_id, None, origin, query, source, line), number
    if isinstance(value, bool | str | dict | list):
        raise RowFault("E12", f"the rating {value!r} is not a number", "expected a whole number")
    grade, pointed = scale_grade(repr(value), grades)
    if pointed:
        tally.once("W32", line, f"the rating is written as {value!r}", done=f"read as {grade}")
    return LabelRow(query_id, doc_id, grade, origin, query, source, line), number or pointed


def _source(value: Any) -> tuple[str, str, str] | None:
    """Return the pair that a copied label comes from, and why it is valid here."""
    if value is None:
        return None
    candidates = [value.get(name) for name in COPIED] if isinstance(value, dict) else []
    parts = [part for part in candidates if isinstance(part, str) and part]
    if len(parts) != len(COPIED):
        raise RowFault("E23", "copied_from is not an object with query_id, doc_id and why", "name the judged pair")
    return parts[0], parts[1], parts[2]


read = reader(NAME, _EXPECTED, _parse)

FORMAT = Format(
    name=NAME,
    title="Judgment list, JSON",
    kind="qrels",
    description="Labels grouped by query, with its text, for relevance tests; a copied label names its source.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"grades": "grade scale; by default any whole number is accepted"},
)
