"""Tests of the files for Label Studio and Argilla: the bytes that they import, and what they cannot store."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.formats import FORMATS
from assay.formats.documents import document_texts
from assay.formats.labels_jsonl import MachineLabel
from assay.formats.quepid.book_json import BookRating
from assay.formats.row_types import DocumentRow, RatingRow
from assay.formats.writer import Written

RATINGS = ("label-studio-json", "label-studio-min-json", "label-studio-csv", "argilla-json")
LABELS = ("label-studio-predictions-json", "argilla-suggestions-json")
ROWS = [
    RatingRow("q2", "d1", "r02", 0, query="tent"),
    RatingRow("q1", "d1", "r02", 2, query="shoe, \u201cred\u201d"),
    RatingRow(
        "q1", "d1", "4", 3, query="shoe, \u201cred\u201d", rated_at="2026-03-02T09:14:07Z", ms_active=6120, note='"x"'
    ),
]
JSON = """[
{"id": 1, "data": {"query_id": "q1", "query": "shoe, \u201cred\u201d", "doc_id": "d1"}, "annotations": [{"id": 1, \
"completed_by": 4, "result": [{"from_name": "grade", "to_name": "text", "type": "choices", "value": {"choices": \
["3"]}}, {"from_name": "note", "to_name": "text", "type": "textarea", "value": {"text": ["\\"x\\""]}}], \
"was_cancelled": false, "ground_truth": false, "created_at": "2026-03-02T09:14:07Z", "updated_at": \
"2026-03-02T09:14:07Z", "lead_time": 6.12}, {"id": 2, "completed_by": {"email": "r02@raters.invalid"}, "result": \
[{"from_name": "grade", "to_name": "text", "type": "choices", "value": {"choices": ["2"]}}], "was_cancelled": false, \
"ground_truth": false, "created_at": "", "updated_at": "", "lead_time": null}]},
{"id": 2, "data": {"query_id": "q2", "query": "tent", "doc_id": "d1"}, "annotations": [{"id": 3, "completed_by": \
{"email": "r02@raters.invalid"}, "result": [{"from_name": "grade", "to_name": "text", "type": "choices", "value": \
{"choices": ["0"]}}], "was_cancelled": false, "ground_truth": false, "created_at": "", "updated_at": "", "lead_time": \
null}]}
]
"""
# The first record and the first lines of what the converter of Label Studio's SDK writes from the tasks above.
MIN = """[
{
  "query_id": "q1",
  "query": "shoe, \u201cred\u201d",
  "doc_id": "d1",
  "id": 1,
  "grade": "3",
  "note": "\\"x\\"",
  "annotator": 4,
  "annotation_id": 1,
  "created_at": "2026-03-02T09:14:07Z",
  "updated_at": "2026-03-02T09:14:07Z",
  "lead_time": 6.12
},
"""
TABLE = (
    '"annotation_id","annotator","created_at","doc_id","grade","id","lead_time","note","query","query_id","updated_at"\n'
    '1,"4","2026-03-02T09:14:07Z","d1","3",1,6.12,"""x""","shoe, \u201cred\u201d","q1","2026-03-02T09:14:07Z"\n'
    '2,"r02@raters.invalid","","d1","2",1,"","","shoe, \u201cred\u201d","q1",""\n'
    '3,"r02@raters.invalid","","d1","0",2,"","","tent","q2",""\n'
)
USERS = {"4": "3F0C9A52-6D1E-4B7A-9F1D-2C8E5A7B4D10", "r02": "8f1c7e2b-0a4d-4c35-b6f9-71d2e3a4b5c6"}
RECORDS = """[
{"id": "2a03feec-85b4-5a17-a8a7-564a6d6bca94", "fields": {"query": "shoe, \\u201cred\\u201d", "text": "Trail \\u2028 \
A shoe."}, "metadata": {"query_id": "q1", "doc_id": "d1"}, "suggestions": {}, "responses": {"grade": [{"value": 3, \
"user_id": "3f0c9a52-6d1e-4b7a-9f1d-2c8e5a7b4d10", "status": "submitted"}, {"value": 2, "user_id": \
"8f1c7e2b-0a4d-4c35-b6f9-71d2e3a4b5c6", "status": "submitted"}], "note": [{"value": "\\"x\\"", "user_id": \
"3f0c9a52-6d1e-4b7a-9f1d-2c8e5a7b4d10", "status": "submitted"}]}, "vectors": {}, "_server_id": null},
{"id": "1deb7f19-967f-5840-b518-b594c5f076bc", "fields": {"query": "tent", "text": "Trail \\u2028 A shoe."}, \
"metadata": {"query_id": "q2", "doc_id": "d1"}, "suggestions": {}, "responses": {"grade": [{"value": 0, "user_id": \
"8f1c7e2b-0a4d-4c35-b6f9-71d2e3a4b5c6", "status": "submitted"}]}, "vectors": {}, "_server_id": null}
]
"""
ANSWERS = [
    MachineLabel("q1", "d1", "graded", 2, judge="graded", model="m", probabilities={"2": 0.75, "1": 0.25}),
    MachineLabel("q1", "d2", "refused", judge="graded", model="m", raw="No."),
]
PREDICTED = """[
{"id": 1, "data": {"query_id": "q1", "query": "shoe", "doc_id": "d1", "text": "A shoe."}, "annotations": [], \
"predictions": [{"model_version": "graded m", "score": 0.75, "result": [{"from_name": "stars", "to_name": "doc", \
"type": "rating", "value": {"rating": 2}}]}]},
{"id": 2, "data": {"query_id": "q1", "query": "shoe", "doc_id": "d2", "text": ""}, "annotations": [], "predictions": \
[{"model_version": "graded m", "score": null, "result": []}]}
]
"""
SUGGESTED = """[
{"id": "2a03feec-85b4-5a17-a8a7-564a6d6bca94", "fields": {"query": "shoe"}, "metadata": {"query_id": "q1", "doc_id": \
"d1"}, "suggestions": {"grade": {"value": "2", "score": 0.75, "agent": "graded m"}}, "responses": {}, "vectors": {}, \
"_server_id": null},
{"id": "46d00317-666b-5a8e-8858-fb9dd72347d5", "fields": {"query": "shoe"}, "metadata": {"query_id": "q1", "doc_id": \
"d2"}, "suggestions": {}, "responses": {}, "vectors": {}, "_server_id": null}
]
"""
TEXTS = {"queries": {"q1": "shoe"}}


def write(name: str, rows: list[Any], **options: Any) -> tuple[str, Written]:
    stream, member = io.BytesIO(), FORMATS[name]
    assert member.write is not None
    done = member.write(rows, stream, **options)
    return stream.getvalue().decode(), done


def read(name: str, text: str) -> Any:
    return FORMATS[name].read(text.encode(), path="a")


def lost(done: Written) -> list[str]:
    """The notes, each without its tool and the count."""
    return [note.partition(" cannot store ")[2].partition(":")[0] for note in done.notes]


def test_the_bytes_of_label_studio():
    text, done = write("label-studio-json", ROWS)
    assert (text, done.rows, lost(done)) == (JSON, 3, ["names of raters"])
    text, done = write("label-studio-min-json", ROWS)
    assert (text[: len(MIN)], done) == (MIN, Written(3))
    assert write("label-studio-csv", ROWS) == (TABLE, Written(3))


def test_the_bytes_of_argilla():
    documents = document_texts([DocumentRow("d1", "Trail \u2028", "A shoe.")])
    text, done = write("argilla-json", ROWS, documents=documents, users=USERS)
    assert text == RECORDS
    assert (done.rows, lost(done)) == (3, ["times of ratings", "times that raters needed"])


def test_the_bytes_of_predictions_and_suggestions():
    settings = {"control": "rating", "grade": "stars", "to_name": "doc", "documents": {"d1": "A shoe."}}
    text, done = write("label-studio-predictions-json", ANSWERS, **settings, **TEXTS)
    details = "details of an answer, such as its rationale and cost"
    assert (text, done.rows, lost(done)) == (PREDICTED, 2, [details, "types of failure"])
    text, done = write("argilla-suggestions-json", ANSWERS, question="label", **TEXTS)
    assert (text, done.rows, lost(done)) == (SUGGESTED, 1, ["answers without a grade", details])


def test_what_label_studio_cannot_store_is_reported():
    rows: list[RatingRow] = [
        RatingRow("q1", "d1", "r01", None, "later", note="ask Jo"),
        RatingRow("q1", "d1", "r02", None, "unrateable", guideline="2"),
        RatingRow("q1", "d1", "final", 2, source="adjudicated"),
        BookRating("q1", "d2", "", None, "unrated", narrative="A need"),
    ]
    text, done = write("label-studio-json", rows)
    tasks = json.loads(text)
    assert [len(task["annotations"]) for task in tasks] == [2, 0]
    assert [one["was_cancelled"] for one in tasks[0]["annotations"]] == [True, True]
    assert lost(done) == [
        "information needs and documents of a book",
        "names of raters",
        "resolutions, gold grades and grades of machines",
        "unrateable pairs",
        "versions of guidelines",
    ]
    assert [(row.rater, row.state, row.note) for row in read("label-studio-json", text).rows] == [
        ("r01", "later", "ask Jo"),
        ("r02", "later", ""),
    ]
    for name in ("label-studio-min-json", "label-studio-csv"):
        assert write(name, rows)[1].rows == 0
    assert "skipped and unrated pairs in JSON-MIN and CSV: left out for 3 ratings" in " ".join(
        write(name, rows)[1].notes
    )
    text, done = write("argilla-json", rows)
    assert ([one["responses"] for one in json.loads(text)], done.rows) == ([{}, {}], 0)
    assert "ratings without a grade" in lost(done)


def test_raters_become_users_of_the_tool():
    rows = [RatingRow("q1", "d1", rater, 1) for rater in ("r01", "12", "012", "jo@host.example")]
    text, done = write("label-studio-json", rows, users={"r01": 7})
    assert [one["completed_by"] for one in json.loads(text)[0]["annotations"]] == [
        {"email": "012@raters.invalid"},
        12,
        {"email": "jo@host.example"},
        7,
    ]
    assert "for 1 rating;" in done.notes[0]
    assert {row.rater for row in read("label-studio-json", write("label-studio-json", rows[:3])[0]).rows} == {
        "r01",
        "12",
        "012",
    }
    text, done = write("argilla-json", rows)
    assert lost(done) == ["names of raters"]
    assert text == write("argilla-json", read("argilla-json", text).rows)[0]


@pytest.mark.parametrize(
    ("name", "rows", "options", "words"),
    [
        ("label-studio-json", ROWS, {"control": "stars"}, "control='stars' is not valid; expected one of rating"),
        ("label-studio-json", ROWS, {"grade": 3}, "grade=3 is not valid; expected a name"),
        ("label-studio-json", ROWS, {"users": ["r01"]}, "users is not an object"),
        ("label-studio-json", ROWS, {"users": {"4": True}}, "users=True is not valid"),
        ("label-studio-json", ROWS, {"users": {"4": 7, "r02": 7}}, "two ratings of '7'; keep one"),
        (
            "label-studio-json",
            [RatingRow("q", "d", "r", -1)],
            {"control": "rating"},
            "cannot be -1; use control=number",
        ),
        ("label-studio-min-json", [ROWS[0], ROWS[0]], {}, "two ratings of 'r02'; keep one"),
        ("argilla-json", ROWS, {"question": "span"}, "expected one of rating, label"),
        ("argilla-json", ROWS, {"users": {"4": 7}}, "users=7 is not valid"),
        ("argilla-json", ROWS, {"users": dict.fromkeys(USERS, USERS["4"])}, "two ratings of '3f0c9a52"),
        ("argilla-suggestions-json", [ANSWERS[0]] * 2, {}, "2 answers, but Argilla has one suggestion .*--labels-of"),
        ("label-studio-predictions-json", [ANSWERS[0]] * 2, {}, "two answers of 'graded m'; keep the answers with one"),
        *(
            (name, [MachineLabel("q", "d", "graded", usefulness=0.5)], {}, "cannot store usefulness; use labels-jsonl")
            for name in LABELS
        ),
    ],
)
def test_bad_rows_and_settings(name: str, rows: list[Any], options: dict[str, Any], words: str):
    with pytest.raises(NotValid, match=words):
        write(name, rows, **options)


@pytest.mark.parametrize("name", RATINGS)
@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_texts_that_cannot_be_stored_are_refused(name: str, text: str):
    with pytest.raises(NotValid, match="correct the text"):
        write(name, [RatingRow("q1", "d1", "r01", 1, query=text)])


@pytest.mark.parametrize("agent", ["m\u00fcller", "x" * 201])
def test_models_that_argilla_refuses_are_reported(agent: str):
    text, done = write("argilla-suggestions-json", [MachineLabel("q", "d", "graded", 1, model=agent)])
    assert json.loads(text)[0]["suggestions"]["grade"]["agent"] == agent
    assert lost(done)[0].startswith("models whose names")
    row = MachineLabel("q", "d", "graded", 1, parameters={"score": 4})
    text, done = write("argilla-suggestions-json", [row])
    assert (json.loads(text)[0]["suggestions"]["grade"]["score"], lost(done)) == (
        None,
        ["scores that are not from 0 to 1"],
    )


IDS = st.text("aZ09 -_.,;\"'=+\u00e9\u2028/[{", min_size=1, max_size=6).filter(lambda text: text.strip() == text)
WORDS = st.text("ab ,;\"'=+@\t\n\u00e9\u2028[{\\0", max_size=8)
RATING = st.builds(
    RatingRow,
    IDS,
    IDS,
    IDS,
    st.integers(-3, 12),
    query=WORDS,
    ms_active=st.none() | st.integers(0, 10**9),
    note=WORDS,
)
OTHER = st.builds(RatingRow, IDS, IDS, IDS, st.none(), st.sampled_from(["later", "unrateable", "unrated"]), note=WORDS)
LABEL = st.builds(
    MachineLabel,
    IDS,
    IDS,
    st.just("graded"),
    st.integers(-3, 12),
    model=st.sampled_from(["", "m 1"]),
    parameters=st.none() | st.builds(lambda score: {"score": score}, st.floats(0, 1)),
)


def distinct(rows: list[Any]) -> list[Any]:
    """One row for each pair and rater."""
    return list({(row.query_id, row.doc_id, getattr(row, "rater", "")): row for row in rows}.values())


@pytest.mark.parametrize("name", RATINGS)
@settings(max_examples=30)
@given(rows=st.lists(RATING | OTHER, min_size=1, max_size=6).map(distinct))
def test_ratings_come_back(name: str, rows: list[RatingRow]):
    text, done = write(name, rows)
    result = read(name, text)
    assert result.report.ok
    assert len(result.rows) == done.rows
    assert write(name, result.rows)[0] == text or name == "argilla-json"
    if name != "argilla-json":
        expected = {(row.query_id, row.doc_id, row.rater): (row.grade, row.note, row.ms_active) for row in rows}
        for row in result.rows:
            assert (row.grade, row.note, row.ms_active) == expected[row.query_id, row.doc_id, row.rater]


@pytest.mark.parametrize("name", LABELS)
@settings(max_examples=30)
@given(rows=st.lists(LABEL, min_size=1, max_size=6).map(distinct))
def test_labels_come_back(name: str, rows: list[MachineLabel]):
    text, _ = write(name, rows)
    result = read(name, text)
    assert result.report.ok
    assert write(name, result.rows)[0] == text
    assert sorted((row.query_id, row.doc_id, row.grade, row.model) for row in result.rows) == sorted(
        (row.query_id, row.doc_id, row.grade, row.model) for row in rows
    )
