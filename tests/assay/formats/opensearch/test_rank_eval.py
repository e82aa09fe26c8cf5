"""Tests of requests and replies of _rank_eval."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS, sniff
from assay.formats.row_types import LabelRow

BODY = {"query": {"match": {"title": "running shoes"}}}
RATINGS = [{"_index": "shop", "_id": "d1", "rating": 3}, {"_index": "shop", "_id": "d2", "rating": 0}]
REQUEST = {"requests": [{"id": "q1", "request": BODY, "ratings": RATINGS}], "metric": {"precision": {"k": 5}}}
HITS = [
    {"hit": {"_index": "shop", "_id": "d1", "_score": 4.4}, "rating": 3},
    {"hit": {"_index": "shop", "_id": "new", "_score": 4.1}, "rating": None},
]
DETAILS = {"q1": {"metric_score": 0.4, "unrated_docs": [{"_index": "shop", "_id": "new"}], "hits": HITS}}
REPLY = {"metric_score": 0.4, "failures": {}, "details": DETAILS}


def read(name: str, value: Any) -> Any:
    return FORMATS[name].read(json.dumps(value).encode() + b"\n", path="a.json")


def written(rows: Any, **options: Any) -> Any:
    stream, write = io.BytesIO(), FORMATS["rank-eval-request"].write
    assert write is not None
    write(rows, stream, **options)
    return json.loads(stream.getvalue())


def test_a_request_keeps_its_searches() -> None:
    rows = read("rank-eval-request", REQUEST).rows
    assert [(row.query_id, row.doc_id, row.grade, row.index) for row in rows] == [
        ("q1", "d1", 3, "shop"),
        ("q1", "d2", 0, "shop"),
    ]
    assert written(rows)["requests"] == REQUEST["requests"]
    assert sniff(json.dumps(REQUEST).encode()) == "rank-eval-request"


def test_a_query_is_a_value_of_the_search_and_never_part_of_its_json() -> None:
    nasty = '"}}, "size": 10000, "x": {"y": "'
    template = {"query": {"multi_match": {"query": "{{query}}", "fields": ["title", "text"]}}, "size": 10}
    (one,) = written([LabelRow("q1", "d1", 2, query=nasty)], template=template, index="shop")["requests"]
    assert one["request"] == {"query": {"multi_match": {"query": nasty, "fields": ["title", "text"]}}, "size": 10}
    assert one["ratings"] == [{"_index": "shop", "_id": "d1", "rating": 2}]


def test_the_top_grade_of_expected_reciprocal_rank() -> None:
    metric = {"expected_reciprocal_rank": {"k": 10}}
    assert written([LabelRow("q1", "d1", 3, query="a")], metric=metric)["metric"] == {
        "expected_reciprocal_rank": {"k": 10, "maximum_relevance": 3}
    }


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        ([LabelRow("q1", "d1", -1, query="a")], {}),
        ([LabelRow("q1", "d1", 1)], {}),
        ([LabelRow("q1", "d1", 1.5, query="a")], {}),
        ([LabelRow("q1", "d1", 1, query="a")], {"template": {"query": {}}}),
    ],
)
def test_what_an_engine_would_refuse_is_not_written(rows: Any, options: Any) -> None:
    with pytest.raises(NotValid):
        written(rows, **options)


@pytest.mark.parametrize(
    ("rating", "code"),
    [({"_id": "d3"}, "E12"), ({"_id": "d3", "rating": "2"}, "E12"), ({"rating": 2}, "E23"), (7, "E23")],
)
def test_bad_ratings(rating: Any, code: str) -> None:
    report = read("rank-eval-request", {"requests": [{"id": "q1", "ratings": [*RATINGS, rating]}]}).report
    assert [(problem.code, problem.column) for problem in report.errors] == [(code, "requests[0].ratings[2]")]


def test_several_indexes_are_noted() -> None:
    ratings = [RATINGS[0], {**RATINGS[1], "_index": "other"}]
    assert read("rank-eval-request", {"requests": [{"id": "q1", "ratings": ratings}]}).report.codes == {"W68": 1}


def test_a_reply_is_a_run() -> None:
    rows = read("rank-eval-reply", REPLY).rows
    assert [(row.query_id, row.doc_id, row.score, row.rank) for row in rows] == [
        ("q1", "d1", 4.4, 1),
        ("q1", "new", 4.1, 2),
    ]
    assert sniff(json.dumps(REPLY).encode(), "run") == "rank-eval-reply"


@pytest.mark.parametrize("older", [False, True])
def test_the_unrated_documents_of_a_reply_are_pairs_to_judge(older: bool) -> None:
    value: Any = REPLY
    if older:
        details = {"q1": {"quality_level": 0.4, "unknown_docs": DETAILS["q1"]["unrated_docs"], "hits": HITS}}
        value = {"rank_eval": {"quality_level": 0.4, "details": details, "failures": {}}}
    (row,) = read("rank-eval-unrated", value).rows
    assert (row.query_id, row.doc_id, row.rank) == ("q1", "new", 2)
    assert sniff(json.dumps(value).encode(), "pairs") == "rank-eval-unrated"


def test_queries_that_the_engine_failed_to_run_are_errors() -> None:
    result = read("rank-eval-reply", {**REPLY, "failures": {"q2": {"error": {"type": "parsing_exception"}}}})
    assert (len(result.rows), [problem.code for problem in result.report.errors]) == (2, ["E27"])


@pytest.mark.parametrize("data", [b'{"details": []}', b'{"details": {"q1": ', b"{}", b"[]"])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableInput):
        FORMATS["rank-eval-reply"].read(data, path="a.json")
