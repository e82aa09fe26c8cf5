"""The pair, the grade and the rater in records of annotation tools, in which each project names the fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.formats.grade_cells import Grades, Keyed, checked_id, scale_grade
from assay.formats.json_lines import id_text, list_elements, refuse_unstorable
from assay.formats.labels_jsonl import MachineLabel
from assay.formats.quepid.book_json import pseudonyms
from assay.formats.queries import query_fault, query_id_fault
from assay.formats.reader import note_unusual
from assay.formats.row_types import RatingRow
from assay.formats.text_lines import MAX_TEXT, Content
from assay.formats.value_kinds import value_kind

# The fields of a pair with their other names, and the question or control with the grade.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "query_id": ("qid",),
    "query": ("query_text",),
    "doc_id": ("docno", "docid", "document_id"),
    "grade": ("rating", "relevance"),
    "note": ("notes", "comment"),
}
COLUMNS_HELP = "maps fields of the export, such as doc_id=sku or grade=stars"
_NUMBER = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)(?!\w|\.\d)")
_OWN = re.compile(r"(r\d+)")


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of a record; ``by_text`` is set if the record has only the query's text."""

    query_id: str
    query: str
    doc_id: str
    by_text: bool = False
    numbered: bool = False


@dataclass
class PairFields:
    """Finds the pairs of the records of one file."""

    tally: Tally
    mapping: Mapping[str, str]
    grades: Grades = None
    ids: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if unknown := next((name for name in self.mapping if name not in FIELDS), None):
            raise NotValid(f"unknown column {unknown!r}; the format reads {', '.join(FIELDS)}", "columns")

    def names(self, column: str) -> tuple[str, ...]:
        """Return the names under which a field is read."""
        return (self.mapping[column],) if column in self.mapping else (column, *FIELDS[column])

    def pair(self, record: Mapping[str, Any], line: int) -> Pair:
        """Return the pair of a record, or raise `RowFault`."""
        doc_id, numbered = self._id(record, "doc_id", line)
        if doc_id is None:
            fix = "add it to the records, or map another field (columns: doc_id=NAME)"
            raise RowFault("E11", "the record has no doc_id", fix)
        checked_id(doc_id)
        query_id, also = self._id(record, "query_id", line)
        query = self._first(record, "query")
        query = "" if query is None else query
        if not isinstance(query, str):
            raise RowFault("E23", f"the query is {value_kind(query)}, not text")
        if fault := query_fault(query) if query_id is None else query_id_fault(query_id):
            raise RowFault(*fault)
        note_unusual(self.tally, line, doc_id, query_id or "")
        if query_id is None:
            return Pair(self.ids.setdefault(query, f"q{len(self.ids) + 1:03d}"), query, doc_id, True, numbered)
        return Pair(query_id, query, doc_id, False, numbered or also)

    def grade(self, value: Any, line: int) -> tuple[int, bool]:
        """Return a grade, and whether it was repaired."""
        text = _grade_text(value)
        grade, repaired = scale_grade(text, self.grades)
        if repaired:
            self.tally.once("W32", line, f"the grade is written as {text}", done=f"read as {grade}")
        return grade, repaired

    def _first(self, record: Mapping[str, Any], column: str) -> Any:
        return next((record[name] for name in self.names(column) if record.get(name) is not None), None)

    def _id(self, record: Mapping[str, Any], column: str, line: int) -> tuple[str | None, bool]:
        value = self._first(record, column)
        if value is None:
            return None, False
        text, numbered = id_text(value)
        if numbered:
            self.tally.once("W42", line, "an id is a number", done="read as text", column=column)
        return text, numbered


def _grade_text(value: Any) -> str:
    """Return the number of a rating, a choice or a label, such as 3, "3 perfect", ["3"] or {"rating": 3}."""
    while isinstance(value, dict | list):
        inner = list(value.values()) if isinstance(value, dict) else value
        if len(inner) != 1:
            raise RowFault("E23", f"the grade is {value_kind(value)} with {len(inner)} values", "give one grade")
        value = inner[0]
    if isinstance(value, str) and (match := _NUMBER.match(value)):
        return match[1]
    if isinstance(value, bool) or not isinstance(value, int | float):
        fix = "use a rating, a number, or choices that begin with a number"
        raise RowFault("E12", f"the grade {value!r} is not a number", fix)
    return repr(value)


def records(content: Content, tally: Tally, wanted: Sequence[str]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Yield (path, line, record) of a JSON list; each record is a unit, and one of another kind is rejected."""
    if not content.head.lstrip().startswith(b"["):
        tally.refuse("is not a JSON list")
    for number, (line, value, raw) in enumerate(list_elements(content, tally, MAX_TEXT)):
        where = f"[{number}]"
        tally.read()
        with tally.rejecting(line, raw=raw, column=where):
            if isinstance(value, RowFault):
                raise value
            if not isinstance(value, dict) or not any(key in value for key in wanted):
                raise RowFault("E23", f"{where} is not an object with {' or '.join(wanted)}")
            refuse_unstorable(value)
            yield where, line, value


def skip_others(tally: Tally, line: int, number: int, what: str, remedy: str) -> None:
    """Count labels of the other kind, human or machine."""
    if number:
        tally.read(number)
        tally.put("comment", number)
        tally.once("W70", line, what, done=f"skipped; {remedy}", times=number)


def add_rating(row: RatingRow, by_key: Keyed[RatingRow], line: int, raw: str, repaired: bool) -> None:
    answer = row.state if row.grade is None else row.grade
    by_key.add((row.query_id, row.doc_id, row.rater), answer, row, line, raw, repaired)


def add_label(row: MachineLabel, by_key: Keyed[MachineLabel], line: int, raw: str, repaired: bool) -> None:
    key = row.query_id, row.doc_id, row.judge, row.model
    answer = row.outcome if row.grade is None else row.grade
    by_key.add(key, answer, row, line, raw, repaired)


def counted_ratings(by_key: Keyed[RatingRow], tally: Tally) -> list[RatingRow]:
    """Return the ratings, with pseudonyms if a rater's name is an e-mail address, and count their grades."""
    rows = list(by_key.rows())
    if any("@" in row.rater for row in rows):
        names = pseudonyms((row.rater for row in rows), _OWN)
        rows = [replace(row, rater=names[row.rater]) for row in rows]
    for row in rows:
        if row.grade is not None:
            tally.grade(row.grade)
    return rows


def counted_labels(by_key: Keyed[MachineLabel], tally: Tally) -> Iterator[MachineLabel]:
    """Yield the labels of models, and count their grades."""
    for label in by_key.rows():
        if label.grade is not None:
            tally.grade(label.grade)
        yield label
