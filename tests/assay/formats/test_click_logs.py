"""Tests of the click log readers: counts, UBI events, odd rows, a published sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import UnreadableInput
from assay.formats import FORMATS
from assay.formats.row_types import ClickRow

CSV, JSONL, UBI = (FORMATS[f"click-log-{kind}"] for kind in ("csv", "jsonl", "ubi"))


def event(action: str, doc_id: str = "d1", ordinal: int | None = 1, **more: Any) -> str:
    place = {} if ordinal is None else {"position": {"ordinal": ordinal}}
    attributes = {"object": {"object_id": doc_id}, **place}
    return json.dumps({"action_name": action, "query_id": "s1", **more, "event_attributes": attributes})


def test_one_result_a_row_and_counts() -> None:
    single = CSV.read(b"sku;user_query;Rank;click\nd1;tent;1;TRUE\nd2;tent;2;no\n", path="a", columns={"doc_id": "sku"})
    assert single.rows == [ClickRow("tent", "d1", 1, 1, 1), ClickRow("tent", "d2", 2, 1, 0)]
    counted = CSV.read(b"query_id\tdoc_id\timpressions\tclicks\nq1\td1\t10\t10\n", path="a")
    assert counted.rows == [ClickRow("", "d1", None, 10, 10, query_id="q1")]


@pytest.mark.parametrize(
    ("row", "code", "message"),
    [
        ("tent,,1,5,1", "E11", "document id is empty"),
        ("tent,d1,first,5,1", "E12", "position 'first'"),
        ("tent,d1,20000,5,1", "E12", "beyond 10,000"),
        ("tent,d1,1,0,0", "E12", "impressions '0'"),
        ("tent,d1,1,,1", "E12", "no impressions"),
        ("tent,d1,1,5,", "E12", "no clicks"),
        ("tent,d1,1,5,6", "E23", "6 clicks on 5 impressions"),
        ("tent,d1,1,5,-1", "E12", "clicks '-1'"),
        ("x" * 3000 + ",d1,1,5,1", "E21", "3000 characters"),
    ],
)
def test_invalid_row_is_reported(row: str, code: str, message: str) -> None:
    result = CSV.read(f"query,doc_id,position,impressions,clicks\n{row}\ntent,d1,1,5,1\n".encode(), path="a")
    (problem,) = result.report.errors
    assert (problem.code, problem.line, message in problem.what) == (code, 2, True)
    assert result.rows == [ClickRow("tent", "d1", 1, 5, 1)]


def test_a_text_beside_an_id_is_a_query_too() -> None:
    head = b"query_id,query,doc_id,impressions,clicks\n"
    result = CSV.read(head + b"q1," + b"x" * 3000 + b",d1,5,1\nq1,,d1,5,1\nq1,tent,d1,5,1\n", path="a")
    assert [(one.code, one.line) for one in result.report.errors] == [("E21", 2)]
    assert [row.query for row in result.rows] == ["", "tent"]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("doc_id,position,clicked", "no column query or query_id"),
        ("query,doc_id,position", "no column clicked or clicks"),
        ("query,doc_id,position,clicks", "clicks but no impressions"),
        ("query,position,clicked", "no column doc_id"),
    ],
)
def test_a_table_without_a_needed_column_is_refused(header: str, message: str) -> None:
    with pytest.raises(UnreadableInput, match=message):
        CSV.read(f"{header}\n{','.join('1' for _ in header.split(','))}\n".encode(), path="a")


def test_a_search_without_words_is_left_out_and_counted() -> None:
    report = CSV.read(b"query,doc_id,position,clicked\n ,d1,1,1\ntent,d1,1,1\n,d2,1,1\n", path="a").report
    assert (report.ok, report.codes["W50"], report.bins["rejected"]) == (True, 2, 2)


def test_jsonl_takes_numbers_and_truth() -> None:
    rows = JSONL.read(b'{"query": "tent", "doc_id": 7, "position": 0, "clicked": true}\n', path="a").rows
    assert rows == [ClickRow("tent", "7", 0, 1, 1)]
    report = JSONL.read(b'{"query": "tent"}\n{"query": ["a"], "doc_id": "d", "clicked": 1}\n', path="a").report
    assert [(problem.code, problem.line) for problem in report.errors] == [("E23", 1), ("E23", 2)]


def test_ubi_events_and_searches() -> None:
    lines = [
        '{"index": {"_index": "ubi_queries"}}',
        json.dumps(
            {
                "query_id": "s1",
                "client_id": "c1",
                "user_query": "tent",
                "query": "{}",
                "query_response_hit_ids": ["a", 2],
            }
        ),
        '{"create": {"_index": "ubi_events"}}',
        event("impression", ordinal=0),
        event("item_click", client_id="c1", user_query="tent"),
        event("add_to_cart"),
        event("click", ordinal=None),
    ]
    result = UBI.read("\n".join(lines).encode(), path="a")
    assert result.rows == [
        ClickRow("tent", "", None, 0, 0, client_id="c1", search_id="s1", results=("a", "2")),
        ClickRow("", "d1", 0, 1, 0, search_id="s1"),
        ClickRow("tent", "d1", 1, 0, 1, client_id="c1", search_id="s1"),
        ClickRow("", "d1", None, 0, 1, search_id="s1"),
    ]
    assert (result.report.codes["W51"], result.report.ok) == (1, True)
    bought = UBI.read("\n".join(lines).encode(), path="a", columns={"click": "add_to_cart"})
    assert [row.clicks for row in bought.rows] == [0, 0, 1]


def test_ubi_lines_without_documents_are_reported() -> None:
    lines = ['{"action_name": "click", "query_id": "s1"}', '{"query_id": "s1", "query": "{}"}', event("click", "")]
    errors = UBI.read("\n".join(lines).encode(), path="a").report.errors
    assert [(problem.line, problem.code) for problem in errors] == [(1, "E23"), (2, "E23"), (3, "E11")]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["{}", "[1]", "3", "null"])
def test_an_action_that_is_not_text_is_reported(name: str) -> None:
    line = f'{{"action_name": {name}, "query_id": "s1"}}\n'
    report = FORMATS["click-log-ubi"].read(line.encode(), path="a").report
    assert [problem.code for problem in report.errors] == ["E23"]


def test_the_published_sample(shared: Path) -> None:
    """Counted with a JSON library alone: 1,999 impressions, 287 clicks and 11 item clicks, 473 searches."""
    result = UBI.read(shared / "ubi-esci-sample" / "ubi_queries_events.ndjson", path="a")
    assert (sum(row.impressions for row in result.rows), sum(row.clicks for row in result.rows)) == (1_999, 298)
    assert sum(1 for row in result.rows if not row.doc_id) + result.report.codes["W50"] == 473
    assert result.report.codes["W51"] == 506 + 234 + 86 + 62 + 62 + 61 + 59 + 56 + 11 + 6 + 5 + 2 + 1
