"""Exports of Argilla: records with the responses of people and the suggestions of models.

`Dataset.records.to_json` writes this shape (`Record.to_dict` of the Argilla SDK 2.x).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, BinaryIO
from uuid import NAMESPACE_URL, UUID, uuid5

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
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
from assay.formats.annotation_tools.writing import (
    Losses,
    PairTexts,
    count_details,
    json_text,
    of_people,
    pairs_of,
    refuse_repeated,
    score_of,
    setting,
    users_of,
    version_of,
    with_grades,
    write_list,
)
from assay.formats.column_names import ColumnMap
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Keyed, Pick, checked_id
from assay.formats.json_lines import is_number
from assay.formats.labels_jsonl import MachineLabel, TextLabel
from assay.formats.reader import reader
from assay.formats.row_types import RatingRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

NAME, SUGGESTIONS = "argilla-json", "argilla-suggestions-json"
TOOL, JUDGE = "Argilla", "argilla"
# The kinds of questions that can have grades, with the values of their answers.
_QUESTIONS: dict[str, Callable[[Any], int | str]] = {"rating": int, "label": str}
_NOT_STORED = {
    "guideline": "versions of guidelines",
    "rated_at": "times of ratings",
    "ms_active": "times that raters needed",
}
# The names that Argilla's server accepts.
_AGENT = re.compile(r"(?=.*[a-zA-Z0-9])[a-zA-Z0-9\-_:./\s]{1,200}")
_EXAMPLE = """[
{"id": "d96152c1-94e9-5365-827a-b74e8b5438d1", "fields": {"query": "running shoes"}, "metadata": {"query_id": "q001", \
"doc_id": "doc-abc"}, "suggestions": {}, "responses": {"grade": [{"value": 2, "user_id": \
"3f0c9a52-6d1e-4b7a-9f1d-2c8e5a7b4d10", "status": "submitted"}, {"value": 3, "user_id": \
"8f1c7e2b-0a4d-4c35-b6f9-71d2e3a4b5c6", "status": "submitted"}]}, "vectors": {}, "_server_id": null}
]
"""
_SUGGESTED = """[
{"id": "d96152c1-94e9-5365-827a-b74e8b5438d1", "fields": {"query": "running shoes"}, "metadata": {"query_id": "q001", \
"doc_id": "doc-abc"}, "suggestions": {"grade": {"value": 3, "score": 0.9, "agent": "a-model"}}, "responses": {}, \
"vectors": {}, "_server_id": null}
]
"""
_EXPECTED = '[{"fields": {...}, "metadata": {"query_id": "q001", "doc_id": "doc-abc"}, "responses": {"grade": [...]}}]'


def _write(
    rows: Iterable[RatingRow],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    documents: Mapping[str, str] | None = None,
    grade: str = "grade",
    note: str = "note",
    question: str = "rating",
    users: Mapping[str, Any] | None = None,
) -> Written:
    """Write records with the responses of people; ``users`` are the ids of Argilla's users by rater."""
    losses, texts, known = Losses(TOOL, "ratings-csv"), PairTexts(queries, documents), users_of(users or {})
    as_value = _QUESTIONS[setting("question", question, _QUESTIONS)]
    grade, note = setting("grade", grade), setting("note", note)
    written = 0

    def objects() -> Iterator[str]:
        nonlocal written
        for pair in pairs_of(of_people(rows, losses, _NOT_STORED)):
            answers = [(row, _user(known.get(row.rater, row.rater), losses)) for row in with_grades(pair, losses)]
            refuse_repeated(answers, "ratings", "keep one")
            answers.sort(key=lambda answer: answer[1])
            given = {
                grade: [_response(as_value(row.grade), user) for row, user in answers],
                note: [_response(row.note, user) for row, user in answers if row.note],
            }
            written += len(answers)
            yield _record_text(pair[0], texts, {}, {name: all for name, all in given.items() if all})

    write_list(objects(), stream)
    return Written(written, losses.notes("rating"))


def _write_suggestions(
    rows: Iterable[MachineLabel],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    documents: Mapping[str, str] | None = None,
    grade: str = "grade",
    question: str = "rating",
) -> Written:
    """Write records with the answers of one model as suggestions."""
    losses, texts = Losses(TOOL, "labels-jsonl"), PairTexts(queries, documents)
    name, as_value = setting("grade", grade), _QUESTIONS[setting("question", question, _QUESTIONS)]
    written = 0

    def objects() -> Iterator[str]:
        nonlocal written
        for pair in pairs_of(rows):
            if len(pair) > 1:
                where = f"query {pair[0].query_id!r}, document {pair[0].doc_id!r}"
                what = f"{where}: {len(pair)} answers, but Argilla has one suggestion for each question"
                raise NotValid(f"{what}; select one judge (--labels-of JUDGE)")
            (row,) = pair
            count_details(row, losses)
            suggestions = {}
            if row.grade is None:
                losses.add("answers without a grade")
            else:
                agent = version_of(row, JUDGE)
                if agent and not _AGENT.fullmatch(agent):
                    losses.add("models whose names have other characters than letters, digits and -_:./", "written")
                score = score_of(row)
                if score is not None and not 0 <= score <= 1:
                    losses.add("scores that are not from 0 to 1")
                    score = None
                suggestions[name] = {"value": as_value(row.grade), "score": score, "agent": agent or None}
                written += 1
            yield _record_text(row, texts, suggestions, {})

    write_list(objects(), stream)
    return Written(written, losses.notes("answer"))


def _record_text(
    row: RatingRow | MachineLabel, texts: PairTexts, suggestions: Mapping[str, Any], responses: Mapping[str, Any]
) -> str:
    """Return the record of a pair. Its id depends on the pair, because Argilla replaces a record with the same id."""
    record = {
        "id": _uuid(row.query_id, row.doc_id),
        "fields": texts.of(row),
        "metadata": {"query_id": row.query_id, "doc_id": row.doc_id},
        "suggestions": suggestions,
        "responses": responses,
        "vectors": {},
        "_server_id": None,
    }
    # Argilla reads the file in the encoding of its system.
    return json_text(record, ascii=True)


def _response(value: Any, user: str) -> dict[str, Any]:
    # Argilla imports a response without a status as a draft.
    return {"value": value, "user_id": user, "status": "submitted"}


def _user(rater: Any, losses: Losses) -> str:
    """Return the id of a user, which is made from the name of a rater who has none."""
    user, made = _user_id(setting("users", rater))
    if made:
        losses.add("names of raters", "written as ids made from them, without --set users=@FILE,")
    return user


@lru_cache(maxsize=4096)
def _user_id(name: str) -> tuple[str, bool]:
    """Return the id of a user, and whether it was made from the name."""
    try:
        return str(UUID(name)), False
    except ValueError:
        return _uuid("rater", name), True


def _uuid(*parts: str) -> str:
    return str(uuid5(NAMESPACE_URL, json_text(parts)))


def _read(
    content: Content, tally: Tally, *, grades: Grades = None, columns: ColumnMap = None, conflicts: Pick | None = None
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
            with tally.rejecting(line, column=place):
                rater = checked_id(str(response.get("user_id") or ""), "user id")
                grade, repaired = fields.grade(response.get("value"), line)
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
    content: Content, tally: Tally, *, grades: Grades = None, columns: ColumnMap = None, conflicts: Pick | None = None
) -> Iterator[MachineLabel]:
    fields, by_key = PairFields(tally, columns or {}, grades), Keyed[MachineLabel](tally, conflicts)
    for where, line, record in records(content, tally, ("responses", "suggestions")):
        pair = _record(record, fields, line, where, tally)
        if pair is None:
            continue
        for suggestion in _suggestion(record, fields):
            tally.read()
            agent, score = suggestion.get("agent"), suggestion.get("score")
            with tally.rejecting(line, column=f"{where}.suggestions"):
                if agent is not None and not isinstance(agent, str):
                    raise RowFault("E23", f"the agent is {value_kind(agent)}, not text")
                grade, repaired = fields.grade(suggestion.get("value"), line)
                parameters = {"score": score} if is_number(score) else None
                row = TextLabel(
                    *(pair.query_id, pair.doc_id, "graded", grade, None, JUDGE, agent or ""),
                    parameters=parameters,
                    line=line,
                    query=pair.query,
                )
                add_label(row, by_key, line, f"{where} {row.doc_id}", repaired or pair.numbered)
        people = len(_responses(record, fields.names("grade")))
        skip_others(tally, line, people, "a response of a person", f"read it as {NAME}")
    yield from counted_labels(by_key, tally)


def _record(record: Mapping[str, Any], fields: PairFields, line: int, where: str, tally: Tally) -> Pair | None:
    """Return the pair of a record, from its fields or its metadata; one without is rejected."""
    with tally.rejecting(line, column=where):
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
        tally.put("header")
        return pair
    return None


def _responses(record: Mapping[str, Any], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the responses to a question."""
    responses = record.get("responses") or {}
    answers: list[dict[str, Any]] = next((responses[name] for name in names if name in responses), [])
    return answers


def _suggestion(record: Mapping[str, Any], fields: PairFields) -> list[dict[str, Any]]:
    """Return the suggestion for the grade, of which a record has at most one."""
    suggestions = record.get("suggestions") or {}
    suggestion = next((suggestions[name] for name in fields.names("grade") if name in suggestions), None)
    return [suggestion] if isinstance(suggestion, dict) else []


FORMAT = Format(
    name=NAME,
    title="Argilla ratings, JSON",
    tool="Argilla",
    kind="ratings",
    description=(
        "The responses of people to one question, in records that Argilla 2 exports (records.to_json) and imports "
        "(records.from_json); fields or metadata name the pair. Suggestions are skipped."
    ),
    read=reader(NAME, _EXPECTED, _read),
    write=_write,
    example=_EXAMPLE,
    options={"columns": COLUMNS_HELP},
)
SUGGESTIONS_FORMAT = Format(
    name=SUGGESTIONS,
    title="Argilla suggestions, JSON",
    tool="Argilla",
    kind="labels",
    description=(
        "The suggestions of models in an export of Argilla, as machine labels; responses are skipped. Each pair has "
        "one suggestion."
    ),
    read=reader(SUGGESTIONS, _EXPECTED, _read_suggestions),
    write=_write_suggestions,
    example=_SUGGESTED,
    options={"columns": COLUMNS_HELP},
)
