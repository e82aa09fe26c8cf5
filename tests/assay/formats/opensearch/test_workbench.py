"""Tests of the files of the Search Relevance Workbench."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from assay.core.errors import NotValid
from assay.formats import FORMATS, sniff
from assay.formats.row_types import LabelRow, QueryRow

SHOES = {"query": "running shoes", "ratings": [{"docId": "d1", "rating": "3"}, {"docId": "d2", "rating": "0.000"}]}
LIST = {"name": "Shop", "type": "IMPORT_JUDGMENT", "judgmentRatings": [SHOES]}


def read(name: str, value: Any) -> Any:
    return FORMATS[name].read(json.dumps(value).encode() + b"\n", path="a.json")


def written(format: str, rows: Any, **options: Any) -> bytes:
    stream, write = io.BytesIO(), FORMATS[format].write
    assert write is not None
    write(rows, stream, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    "value",
    [
        LIST,
        [LIST],
        {"hits": {"hits": [{"_index": "judgments", "_source": LIST}]}},
        [{"_source": LIST}],
        {**LIST, "id": "7", "timestamp": "2026-01-01", "status": "COMPLETED", "metadata": {}},
    ],
)
def test_lists_as_imported_stored_and_returned(value: Any) -> None:
    result = read("srw-judgments", value)
    assert [(row.query, row.doc_id, row.grade) for row in result.rows] == [
        ("running shoes", "d1", 3),
        ("running shoes", "d2", 0),
    ]
    assert (result.report.ok, result.report.codes) == (True, {})
    assert sniff(json.dumps(value).encode()) == "srw-judgments"


def test_failures_of_a_judge_are_no_labels() -> None:
    failed = {
        **LIST,
        "type": "LLM_JUDGMENT",
        "judgmentRatings": [{**SHOES, "failures": [{"docId": "d6"}, {"docId": "d7"}]}],
    }
    result = read("srw-judgments", failed)
    assert ({row.doc_id for row in result.rows}, result.report.codes) == ({"d1", "d2"}, {"W67": 2})


@pytest.mark.parametrize(
    ("rating", "code"),
    [
        ({"rating": "3"}, "E23"),
        ({"docId": "", "rating": "3"}, "E11"),
        ({"docId": "d9", "rating": "0.25"}, "E13"),
        ({"docId": "d9", "rating": "high"}, "E12"),
        ({"docId": "d9", "rating": None}, "E12"),
        ({"docId": "d9", "rating": True}, "E12"),
        ({"docId": "d1", "rating": "1"}, "E16"),
        (3, "E23"),
    ],
)
def test_bad_ratings_are_reported_with_their_path(rating: Any, code: str) -> None:
    report = read(
        "srw-judgments", {**LIST, "judgmentRatings": [{**SHOES, "ratings": [*SHOES["ratings"], rating]}]}
    ).report
    assert {problem.code for problem in report.errors} == {code}
    assert code == "E16" or report.errors[0].column == "judgmentRatings[0].ratings[2]"


def test_a_number_is_read_as_text_would_be() -> None:
    result = read(
        "srw-judgments", {**LIST, "judgmentRatings": [{"query": "a", "ratings": [{"docId": "d1", "rating": 2}]}]}
    )
    assert (result.rows[0].grade, result.report.codes) == (2, {"W43": 1})


def test_lists_to_import() -> None:
    rows = [LabelRow("q2", "d1", 1, query="tent"), LabelRow("q1", "d2", 0, query="rope"), LabelRow("q1", "d9", None)]
    data = written("srw-judgments", rows, name="Shop v3", description="scale 0-3")
    assert json.loads(data) == {
        "name": "Shop v3",
        "description": "scale 0-3",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {"query": "rope", "ratings": [{"docId": "d2", "rating": "0"}]},
            {"query": "tent", "ratings": [{"docId": "d1", "rating": "1"}]},
        ],
    }
    for options in ({"name": "x" * 51}, {"description": "x" * 251}):
        with pytest.raises(NotValid):
            written("srw-judgments", rows, **options)
    with pytest.raises(NotValid):
        written("srw-judgments", [LabelRow("q1", "d1", 1, query="a"), LabelRow("q2", "d1", 1, query="a")])


def test_query_sets() -> None:
    value = {"name": "TVs", "sampling": "manual", "querySetQueries": [{"queryText": "tv"}, {"queryText": ""}, {"q": 1}]}
    result = read("srw-query-set", value)
    assert [row.query for row in result.rows] == ["tv"]
    assert [problem.code for problem in result.report.errors] == ["E11", "E23"]
    assert json.loads(written("srw-query-set", [QueryRow("q1", "tv")]))["querySetQueries"] == [{"queryText": "tv"}]


def test_queries_one_per_line() -> None:
    text = '{"queryText": "What is the capital?", "referenceAnswer": "Paris"}\n{"query": "tv"}\n{"queryText"\n'
    result = FORMATS["srw-queries"].read(text.encode(), path="a")
    assert [row.query for row in result.rows] == ["What is the capital?"]
    assert [(problem.line, problem.code) for problem in result.report.errors] == [(2, "E23"), (3, "E24")]
    assert result.report.codes["W41"] == 2
