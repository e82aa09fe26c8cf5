"""Tests of RRE's ratings."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from assay.core.errors import NotValid
from assay.formats import FORMATS, sniff
from assay.formats.row_types import LabelRow

FENDER = {"template": "only_q.json", "placeholders": {"$query": "fender"}}
GIBSON = {"template": "only_q.json", "placeholders": {"$query": "gibson"}}
GAINS = {"1": {"gain": 3}, "2": {"gain": 0}}
GROUP = {"name": "Brand", "queries": [FENDER], "relevant_documents": GAINS}
EXPECTED = {("fender", "1", 3), ("fender", "2", 0)}


def read(value: Any) -> Any:
    return FORMATS["rre"].read(json.dumps(value).encode() + b"\n", path="ratings.json")


def labels(value: Any) -> set[tuple[str, str, Any]]:
    result = read(value)
    assert result.report.ok, result.report.problems
    return {(row.query, row.doc_id, row.grade) for row in result.rows}


def written(name: str, rows: Any) -> bytes:
    stream, write = io.BytesIO(), FORMATS[name].write
    assert write is not None
    write(rows, stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    "value",
    [
        {"index": "basses", "topics": [{"description": "Basses", "query_groups": [GROUP]}]},
        {"query_groups": [GROUP]},
        {"topics": [GROUP]},
        {"queries": [FENDER], "relevant_documents": GAINS},
        {**FENDER, "relevant_documents": GAINS},
        {"queries": [{**FENDER, "relevant_documents": {"3": ["1"], "0": ["2"]}}]},
        {"queries": [{**FENDER, "relevant_documents": {"1": {"rating": 3}, "2": {"rating": 0.0}}}]},
        {"query_placeholder": "$q", "queries": [{"placeholders": {"$q": "fender"}, "relevant_documents": GAINS}]},
        {"topics": [{"query_groups": [{"queries": [{**FENDER, "relevant_documents": GAINS}]}]}]},
    ],
)
def test_every_level_may_be_absent(value: Any) -> None:
    assert labels(value) == EXPECTED


def test_labels_of_a_query_replace_those_of_its_group() -> None:
    own = {**GIBSON, "relevant_documents": {"9": {"gain": 1}}}
    result = read({"query_groups": [{**GROUP, "queries": [FENDER, own]}]})
    assert {(row.query, row.doc_id) for row in result.rows} == {("fender", "1"), ("fender", "2"), ("gibson", "9")}
    assert set(result.report.codes) == {"W66"}


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ({"1": {"gain": 3}, "3": ["1"]}, "E23"),
        ({"1": 3}, "E23"),
        ([1], "E23"),
        ({"1": {"gain": "x"}}, "E12"),
        ({"1": {"gain": 2.5}}, "E13"),
        ({"3": ["1"], "2": ["1"]}, "E16"),
    ],
)
def test_bad_labels_are_reported_with_their_path(labels: Any, code: str) -> None:
    good = {**GIBSON, "relevant_documents": GAINS}
    report = read({"queries": [good, {**FENDER, "relevant_documents": labels}]}).report
    assert {problem.code for problem in report.errors} == {code}
    if code != "E16":
        assert report.errors[0].column == "queries[1]"


@pytest.mark.parametrize("name", ["rre", "quepid-rre"])
def test_round_trips(name: str) -> None:
    rows = [
        LabelRow("q1", "1", 3, query="fender"),
        LabelRow("q1", "2", 0, query="fender"),
        LabelRow("q2", "1", 1, query="a"),
    ]
    data = written(name, rows)
    assert sniff(data) == name
    result = FORMATS[name].read(data, path="a")
    assert {(row.query, row.doc_id, row.grade) for row in result.rows} == {*EXPECTED, ("a", "1", 1)}
    assert written(name, result.rows) == data


def test_two_queries_with_one_text_cannot_be_written() -> None:
    with pytest.raises(NotValid):
        written("rre", [LabelRow("q1", "1", 3, query="fender"), LabelRow("q2", "1", 1, query="fender")])


def test_queries_of_a_group_share_its_labels_and_are_written_as_a_group() -> None:
    group = {**GROUP, "queries": [FENDER, {**GIBSON, "template": "template.json"}]}
    rows = read({"topics": [{"query_groups": [group]}]}).rows
    assert {(row.query, row.group) for row in rows} == {("fender", "Brand"), ("gibson", "Brand")}
    data = written("rre", rows)
    [again] = json.loads(data)["topics"][0]["query_groups"]
    assert (again["name"], len(again["queries"]), again["relevant_documents"]) == ("Brand", 2, GAINS)
    assert written("rre", FORMATS["rre"].read(data, path="a").rows) == data


def test_queries_of_a_group_whose_labels_differ_keep_their_own() -> None:
    rows = [
        LabelRow("q1", "1", 3, query="fender", group="Brand"),
        LabelRow("q2", "1", 1, query="gibson", group="Brand"),
        LabelRow("q3", "1", 1, query="Brand"),
    ]
    data = written("rre", rows)
    groups = json.loads(data)["topics"][0]["query_groups"]
    assert [group["name"] for group in groups] == ["Brand", "Brand (2)"]
    assert [query["relevant_documents"] for query in groups[0]["queries"]] == [{"1": {"gain": 3}}, {"1": {"gain": 1}}]
    assert {(row.query, row.grade) for row in FORMATS["rre"].read(data, path="a").rows} == {
        ("fender", 3),
        ("gibson", 1),
        ("Brand", 1),
    }


def test_names_and_descriptions_that_are_not_kept_are_reported() -> None:
    group = {"name": "Brand", "description": "Spellings", "queries": [FENDER], "relevant_documents": GAINS}
    assert read({"topics": [{"description": "Basses", "query_groups": [group]}]}).report.codes == {"W41": 3}
    named = {**group, "queries": [FENDER, GIBSON], "description": ""}
    assert read({"topics": [{"query_groups": [named]}]}).report.codes == {"W66": 1}
    assert read({"topics": [{"query_groups": [{**named, "name": "fender", "queries": [FENDER]}]}]}).report.codes == {}
