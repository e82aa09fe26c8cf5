"""Writers of Label Studio's files: tasks with annotations or predictions that it imports, JSON-MIN and CSV.

An import finds the annotators of a file by their e-mail address, or by the number of their account.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.formats.annotation_tools.writing import (
    Losses,
    PairTexts,
    count_details,
    json_text,
    of_people,
    pairs_of,
    refuse_repeated,
    refuse_value,
    score_of,
    setting,
    users_of,
    version_of,
    write_list,
)
from assay.formats.labels_jsonl import MachineLabel
from assay.formats.quepid.book_json import HOST
from assay.formats.row_types import RatingRow
from assay.formats.writer import Written

TOOL, JUDGE = "Label Studio", "label-studio"
# The controls whose results can be grades.
GRADED = ("rating", "choices", "number")
_GUIDELINE = {"guideline": "versions of guidelines"}
_ACCOUNT = re.compile(r"[1-9]\d{0,17}", re.ASCII)
_HEADER = ("annotation_id", "annotator", "created_at", "doc_id", "grade", "id", "lead_time")


def write_json(
    rows: Iterable[RatingRow],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    documents: Mapping[str, str] | None = None,
    control: str = "choices",
    grade: str = "grade",
    note: str = "note",
    to_name: str = "text",
    users: Mapping[str, Any] | None = None,
) -> Written:
    """Write tasks with the annotations of people; ``users`` are addresses or numbers of accounts by rater."""
    losses, texts, known = Losses(TOOL, "ratings-csv"), PairTexts(queries, documents), users_of(users or {})
    results = _Results(control, grade, note, to_name)
    written = 0

    def tasks() -> Iterator[str]:
        nonlocal written
        annotation = 0
        for number, pair in enumerate(pairs_of(of_people(rows, losses, _GUIDELINE)), 1):
            refuse_repeated(((row, str(known.get(row.rater, row.rater))) for row in pair), "ratings", "keep one")
            annotations = []
            for row in pair:
                written += 1
                # A pair of a book without any rating becomes a task without annotations.
                if row.rater:
                    annotation += 1
                    annotations.append(_annotation(row, annotation, known, results, losses))
            yield json_text({"id": number, "data": _data(pair[0], texts), "annotations": annotations})

    write_list(tasks(), stream)
    return Written(written, losses.notes("rating"))


def write_predictions(
    rows: Iterable[MachineLabel],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    documents: Mapping[str, str] | None = None,
    control: str = "choices",
    grade: str = "grade",
    to_name: str = "text",
) -> Written:
    """Write tasks with the answers of models as predictions."""
    losses, texts = Losses(TOOL, "labels-jsonl"), PairTexts(queries, documents)
    results = _Results(control, grade, "note", to_name)
    written = 0

    def tasks() -> Iterator[str]:
        nonlocal written
        for number, pair in enumerate(pairs_of(rows), 1):
            versions = [(row, version_of(row, JUDGE)) for row in pair]
            refuse_repeated(versions, "answers", "keep the answers with one prompt")
            predictions = []
            for row, version in versions:
                count_details(row, losses)
                if row.outcome not in ("graded", "unparseable"):
                    losses.add("types of failure", "written without a result")
                result = results.of(row, row.grade, "")
                predictions.append({"model_version": version, "score": score_of(row), "result": result})
            written += len(pair)
            data = _data(pair[0], texts)
            yield json_text({"id": number, "data": data, "annotations": [], "predictions": predictions})

    write_list(tasks(), stream)
    return Written(written, losses.notes("answer"))


def write_min(rows: Iterable[RatingRow], stream: BinaryIO, *, queries: Mapping[str, str] | None = None) -> Written:
    """Write one object for each annotation, as Label Studio exports JSON-MIN; skipped pairs have none there."""
    losses, written = Losses(TOOL, "ratings-csv"), 0

    def objects() -> Iterator[str]:
        nonlocal written
        for record in _records(_annotated(rows, losses), PairTexts(queries)):
            written += 1
            yield json_text(record, indent=2)

    write_list(objects(), stream)
    return Written(written, losses.notes("rating"))


def write_csv(rows: Iterable[RatingRow], stream: BinaryIO, *, queries: Mapping[str, str] | None = None) -> Written:
    """Write one row for each annotation, as Label Studio exports CSV: sorted columns, and quotes around texts."""
    losses, written = Losses(TOOL, "ratings-csv"), 0
    pairs = list(_annotated(rows, losses))
    # Label Studio exports a column only if a record has it.
    notes = ("note",) if any(row.note for pair in pairs for row in pair) else ()
    columns = [*_HEADER, *notes, "query", "query_id", "updated_at"]
    text = codecs.getwriter("utf-8")(stream)
    table = csv.DictWriter(text, columns, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    table.writeheader()
    for record in _records(pairs, PairTexts(queries)):
        refuse_value(record)
        table.writerow(record | {"annotator": str(record["annotator"])})
        written += 1
    return Written(written, losses.notes("rating"))


def _annotated(rows: Iterable[RatingRow], losses: Losses) -> Iterator[list[RatingRow]]:
    """Yield the ratings of each pair that are annotations in an export with one record for each annotation."""
    yield from pairs_of(_unskipped(of_people(rows, losses, _GUIDELINE), losses))


def _records(pairs: Iterable[list[RatingRow]], texts: PairTexts) -> Iterator[dict[str, Any]]:
    annotation = 0
    for number, pair in enumerate(pairs, 1):
        refuse_repeated(((row, row.rater) for row in pair), "ratings", "keep one")
        for row in pair:
            annotation += 1
            annotator = _annotator(row.rater)
            yield {
                **_data(row, texts),
                "id": number,
                **({} if row.grade is None else {"grade": str(row.grade)}),
                **({"note": row.note} if row.note else {}),
                "annotator": annotator["email"] if isinstance(annotator, dict) else annotator,
                "annotation_id": annotation,
                "created_at": row.rated_at,
                "updated_at": row.rated_at,
                "lead_time": _seconds(row),
            }


def _unskipped(rows: Iterable[RatingRow], losses: Losses) -> Iterator[RatingRow]:
    for row in rows:
        if row.state in ("later", "unrateable") or not row.rater:
            losses.add("skipped and unrated pairs in JSON-MIN and CSV")
        else:
            yield row


def _data(row: RatingRow | MachineLabel, texts: PairTexts) -> dict[str, str]:
    of = texts.of(row)
    return {"query_id": row.query_id, "query": of.pop("query"), "doc_id": row.doc_id, **of}


def _annotation(
    row: RatingRow, number: int, users: Mapping[str, Any], results: _Results, losses: Losses
) -> dict[str, Any]:
    if row.state == "unrateable":
        losses.add("unrateable pairs", "written as skipped")
    annotator = _annotator(users.get(row.rater, row.rater))
    if isinstance(annotator, dict) and annotator["email"].endswith(f"@{HOST}"):
        losses.add("names of raters", "written as addresses that no account has, without --set users=@FILE,")
    return {
        "id": number,
        "completed_by": annotator,
        "result": results.of(row, row.grade, row.note),
        "was_cancelled": row.state in ("later", "unrateable"),
        # An import takes an annotation without this key as ground truth.
        "ground_truth": False,
        "created_at": row.rated_at,
        "updated_at": row.rated_at,
        "lead_time": _seconds(row),
    }


def _annotator(rater: Any) -> Any:
    """Return the number of an account, or an address; that of a pseudonym cannot exist."""
    if isinstance(rater, int) and not isinstance(rater, bool):
        return rater
    text = setting("users", rater)
    if _ACCOUNT.fullmatch(text):
        return int(text)
    return {"email": text if "@" in text else f"{text}@{HOST}"}


def _seconds(row: RatingRow) -> float | None:
    return None if row.ms_active is None else row.ms_active / 1000


class _Results:
    """The results of an annotation or prediction, one for each control of the project."""

    def __init__(self, control: str, grade: str, note: str, to_name: str) -> None:
        self.control = setting("control", control, GRADED)
        self.grade, self.note = setting("grade", grade), setting("note", note)
        self.to_name = setting("to_name", to_name)

    def of(self, row: RatingRow | MachineLabel, grade: int | None, note: str) -> list[dict[str, Any]]:
        """Return the results with a grade and a note, if there are any."""
        if grade is not None and grade < 0 and self.control == "rating":
            where = f"query {row.query_id!r}, document {row.doc_id!r}"
            raise NotValid(f"{where}: a rating of Label Studio cannot be {grade}; use control=number")
        value = [str(grade)] if self.control == "choices" else grade
        given = [] if grade is None else [(self.grade, self.control, value)]
        given += [(self.note, "textarea", [note])] if note else []
        return [
            {
                "from_name": name,
                "to_name": self.to_name,
                "type": kind,
                "value": {"text" if kind == "textarea" else kind: of},
            }
            for name, kind, of in given
        ]
