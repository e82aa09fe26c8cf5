"""Exports of Label Studio: JSON, JSON-MIN and CSV, with the ratings of annotators and the predictions of models.

The shapes are those of Label Studio's task format page and of the converter in its SDK: an annotation has a list of
results, one for each control. JSON-MIN and CSV have one record for each annotation, and no predictions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from assay.core.read_report import RowFault, Tally
from assay.formats.annotation_tools.label_studio_writing import (
    GRADED,
    JUDGE,
    write_csv,
    write_json,
    write_min,
    write_predictions,
)
from assay.formats.annotation_tools.pair_fields import (
    COLUMNS_HELP,
    FIELDS,
    Pair,
    PairFields,
    add_label,
    add_rating,
    counted_labels,
    counted_ratings,
    records,
    skip_others,
)
from assay.formats.column_names import ColumnMap
from assay.formats.delimited import Columns, read_table
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Keyed, Pick, checked_id
from assay.formats.json_lines import is_number, parse
from assay.formats.labels_jsonl import MachineLabel, TextLabel
from assay.formats.quepid.book_json import HOST
from assay.formats.reader import reader
from assay.formats.row_types import RatingRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind

JSON, PREDICTIONS, MIN, CSV = (
    "label-studio-json",
    "label-studio-predictions-json",
    "label-studio-min-json",
    "label-studio-csv",
)
_EXAMPLE = """[
{"id": 1, "data": {"query_id": "q001", "query": "running shoes", "doc_id": "doc-abc"}, "annotations": [{"id": 1, \
"completed_by": 4, "result": [{"from_name": "grade", "to_name": "text", "type": "choices", "value": {"choices": \
["3"]}}], "was_cancelled": false, "ground_truth": false, "created_at": "2026-03-02T09:14:07Z", "updated_at": \
"2026-03-02T09:14:07Z", "lead_time": 6.1}]},
{"id": 2, "data": {"query_id": "q001", "query": "running shoes", "doc_id": "doc-xyz"}, "annotations": [{"id": 2, \
"completed_by": {"email": "r01@raters.invalid"}, "result": [], "was_cancelled": true, "ground_truth": false, \
"created_at": "2026-03-02T09:15:00Z", "updated_at": "2026-03-02T09:15:00Z", "lead_time": 2.0}]}
]
"""
_PREDICTED = """[
{"id": 1, "data": {"query_id": "q001", "query": "running shoes", "doc_id": "doc-abc"}, "annotations": [], \
"predictions": [{"model_version": "a-model", "score": 0.9, "result": [{"from_name": "grade", "to_name": "text", \
"type": "choices", "value": {"choices": ["3"]}}]}]}
]
"""
_MIN = """[
{
  "query_id": "q001",
  "query": "running shoes",
  "doc_id": "doc-abc",
  "id": 1,
  "grade": "3",
  "annotator": 4,
  "annotation_id": 1,
  "created_at": "2026-03-02T09:14:07Z",
  "updated_at": "2026-03-02T09:14:07Z",
  "lead_time": 6.1
}
]
"""
_TABLE = (
    '"annotation_id","annotator","created_at","doc_id","grade","id","lead_time","query","query_id","updated_at"\n'
    '1,"4","2026-03-02T09:14:07Z","doc-abc","3",1,6.1,"running shoes","q001","2026-03-02T09:14:07Z"\n'
)
_COLUMNS = Columns(
    {**FIELDS, "annotator": (), "lead_time": (), "updated_at": ()},
    ("doc_id", "grade", "annotator"),
    silent=frozenset({"id", "annotation_id", "created_at", "agreement", "history"}),
)
_EXPECTED = (
    '[{"data": {"query_id": "q001", "doc_id": "doc-abc"}, "annotations": [{"completed_by": 4, "result": [...]}]}]'
)


def _read_json(
    content: Content, tally: Tally, *, grades: Grades = None, columns: ColumnMap = None, conflicts: Pick | None = None
) -> list[RatingRow]:
    fields, by_key = PairFields(tally, columns or {}, grades), Keyed[RatingRow](tally, conflicts)
    for where, line, task in records(content, tally, ("annotations", "completions")):
        pair = _task(task, fields, line, where, tally)
        if pair is None:
            continue
        for number, annotation in enumerate(_members(task, "annotations" if "annotations" in task else "completions")):
            tally.read()
            place = f"{where}.annotations[{number}]"
            with tally.rejecting(line, column=place):
                row, repaired = _annotation(annotation, pair, fields, line)
                add_rating(row, by_key, line, f"{place} {row.doc_id}", repaired or pair.numbered)
        predictions = len(_members(task, "predictions"))
        skip_others(tally, line, predictions, "a prediction of a model", f"read it as {PREDICTIONS}")
    return counted_ratings(by_key, tally)


def _read_predictions(
    content: Content, tally: Tally, *, grades: Grades = None, columns: ColumnMap = None, conflicts: Pick | None = None
) -> Iterator[MachineLabel]:
    fields, by_key = PairFields(tally, columns or {}, grades), Keyed[MachineLabel](tally, conflicts)
    for where, line, task in records(content, tally, ("annotations", "completions", "predictions")):
        pair = _task(task, fields, line, where, tally)
        if pair is None:
            continue
        for number, prediction in enumerate(_members(task, "predictions")):
            tally.read()
            place = f"{where}.predictions[{number}]"
            with tally.rejecting(line, column=place):
                row, repaired = _prediction(prediction, pair, fields, line)
                add_label(row, by_key, line, f"{place} {row.doc_id}", repaired or pair.numbered)
        skip_others(tally, line, len(_members(task, "annotations")), "an annotation of a person", f"read it as {JSON}")
    yield from counted_labels(by_key, tally)


def _read_min(
    content: Content, tally: Tally, *, grades: Grades = None, columns: ColumnMap = None, conflicts: Pick | None = None
) -> list[RatingRow]:
    fields, by_key = PairFields(tally, columns or {}, grades), Keyed[RatingRow](tally, conflicts)
    for where, line, record in records(content, tally, ("annotator", "annotation_id")):
        with tally.rejecting(line, column=where):
            row, repaired = _flat(record, fields, line)
            add_rating(row, by_key, line, f"{where} {row.doc_id}", repaired)
    return counted_ratings(by_key, tally)


def _read_csv(
    content: Content,
    tally: Tally,
    *,
    grades: Grades = None,
    columns: ColumnMap = None,
    delimiter: str | None = None,
    conflicts: Pick | None = None,
) -> list[RatingRow]:
    fields, by_key = PairFields(tally, columns or {}, grades), Keyed[RatingRow](tally, conflicts)
    table = read_table(content, tally, _COLUMNS, mapping=columns, delimiter=delimiter, unescaped=False)
    # The columns have the names of their fields here, whatever the file calls them.
    fields.mapping = {}
    for cells in table:
        record = {name: text for name, text in cells.of.items() if text}
        with tally.rejecting(cells.line, raw=record.get("doc_id", "")):
            given = record.get("grade", "")
            row, repaired = _flat(
                record | {"grade": parse(given) if given[:1] in ("[", "{") else given}, fields, cells.line
            )
            add_rating(row, by_key, cells.line, row.doc_id, repaired)
    return counted_ratings(by_key, tally)


def _task(task: Mapping[str, Any], fields: PairFields, line: int, where: str, tally: Tally) -> Pair | None:
    """Return the pair of a task; one without is rejected."""
    data = task.get("data")
    with tally.rejecting(line, column=f"{where}.data"):
        if not isinstance(data, dict):
            raise RowFault("E23", f"data is {value_kind(data)}, not an object")
        for name in ("annotations", "completions", "predictions"):
            if not isinstance(task.get(name) or [], list):
                raise RowFault("E23", f"{name} is {value_kind(task[name])}, not a list")
        pair = fields.pair(data, line)
        tally.put("header")
        return pair
    return None


def _members(task: Mapping[str, Any], name: str) -> list[Any]:
    return task.get(name) or []


def _annotation(annotation: Any, pair: Pair, fields: PairFields, line: int) -> tuple[RatingRow, bool]:
    if not isinstance(annotation, dict):
        raise RowFault("E23", f"an annotation is {value_kind(annotation)}, not an object")
    rater = _rater(annotation.get("completed_by"))
    skipped = annotation.get("was_cancelled") or annotation.get("skipped")
    values = _results(annotation)
    value = None if skipped else _graded(values, fields)
    grade, repaired = (None, False) if value is None else fields.grade(value, line)
    return (
        RatingRow(
            pair.query_id,
            pair.doc_id,
            rater,
            grade,
            "later" if skipped else "unrated" if grade is None else "graded",
            pair.query,
            rated_at=_time(annotation),
            ms_active=_milliseconds(annotation.get("lead_time")),
            note=_note(values, fields),
            line=line,
            by_text=pair.by_text,
        ),
        repaired,
    )


def _prediction(prediction: Any, pair: Pair, fields: PairFields, line: int) -> tuple[MachineLabel, bool]:
    if not isinstance(prediction, dict):
        raise RowFault("E23", f"a prediction is {value_kind(prediction)}, not an object")
    model, score = prediction.get("model_version"), prediction.get("score")
    if model is not None and not isinstance(model, str):
        raise RowFault("E23", f"model_version is {value_kind(model)}, not text")
    value = _graded(_results(prediction), fields)
    grade, repaired = (None, False) if value is None else fields.grade(value, line)
    outcome = "unparseable" if grade is None else "graded"
    parameters = {"score": score} if is_number(score) else None
    row = TextLabel(
        *(pair.query_id, pair.doc_id, outcome, grade, None, JUDGE, model or ""),
        parameters=parameters,
        query=pair.query,
    )
    return row, repaired


def _results(of: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return the type and value of each control's result."""
    results = of.get("result") or []
    if not isinstance(results, list):
        raise RowFault("E23", f"result is {value_kind(results)}, not a list")
    by_control: dict[str, tuple[str, Any]] = {}
    for result in results:
        if not isinstance(result, dict) or not isinstance(result.get("value"), dict):
            raise RowFault("E23", "a result is not an object with a value")
        kind = str(result.get("type") or "").casefold()
        by_control.setdefault(str(result.get("from_name") or kind), (kind, result["value"].get(kind, result["value"])))
    return by_control


def _graded(values: Mapping[str, tuple[str, Any]], fields: PairFields) -> Any:
    """Return the value of the control with the grade; None without a result."""
    if name := next((name for name in fields.names("grade") if name in values), None):
        return values[name][1]
    graded = [name for name, (kind, _) in values.items() if kind in GRADED]
    if "grade" in fields.mapping or not graded:
        return None
    if len(graded) > 1:
        shown = ", ".join(map(repr, graded))
        raise RowFault("E23", f"several controls may be the grade: {shown}", "name one (columns: grade=NAME)")
    return values[graded[0]][1]


def _note(values: Mapping[str, tuple[str, Any]], fields: PairFields) -> str:
    value = next((values[name][1] for name in fields.names("note") if name in values), "")
    value = value.get("text", "") if isinstance(value, dict) else value
    lines = value if isinstance(value, list) else [value]
    return "\n".join(line for line in lines if isinstance(line, str))


def _flat(record: Mapping[str, Any], fields: PairFields, line: int) -> tuple[RatingRow, bool]:
    """Return the rating of a record of JSON-MIN or CSV, in which a grade may be missing."""
    pair = fields.pair(record, line)
    value = next((record[name] for name in fields.names("grade") if record.get(name) not in (None, "", [])), None)
    grade, repaired = (None, False) if value is None else fields.grade(value, line)
    seconds = record.get("lead_time")
    if isinstance(seconds, str):
        try:
            seconds = float(seconds)
        except ValueError:
            raise RowFault("E12", f"the lead_time {seconds!r} is not a number", "expected seconds") from None
    note = next((record[name] for name in fields.names("note") if isinstance(record.get(name), str)), "")
    row = RatingRow(
        pair.query_id,
        pair.doc_id,
        _rater(record.get("annotator")),
        grade,
        "unrated" if grade is None else "graded",
        pair.query,
        rated_at=_time(record),
        ms_active=_milliseconds(seconds),
        note=note,
        line=line,
        by_text=pair.by_text,
    )
    return row, repaired or pair.numbered


def _rater(value: Any) -> str:
    """Return the id of an annotator rather than an e-mail address, or the rater of one that Assay wrote."""
    if isinstance(value, dict):
        value = next((value[name] for name in ("id", "email") if value.get(name) is not None), None)
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise RowFault("E11", "the annotator is missing", "export the annotations with their annotators")
    return checked_id(str(value).removesuffix(f"@{HOST}"), "annotator")


def _time(of: Mapping[str, Any]) -> str:
    value = of.get("updated_at") or of.get("created_at")
    return value if isinstance(value, str) else ""


def _milliseconds(seconds: Any) -> int | None:
    return round(seconds * 1000) if is_number(seconds, most=1e9) and math.isfinite(seconds) and seconds >= 0 else None


def _format(name: str, title: str, kind: str, description: str, read: Any, write: Any, example: str) -> Format:
    return Format(
        name=name,
        title=title,
        tool="Label Studio",
        kind=kind,
        description=description,
        read=reader(name, example.partition("\n")[0] if name == CSV else _EXPECTED, read),
        write=write,
        example=example,
        options={"columns": COLUMNS_HELP},
    )


JSON_FORMAT = _format(
    JSON,
    "Label Studio ratings, JSON",
    "ratings",
    "The annotations of tasks as Label Studio exports and imports them: a rating, a number, or choices that begin with "
    'a number. Skipped tasks get the outcome "later"; predictions are skipped.',
    _read_json,
    write_json,
    _EXAMPLE,
)
PREDICTIONS_FORMAT = _format(
    PREDICTIONS,
    "Label Studio predictions, JSON",
    "labels",
    "The predictions of models in an export or import of Label Studio, as machine labels; annotations are skipped.",
    _read_predictions,
    write_predictions,
    _PREDICTED,
)
MIN_FORMAT = _format(
    MIN,
    "Label Studio ratings, JSON-MIN",
    "ratings",
    "One annotation per object, as in Label Studio's JSON-MIN export.",
    _read_min,
    write_min,
    _MIN,
)
CSV_FORMAT = _format(
    CSV,
    "Label Studio ratings, CSV",
    "ratings",
    "One annotation per row, as Label Studio exports CSV and TSV; annotators with e-mail addresses get pseudonyms.",
    _read_csv,
    write_csv,
    _TABLE,
)
