"""Tests of the JSON files of a Quepid case, in the shapes of Quepid's templates (app/views/api/v1/export)."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS, sniff
from assay.formats.row_types import LabelRow, QueryRow

RATINGS = b'{"queries":[{"query":"star trek","ratings":{"193":1.0,"201":0.0}},{"query":"dune","ratings":{}}]}'
QUERY = {
    "arranged_at": 1,
    "query_text": "star wars",
    "options": {},
    "notes": None,
    "information_need": "Films of the series",
    "ratings": [{"doc_id": "11", "rating": 3.0, "user_email": "a@b.example"}, {"doc_id": 12, "rating": None}],
}
CASE: dict[str, Any] = {
    "case_name": "Films",
    "owner_email": "a@b.example",
    "scorer": {"scale": [0, 1, 2, 3]},
    "queries": [QUERY, {**QUERY, "query_text": "dune", "ratings": {"7": 1.0}, "information_need": None}],
    "try": {"search_endpoint": {"basic_auth_credential": "user:secret"}},
}


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def read(name: str, data: bytes, **options: Any) -> Any:
    return FORMATS[name].read(data, path="a.json", **options)


def written(rows: Any, format: str = "quepid-ratings-json", **options: Any) -> bytes:
    stream, write = io.BytesIO(), FORMATS[format].write
    assert write is not None
    write(rows, stream, **options)
    return stream.getvalue()


def test_ratings() -> None:
    result = read("quepid-ratings-json", RATINGS)
    assert sniff(RATINGS) == sniff(RATINGS, "qrels") == "quepid-ratings-json"
    assert [(row.query, row.doc_id, row.grade) for row in result.rows] == [
        ("star trek", "193", 1.0),
        ("star trek", "201", 0.0),
    ]
    assert (result.report.ok, set(result.report.codes)) == (True, {"W36", "W65"})


def test_bytes_of_ratings() -> None:
    rows = [
        LabelRow("q2", "d 1", 3.0, query='a "b", =c\té😀'),
        LabelRow("q2", "d2", None, query="x"),
        LabelRow("q1", "d1", 2.5, query="tent"),
    ]
    data = written(rows)
    assert data.decode() == (
        '{"queries": [\n  {"query": "tent", "ratings": {"d1": 2.5}},\n'
        '  {"query": "a \\"b\\", =c\\té😀", "ratings": {"d 1": 3}}\n]}\n'
    )
    assert written(read("quepid-ratings-json", data).rows) == data
    assert sniff(written([])) == "quepid-ratings-json"
    with pytest.raises(NotValid):
        written([LabelRow("q1", "d1", 1.0, query="\ud800")])


def test_bytes_of_a_case() -> None:
    rows = [
        LabelRow("q1", "11", 3.0, query="star wars"),
        LabelRow("q1", "12", None, query="star wars"),
        LabelRow("q2", "d 1", 2.5, query='a "b", =c\té😀'),
    ]
    data = written(rows, "quepid-case", name="Films")
    assert data.decode() == (
        '{"case_name": "Films", "queries": [\n'
        '  {"query_text": "star wars", "information_need": null, "ratings": '
        '[{"doc_id": "11", "rating": 3.0, "user_email": null}]},\n'
        '  {"query_text": "a \\"b\\", =c\\té😀", "information_need": null, "ratings": '
        '[{"doc_id": "d 1", "rating": 2.5, "user_email": null}]}\n]}\n'
    )
    assert json.loads(data)["queries"][0].keys() <= QUERY.keys()
    result = read("quepid-case", data)
    assert (result.report.ok, result.report.codes) == (True, {})
    assert written(result.rows, "quepid-case", name="Films") == data


def test_bytes_of_the_queries_of_a_case() -> None:
    rows = [QueryRow("q2", "dune"), QueryRow("q1", "star wars", "Films of the series", tier="head")]
    data = written(rows, "quepid-case-queries")
    assert data.decode() == (
        '{"case_name": "Assay", "queries": [\n'
        '  {"query_text": "star wars", "information_need": "Films of the series", "ratings": []},\n'
        '  {"query_text": "dune", "information_need": null, "ratings": []}\n]}\n'
    )
    result = read("quepid-case-queries", data)
    assert written(result.rows, "quepid-case-queries") == data
    assert [(row.query, row.narrative) for row in result.rows] == [("star wars", "Films of the series"), ("dune", "")]


def test_what_a_written_case_lacks_is_reported() -> None:
    label = LabelRow("q1", "d1", 1.0, query="dune", copied_from=("q2", "d1", "same"))
    query = QueryRow("q1", "dune", tier="head")
    for name, row, field in (("quepid-case", label, "copied_from"), ("quepid-case-queries", query, "tier")):
        write = FORMATS[name].write
        assert write is not None
        left_out, incomplete = write([row], io.BytesIO()).notes
        assert left_out.endswith(f"left out: {field}")
        assert "copy the members scorer and try" in incomplete
        assert write([], io.BytesIO()).notes == ()
        for other in ({"query": ""}, {"query": "\ud800"}):
            with pytest.raises(NotValid):
                write([replace(row, **other)], io.BytesIO())
        with pytest.raises(NotValid, match="q1 and q2"):
            write([row, replace(row, query_id="q2")], io.BytesIO())


@pytest.mark.parametrize("value", [CASE, {"case": CASE}])
def test_a_case_has_labels_and_queries(value: Any) -> None:
    data = encoded(value)
    assert (sniff(data), sniff(data, "queries")) == ("quepid-case", "quepid-case-queries")
    labels = read("quepid-case", data)
    assert [(row.query, row.doc_id, row.grade) for row in labels.rows] == [
        ("star wars", "11", 3.0),
        ("star wars", "12", None),
        ("dune", "7", 1.0),
    ]
    queries = read("quepid-case-queries", data)
    assert [(row.query, row.narrative) for row in queries.rows] == [("star wars", "Films of the series"), ("dune", "")]


def test_search_settings_are_reported_without_their_values() -> None:
    for name in ("quepid-case", "quepid-case-queries"):
        report = read(name, encoded(CASE)).report
        assert report.codes["W41"] == 1
        assert "secret" not in report.as_json()


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"query_text": "a", "ratings": [{"doc_id": "1", "rating": "x"}]}, "E12"),
        ({"query_text": "a", "ratings": [{"doc_id": "1", "rating": True}]}, "E12"),
        ({"query_text": "a", "ratings": [{"doc_id": "", "rating": 1}]}, "E11"),
        ({"query_text": "a", "ratings": [{"doc_id": 1.5, "rating": 1}]}, "E23"),
        ({"query_text": "a", "ratings": [1]}, "E23"),
        ({"query_text": "a", "ratings": [{"doc_id": "1", "rating": 1}, {"doc_id": "1", "rating": 2}]}, "E16"),
        ({"ratings": {"1": 1}}, "E23"),
        ({"query_text": "a\0", "ratings": {}}, "E19"),
        (3, "E23"),
    ],
)
def test_bad_ratings_are_rejected_with_their_path(query: Any, code: str) -> None:
    report = read("quepid-case", encoded({**CASE, "queries": [QUERY, query]})).report
    assert {problem.code for problem in report.errors} == {code}
    if code != "E16":
        assert report.errors[0].column.startswith("queries[1]")


def test_damaged_json_is_refused() -> None:
    for data in (RATINGS[:-3], RATINGS + b"x", b'{"queries": 1'):
        with pytest.raises(UnreadableInput):
            read("quepid-ratings-json", data)


def test_a_scale_applies() -> None:
    report = read("quepid-case", encoded(CASE), grades=(0, 1)).report
    assert report.codes["E14"] == 1
