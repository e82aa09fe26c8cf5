"""Tests of the fast run reader: same result as the careful reader, also for odd entries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import polars
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.core.errors import UnreadableInput
from assay.core.run import Run
from assay.formats.qrels_and_runs import load_run, read_rows
from tests.assay.formats.table_bytes import parquet

IDS = st.sampled_from(
    ["q1", "q2", "a b", "gr\u00fcn", "cafe\u0301", "", "d\x07", "'=x", '"', "x" * 501, "#1", " d", "\\u0041"]
)
VALUES = st.sampled_from([1, 0, -2, 2.5, 1e-5, 1e22, 10**400, True, None, "1", "x", float("inf"), float("nan")])
RANKS = st.sampled_from([1, 2, 3, 0, -1, 1.5, "1", None])
SOUND = st.tuples(st.sampled_from(["q1", "q2", "gr\u00fcn"]), st.integers(0, 99).map(str), st.floats(-9, 9), st.just(1))


@st.composite
def entries(draw: st.DrawFn) -> list[tuple[Any, Any, Any, Any]]:
    if draw(st.booleans()):
        return draw(st.lists(SOUND, min_size=1, max_size=8))
    return draw(st.lists(st.tuples(IDS, IDS, VALUES, RANKS) | SOUND, min_size=1, max_size=5))


def as_jsonl(rows: list[tuple[Any, Any, Any, Any]]) -> bytes:
    keys = ("query_id", "doc_id", "score", "rank")
    return "".join(json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False) + "\n" for row in rows).encode()


def as_csv(rows: list[tuple[Any, Any, Any, Any]]) -> bytes:
    return ("query_id,doc_id,score,rank\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)).encode()


def as_ranks(rows: list[tuple[Any, Any, Any, Any]]) -> bytes:
    return "".join(f"{row[0]}\t{row[1]}\t{row[3]}\n" for row in rows).encode()


def as_json(rows: list[tuple[Any, Any, Any, Any]]) -> bytes:
    return (
        "{" + ", ".join(f"{json.dumps(q)}: {{{json.dumps(d)}: {json.dumps(v)}}}" for q, d, v, _ in rows) + "}"
    ).encode()


def outcome_of(read: Callable[[], tuple[Any, Any]]) -> Any:
    try:
        table, report = read()
    except UnreadableInput as error:
        return str(error)
    return table, report.bins, report.codes, report.units


def with_care(name: str, data: bytes) -> tuple[Run, Any]:
    result = read_rows(data, "a", "run", name)
    if not result.rows:
        raise UnreadableInput("a", None, "contains no results", "expected a document for at least one query", "F07")
    return Run.from_rows(((row.query_id, row.doc_id, row.score) for row in result.rows), "run"), result.report


LAYOUTS = {"run-jsonl": as_jsonl, "run-csv": as_csv, "msmarco-run": as_ranks, "run-json": as_json}


@pytest.mark.parametrize("name", LAYOUTS)
@settings(max_examples=50)
@given(rows=entries())
@example(rows=[("q1", "d1", 1, 1), ("q1", "d1", 2, 2)])
def test_the_quick_way_says_what_the_careful_way_says(name: str, rows: list[tuple[Any, Any, Any, Any]]):
    data = LAYOUTS[name](rows)
    assert outcome_of(lambda: load_run(data, "a", format=name)) == outcome_of(lambda: with_care(name, data))


@pytest.mark.usefixtures("decoded_here")
@settings(max_examples=20)
@given(rows=entries().filter(lambda rows: len({type(row[2]) for row in rows}) == 1))
def test_the_quick_way_through_parquet_too(rows: list[tuple[Any, Any, Any, Any]]):
    columns = dict(zip(("q_id", "doc_id", "score"), zip(*(row[:3] for row in rows), strict=True), strict=True))
    try:
        data = parquet(**columns)
    except (OverflowError, polars.exceptions.PolarsError):
        return
    quick, careful = (
        outcome_of(lambda: load_run(data, "a", format="run-parquet")),
        outcome_of(lambda: with_care("run-parquet", data)),
    )
    assert quick == careful


@pytest.mark.parametrize(
    "data",
    [
        b'{"query_id":"q","doc_id":"x}\n{y","score":1}\n{"query_id":"q","doc_id":"a","score":1}',
        b'{"query_id":"q","doc_id":"a","score":1},{"query_id":"q","doc_id":"b","score":1}\n',
        b'{"query_id":"q","doc_id":"a","score":1,"score":2}\n',
        b'{"query_id":"q","doc_id":"a","score":1,\n"rank":2}\n',
        b'{"query_id":"q","doc_id":"a","sc\\u006fre":1,"score":2}\n',
    ],
)
def test_lines_are_objects_of_their_own(data: bytes):
    with pytest.raises(UnreadableInput) as caught:
        load_run(data, "a", format="run-jsonl")
    assert caught.value.line == 1
