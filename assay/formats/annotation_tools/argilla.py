"""Exports of Argilla: records with the responses of people and the suggestions of models.

`Dataset.records.to_json` writes this shape (`Record.to_dict` of the Argilla SDK 2.x).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.core.read_report import Tally
from assay.formats.annotation_tools.pair_fields import (
    COLUMNS_HELP,
    Pair,
    PairFields,
    add_label,
    add_rating,
    counted_labels,
    counted_ratings,
    records,
    skip_others,
)
from assay.formats.format import Format, reader_options
from assay.formats.grade_cells import Keyed, Pick, RowFault, checked_id
from assay.formats.json_rows import is_number
from assay.formats.labels_jsonl import MachineLabel
from assay.formats.reader import reader
from assay.formats.row_types import RatingRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind

NAME, SUGGESTIONS = "argilla-json", "argilla-suggestions-json"
JUDGE = "argilla"
_EXAMPLE = """[
  {"id": "1", "fields": {"query": "running shoes", "text": "A light shoe."}, "metadata": {"query_id": "q001", "doc_id":
   "doc-abc"}, "suggestions": {}, "responses": {"grade": [{"value": 3, "user_id": "8f1c"}, {"value": 2, "user_id":
   "b0d2"}]}, "vectors": {}, "_server_id": null}
]
"""
_SUGGESTED = """[
  {"id": "1", "fields": {"query": "running shoes", "text": "A light shoe."}, "metadata": {"query_id": "q001", "doc_id":
   "doc-abc"}, "suggestions": {"grade": {"value": "3", "score": 0.9, "agent": "a-model"}}, "responses": {},
   "vectors": {}, "_server_id": null}
]
"""
_EXPECTED = '[{"fields": {...}, "metadata": {"query_id": "q001", "doc_id": "doc-abc"}, "responses": {"grade": [...]}}]'


def _read(
    content: Content,
    tally: Tally,
    *,
    grades: tuple[int, ...] | None = None,
    columns: Mapping[str, str] | None = None,
    conflicts: Pick | None = None,
) -> list[RatingRow]:
    fields, by_key = PairFields(tally, columns or {}, grades), Keyed[RatingRow](tally, conflicts)
    for where, line, record in records(content, tally, ("responses", "suggestions")):
        pair = _record(record, fields, line, where, tally)
        if pair is None:
            continue
        notes = {str(one.get("user_id")): one.get("value") for one in _responses(record, fields.names("note"))}
        for number, response in enumerate(_responses(record, fields.names("grade"))):
            tally.read()
            place = f"{where}.responses[{number}]"
            try:
                rater = checked_id(str(response.get("user_id") or ""), "user id")
                grade, repaired = fields.grade(response.get("value"), line)
            except RowFault as fault:
                tally.reject(fault.code, line, str(fault), fix=fault.fix or tally.expected, column=place)
                continue
            note = notes.get(rater)
            row = RatingRow(
                *(pair.query_id, pair.doc_id, rater, grade),
                query=pair.query,
                note=note if isinstance(note, str) else "",
                line=line,
                by_text=pair.by_text,
            )
            add_rating(row, by_key, line, f"{place} {row.doc_id}", repaired or pair.numbered)
        suggested = len(_suggestion(record, fields))
        skip_others(tally, line, suggested, "a suggestion of a model", f"read it as {SUGGESTIONS}")
    return counted_ratings(by_key, tally)


def _read_suggestions(
    content: Content,
    tally: Tally,
    *,
    grades: tuple[int, ...] | None = None,
    columns: Mapping[str, str] | None = None,
    conflicts: Pick | None = None,
) -> Iterator[MachineLabel]:
    fields, by_key = PairFields(tally, columns or {}, grades), Keyed[MachineLabel](tally, conflicts)
    for where, line, record in records(content, tally, ("responses", "suggestions")):
        pair = _record(record, fields, line, where, tally)
        if pair is None:
            continue
        for suggestion in _suggestion(record, fields):
            tally.read()
            agent, score = suggestion.get("agent"), suggestion.get("score")
            try:
                if agent is not None and not isinstance(agent, str):
                    raise RowFault("E23", f"the agent is {value_kind(agent)}, not text")
                grade, repaired = fields.grade(suggestion.get("value"), line)
            except RowFault as fault:
                place = f"{where}.suggestions"
                tally.reject(fault.code, line, str(fault), fix=fault.fix or tally.expected, column=place)
                continue
            parameters = {"score": score} if is_number(score) else None
            row = MachineLabel(
                *(pair.query_id, pair.doc_id, "graded", grade, None, JUDGE, agent or ""),
                parameters=parameters,
                line=line,
            )
            add_label(row, by_key, line, f"{where} {row.doc_id}", repaired or pair.numbered)
        people = len(_responses(record, fields.names("grade")))
        skip_others(tally, line, people, "a response of a person", f"read it as {NAME}")
    yield from counted_labels(by_key, tally)


def _record(record: Mapping[str, Any], fields: PairFields, line: int, where: str, tally: Tally) -> Pair | None:
    """Return the pair of a record, from its fields or its metadata; one without is rejected."""
    try:
        known: dict[str, Any] = {}
        for name in ("fields", "metadata", "responses", "suggestions"):
            value = record.get(name) or {}
            if not isinstance(value, dict):
                raise RowFault("E23", f"{name} is {value_kind(value)}, not an object")
            if name in ("fields", "metadata"):
                known |= {key: one for key, one in value.items() if one is not None}
        for question, answers in (record.get("responses") or {}).items():
            if not isinstance(answers, list) or not all(isinstance(one, dict) for one in answers):
                raise RowFault("E23", f"the responses to {question!r} are not a list of objects")
        pair = fields.pair(known, line)
    except RowFault as fault:
        tally.reject(fault.code, line, str(fault), fix=fault.fix or tally.expected, column=where)
        return None
    tally.put("header")
    return pair


def _responses(record: Mapping[str, Any], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the responses to a question."""
    responses = record.get("responses") or {}
    answers: list[dict[str, Any]] = next((responses[name] for name in names if name in responses), [])
    return answers


def _suggestion(record: Mapping[str, Any], fields: PairFields) -> list[dict[str, Any]]:
    """Return the suggestion for the grade, of which a record has at most one."""
    suggestions = record.get("suggestions") or {}
    found = next((suggestions[name] for name in fields.names("grade") if name in suggestions), None)
    return [found] if isinstance(found, dict) else []


FORMAT = Format(
    name=NAME,
    title="Argilla ratings, JSON",
    tool="Argilla",
    kind="ratings",
    extensions=(".json",),
    description=(
        "The responses of people to one question, in records that Argilla 2 exports (records.to_json); fields or "
        "metadata name the pair. Suggestions are skipped."
    ),
    read=reader(NAME, _EXPECTED, _read),
    write=None,
    example=_EXAMPLE,
    options=reader_options("grades columns conflicts encoding", columns=COLUMNS_HELP),
)
SUGGESTIONS_FORMAT = Format(
    name=SUGGESTIONS,
    title="Argilla suggestions, JSON",
    tool="Argilla",
    kind="labels",
    extensions=(".json",),
    description="The suggestions of models in an export of Argilla, as machine labels; responses are skipped.",
    read=reader(SUGGESTIONS, _EXPECTED, _read_suggestions),
    write=None,
    example=_SUGGESTED,
    options=reader_options("grades columns conflicts encoding", columns=COLUMNS_HELP),
)
