"""nuggetizer's files: the nuggets that a good answer contains, and which of them an answer or a document supports.

The shapes are those that its command writes (`src/nuggetizer/cli/adapters.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.json_lines import Element, note_unknown, read_id, row_reader, text, write_objects
from assay.formats.queries import checked_query
from assay.formats.reader import note_unusual
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

NUGGETS, ASSIGNMENTS = "nuggets-jsonl", "nugget-assignments-jsonl"
IMPORTANCE = ("vital", "okay", "failed")
ASSIGNED = ("support", "partial_support", "not_support", "failed")
_NUGGETS = (
    '{"query": "running shoes", "qid": "q001", "nuggets": [{"text": "weight in grams", "importance": "vital"}, '
    '{"text": "colors", "importance": "okay"}]}\n'
)
_ASSIGNMENTS = (
    '{"query": "running shoes", "qid": "q001", "answer_text": "They weigh 200 g.", "response_length": 4, "run_id": '
    '"run-1", "nuggets": [{"text": "weight in grams", "importance": "vital", "assignment": "support"}, '
    '{"text": "colors", "importance": "okay", "assignment": "not_support"}]}\n'
    '{"text": "running shoes", "qid": "q001", "candidate_text": "Red or blue, 200 g.", "docid": "doc-abc", "nuggets": '
    '[{"text": "weight in grams", "importance": "vital", "assignment": "partial_support"}]}\n'
)
_KNOWN = {"query", "text", "qid", "nuggets", "answer_text", "response_length", "run_id", "candidate_text", "docid"}


@dataclass(frozen=True, slots=True)
class Nugget:
    """A piece of information; ``assignment`` says whether the text of the row supports it, and is empty without one."""

    text: str
    importance: str
    assignment: str = ""


@dataclass(frozen=True, slots=True)
class NuggetRow:
    """The nuggets of a query, or of the answer of a run or the document that they are assigned to."""

    query_id: str
    query: str
    nuggets: tuple[Nugget, ...]
    text: str = ""
    run_id: str = ""
    doc_id: str = ""
    response_length: int | None = None
    line: int = field(default=0, compare=False)


def _write(rows: Iterable[NuggetRow], stream: BinaryIO) -> Written:
    """Write rows in the given order."""
    return write_objects(map(_as_json, rows), stream)


def _as_json(row: NuggetRow) -> dict[str, Any]:
    nuggets = [
        {"text": one.text, "importance": one.importance} | ({"assignment": one.assignment} if one.assignment else {})
        for one in row.nuggets
    ]
    of: dict[str, Any]
    if row.doc_id:
        of = {"text": row.query, "qid": row.query_id, "candidate_text": row.text, "docid": row.doc_id}
    else:
        of = {"query": row.query, "qid": row.query_id}
        if row.run_id:
            length = {} if row.response_length is None else {"response_length": row.response_length}
            of |= {"answer_text": row.text, **length, "run_id": row.run_id}
    return {**of, "nuggets": nuggets}


def _nuggets(element: Element, tally: Tally) -> tuple[NuggetRow, bool]:
    row, numbered = _row(element, tally)
    if row.run_id or row.doc_id or any(one.assignment for one in row.nuggets):
        raise RowFault("E23", "the nuggets are assigned to a text", f"read the file as {ASSIGNMENTS}")
    return row, numbered


def _assignments(element: Element, tally: Tally) -> tuple[NuggetRow, bool]:
    row, numbered = _row(element, tally)
    if bool(row.run_id) == bool(row.doc_id):
        raise RowFault("E23", "not an object with either run_id or docid", "add the one that the nuggets belong to")
    if not all(one.assignment for one in row.nuggets):
        raise RowFault("E23", "a nugget has no assignment", f"write one of {', '.join(ASSIGNED)}")
    return row, numbered


def _row(element: Element, tally: Tally) -> tuple[NuggetRow, bool]:
    of = element.of
    line, doc_id = element.line, of.get("docid")
    query_id, numbered = read_id(of.get("qid"), line, tally, "qid")
    doc_id, also = ("", False) if doc_id is None else read_id(doc_id, line, tally, "docid")
    note_unusual(tally, line, query_id, doc_id)
    query = text(of, "text" if doc_id else "query")
    checked_query(query)
    length = of.get("response_length")
    if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 0):
        raise RowFault("E12", f"response_length is {length!r}", "expected a whole number")
    nuggets = of.get("nuggets")
    if not isinstance(nuggets, list):
        raise RowFault("E23", f"nuggets is {value_kind(nuggets)}, not a list")
    note_unknown(of, _KNOWN, line, tally)
    parsed = tuple(_nugget(one, line, tally) for one in nuggets)
    answer = text(of, "candidate_text" if doc_id else "answer_text")
    row = NuggetRow(query_id, query, parsed, answer, text(of, "run_id"), doc_id, length, line)
    return row, numbered or also


def _nugget(value: Any, line: int, tally: Tally) -> Nugget:
    if not isinstance(value, dict):
        raise RowFault("E23", f"a nugget is {value_kind(value)}, not an object")
    words = text(value, "text")
    if not words.strip():
        raise RowFault("E11", "a nugget has no text", "add it, or remove the nugget")
    for key in value.keys() - {"text", "importance", "assignment"}:
        tally.once("W41", line, f"unknown key {key!r} of a nugget", done="ignored", column=key)
    return Nugget(words, _one_of(value, "importance", IMPORTANCE, "vital"), _one_of(value, "assignment", ASSIGNED, ""))


def _one_of(of: Mapping[str, Any], name: str, known: tuple[str, ...], missing: str) -> str:
    """Return one of the known words; nuggetizer itself takes a nugget without an importance as vital."""
    value = of.get(name, missing)
    if value != missing and value not in known:
        raise RowFault("E23", f"unknown {name} {value!r}", f"expected one of {', '.join(known)}")
    return str(value)


def _key(row: NuggetRow) -> tuple[tuple[str, str, str], object]:
    return (row.query_id, row.run_id, row.doc_id), row


NUGGETS_FORMAT = Format(
    name=NUGGETS,
    title="Nuggets, JSONL",
    tool="nuggetizer",
    kind="nuggets",
    description="The nuggets of information that a good answer contains, vital or okay, one query per line.",
    read=row_reader(NUGGETS, _NUGGETS.rstrip("\n"), _nuggets, _key),
    write=_write,
    example=_NUGGETS,
)
ASSIGNMENTS_FORMAT = Format(
    name=ASSIGNMENTS,
    title="Nugget assignments, JSONL",
    tool="nuggetizer",
    kind="nugget-assignments",
    description="For each nugget, whether the answer of a run, or a document, supports it.",
    read=row_reader(ASSIGNMENTS, _ASSIGNMENTS.partition("\n")[0], _assignments, _key),
    write=_write,
    example=_ASSIGNMENTS,
)
