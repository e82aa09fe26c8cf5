"""Tests of exports of Label Studio and Argilla: controls, raters, and labels of models that stay apart."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS, sniff

DATA = {"query_id": "q1", "query": "shoes", "doc_id": "d1"}


def read(name: str, content: Any, **options: Any) -> Any:
    data = content if isinstance(content, str) else json.dumps(content) + "\n"
    return FORMATS[name].read(data.encode(), path="a", **options)


def result(value: dict[str, Any], kind: str = "rating", name: str = "stars") -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": value}


def annotation(*results: dict[str, Any], rater: Any = 4, **more: Any) -> dict[str, Any]:
    return {"id": 1, "completed_by": rater, "result": list(results), "was_cancelled": False} | more


def task(*annotations: dict[str, Any], data: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": 1, "data": DATA if data is None else data, "annotations": list(annotations)} | more


def codes(name: str, *content: dict[str, Any], **options: Any) -> set[str]:
    return set(
        read(
            name, [*content, task(annotation(result({"rating": 0})), data=DATA | {"doc_id": "d9"})], **options
        ).report.codes
    )


@pytest.mark.parametrize(
    ("value", "kind", "grade"),
    [
        ({"rating": 3}, "rating", 3),
        ({"number": 2}, "number", 2),
        ({"choices": ["2"]}, "choices", 2),
        ({"choices": ["1 related"]}, "choices", 1),
        ({"choices": ["3. perfect"]}, "choices", 3),
    ],
)
def test_grades_of_label_studio(value: dict[str, Any], kind: str, grade: int):
    note = result({"text": ["fits", "well"]}, "textarea", "notes")
    (row,) = read("label-studio-json", [task(annotation(note, result(value, kind), lead_time=6.12))]).rows
    assert (row.query_id, row.doc_id, row.rater, row.grade, row.ms_active) == ("q1", "d1", "4", grade, 6120)
    assert row.note == "fits\nwell"


def test_skipped_and_empty_annotations_have_no_grade():
    rows = read("label-studio-json", [task(annotation(was_cancelled=True), annotation(rater=5))]).rows
    assert [(row.rater, row.grade, row.state) for row in rows] == [("4", None, "later"), ("5", None, "unrated")]


def test_predictions_stay_apart_from_ratings():
    predictions = [{"model_version": "m1", "score": 0.9, "result": [result({"rating": 1})]}, {"model_version": "m2"}]
    export = [task(annotation(result({"rating": 3})), predictions=predictions)]
    people = read("label-studio-json", export)
    assert ([row.grade for row in people.rows], people.report.codes) == ([3], {"W70": 2})
    models = read("label-studio-predictions-json", export)
    assert [(row.model, row.grade, row.outcome, row.parameters) for row in models.rows] == [
        ("m1", 1, "graded", {"score": 0.9}),
        ("m2", None, "unparseable", None),
    ]
    assert models.report.codes == {"W70": 1}
    head = json.dumps(export).encode()
    assert (sniff(head), sniff(head, "labels")) == ("label-studio-json", "label-studio-predictions-json")


def test_the_control_with_the_grade_can_be_named():
    results = [result({"rating": 3}, name="clarity"), result({"rating": 1}, name="match")]
    report = read("label-studio-json", [task(annotation(*results))]).report
    assert set(report.codes) == {"E23"}
    assert report.errors[0].column == "[0].annotations[0]"
    (row,) = read("label-studio-json", [task(annotation(*results))], columns={"grade": "match"}).rows
    assert row.grade == 1


def test_addresses_of_raters_become_pseudonyms():
    raters = [{"id": 7, "email": "jo@host.example"}, {"email": "al@host.example"}]
    export = [task(*(annotation(result({"rating": 3}), rater=rater) for rater in raters))]
    result_ = read("label-studio-json", export)
    assert {row.rater for row in result_.rows} == {"r01", "r02"}
    assert "@" not in result_.report.as_json()


def test_queries_without_ids_are_numbered():
    tasks = [task(annotation(result({"rating": 1})), data={"query": text, "doc_id": "d1"}) for text in ("a", "b", "a")]
    tasks[2]["data"]["doc_id"] = "d2"
    assert [(row.query_id, row.by_text) for row in read("label-studio-json", tasks).rows] == [
        ("q001", True),
        ("q002", True),
        ("q001", True),
    ]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (task(annotation(result({"rating": 3})), data={"query_id": "q1"}), "E11"),
        (task(annotation(result({"rating": 3})), data={"doc_id": "d1"}), "E11"),
        (task(annotation(result({"rating": 3})), data=[]), "E23"),
        (task(annotation(result({"rating": 3}), rater=None)), "E11"),
        (task(annotation(result({"choices": ["good"]}, "choices"))), "E12"),
        (task(annotation(result({"choices": ["1", "2"]}, "choices"))), "E23"),
        (task(annotation(result({"rating": 2.5}))), "E13"),
        (task(annotation(result({"rating": 9}))), "E14"),
        (task(annotation(result({"rating": 1})), annotation(result({"rating": 2}))), "E16"),
        (task(annotation(result({"rating": 1}), result="x")), "E23"),
        ({"id": 1, "data": DATA, "annotations": "x"}, "E23"),
        (task(annotation(result({"rating": 3})), data=DATA | {"doc_id": 7}), "W42"),
    ],
)
def test_odd_tasks(content: dict[str, Any], code: str):
    assert codes("label-studio-json", content, grades=(0, 1, 2, 3)) == {code}


def test_json_min_and_csv_have_one_record_per_annotation():
    record = DATA | {
        "id": 1,
        "annotation_id": 5,
        "annotator": 4,
        "lead_time": 1.5,
        "updated_at": "2026-03-02T09:14:07Z",
    }
    records = [
        record | {"grade": [{"rating": 3}]},
        record | {"grade": "1 related", "annotator": 5},
        record | {"annotator": 6},
    ]
    rows = read("label-studio-min-json", records).rows
    assert [(row.rater, row.grade, row.state, row.ms_active) for row in rows] == [
        ("4", 3, "graded", 1500),
        ("5", 1, "graded", 1500),
        ("6", None, "unrated", 1500),
    ]
    header = '"annotation_id"\t"annotator"\t"doc_id"\t"lead_time"\t"query"\t"rating"\n'
    table = header + '5\t"jo@host.example"\t"d1"\t1.5\t"shoes"\t"[{""rating"": 3}]"\n6\t"7"\t"d2"\tx\t"shoes"\t"2"\n'
    assert sniff(table.encode()) == "label-studio-csv"
    result_ = read("label-studio-csv", table)
    assert [(row.rater, row.grade, row.doc_id) for row in result_.rows] == [("r01", 3, "d1")]
    assert set(result_.report.codes) == {"W46", "W47", "E12"}
    assert result_.report.errors[0].line == 3


def record(**of: Any) -> dict[str, Any]:
    return (
        {"id": "1", "fields": {"query": "shoes"}, "metadata": {"query_id": "q1", "doc_id": "d1"}}
        | {"suggestions": {}, "responses": {}}
        | of
    )


def test_responses_and_suggestions_of_argilla_stay_apart():
    answers = [{"value": 3, "user_id": "u1"}, {"value": "2 related", "user_id": "u2"}]
    export = [
        record(
            responses={"rating": answers, "comment": [{"value": "fits", "user_id": "u2"}]},
            suggestions={"rating": {"value": 1, "score": 0.7, "agent": "m1"}},
        )
    ]
    people = read("argilla-json", export)
    assert [(row.rater, row.grade, row.note) for row in people.rows] == [("u1", 3, ""), ("u2", 2, "fits")]
    assert people.report.codes == {"W70": 1}
    models = read("argilla-suggestions-json", export)
    assert [(row.model, row.grade, row.parameters) for row in models.rows] == [("m1", 1, {"score": 0.7})]
    assert models.report.codes == {"W70": 2}
    head = json.dumps(export).encode()
    assert (sniff(head), sniff(head, "labels")) == ("argilla-json", "argilla-suggestions-json")


@pytest.mark.parametrize(
    ("of", "code"),
    [
        ({"metadata": {}}, "E11"),
        ({"metadata": []}, None),
        ({"metadata": "x"}, "E23"),
        ({"responses": {"grade": [{"value": "good", "user_id": "u1"}]}}, "E12"),
        ({"responses": {"grade": [{"value": 1, "user_id": None}]}}, "E11"),
        ({"responses": {"grade": {"value": 1}}}, "E23"),
    ],
)
def test_odd_records_of_argilla(of: dict[str, Any], code: str | None):
    good = record(responses={"grade": [{"value": 1, "user_id": "u1"}]}, metadata={"query_id": "q1", "doc_id": "d2"})
    assert set(read("argilla-json", [record(**of), good]).report.codes) == ({code} if code else {"E11"})


def test_unknown_columns_and_other_files_are_refused():
    with pytest.raises(NotValid):
        read("argilla-json", [record()], columns={"sku": "x"})
    for name in ("argilla-json", "label-studio-json", "label-studio-min-json"):
        with pytest.raises(UnreadableInput) as caught:
            read(name, {"a": 1})
        assert caught.value.code == "F03"
