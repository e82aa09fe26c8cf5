"""Tests of the query log readers: counts, column mapping, timestamps, rows held back as doubtful."""

from __future__ import annotations

import io

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.core.read_report import Tally
from assay.formats import FORMATS
from assay.formats.log_blocks import open_log
from assay.formats.query_log_csv import parse_log
from assay.formats.row_types import LogRow
from assay.formats.text_lines import Content

RAW = [
    LogRow("rain jacket", 1, "2026-03-02T09:14:07Z", "c17", "doc-abc"),
    LogRow('=x, "y"\n', 1, "2026-03-02T09:15:40Z", "-c4", ""),
]
COUNTED = [LogRow("rain jacket", 12), LogRow("tent", 3)]


def read(text: str, format: str = "query-log-csv", **options: object):
    return FORMATS[format].read(text.encode(), path="a", **options)


@pytest.mark.parametrize("format", ["query-log-csv", "query-log-jsonl"])
@pytest.mark.parametrize("rows", [RAW, COUNTED], ids=["raw", "counted"])
def test_round_trip(format: str, rows: list[LogRow]):
    stream = io.BytesIO()
    write = FORMATS[format].write
    assert write is not None
    write(rows, stream)
    assert FORMATS[format].read(stream.getvalue(), path="a").rows == rows


def test_columns_are_mapped():
    assert read("term,n\ntent,12\n", columns={"query": "term", "count": "n"}).rows == [LogRow("tent", 12)]
    line = '{"term": "tent", "n": 12}\n'
    assert read(line, "query-log-jsonl", columns={"query": "term", "count": "n"}).rows == [LogRow("tent", 12)]


def test_a_count_that_was_named_and_is_not_there_is_never_read_as_one_search():
    with pytest.raises(
        UnreadableInput, match=r"a:1: the first line has no column 'n', to which count is mapped.*'query', 'm'"
    ):
        read("query,m\ntent,12\n", columns={"count": "n"})
    line = '{"query": "tent", "m": 12}\n{"query": "rope", "n": 3}\n'
    report = read(line, "query-log-jsonl", columns={"count": "n"}).report
    assert [(problem.line, problem.code) for problem in report.problems] == [(1, "E23")]


@pytest.mark.parametrize("format", ["query-log-csv", "query-log-jsonl"])
def test_a_column_that_the_format_does_not_read_cannot_be_named(format: str):
    with pytest.raises(NotValid, match=r"unknown column 'cuont'; the format reads query, ") as caught:
        read('{"query": "tent"}\n' if "json" in format else "query\ntent\n", format, columns={"cuont": "n"})
    assert list(caught.value.fields) == ["columns"]


def test_a_log_without_header_is_refused_with_an_offer():
    with pytest.raises(UnreadableInput, match=r"a:1: the first line has no column query.*'tent', '12'.*query=NAME"):
        read("tent,12\nboots,3\n")


@pytest.mark.parametrize(
    ("row", "code"),
    [("boots,0", "E12"), ("boots,-1", "E12"), ("boots,1.5", "E12"), ("boots,", "E12"), (",3", "E11"), ("a,b,c", "E10")],
)
def test_each_odd_row_of_a_counted_log_has_its_code(row: str, code: str):
    assert list(read(f"query,count\ntent,1\n{row}\n").report.codes) == [code]


def test_query_with_two_counts_is_a_conflict():
    text = "query,count\ntent,12\nboots,1\ntent,3\ntent,5\n"
    result = read(text)
    assert result.rows == [LogRow("boots", 1)]
    assert (result.report.codes, result.report.bins["conflict"]) == ({"E16": 3}, 3)


@pytest.mark.parametrize(("repeated", "count"), [("sum", 15), ("max", 12), ("first", 12)])
def test_the_user_says_what_it_means(repeated: str, count: int):
    result = read("query,count\ntent,12\ntent,3\n", repeated=repeated)
    assert (result.rows, result.report.ok) == ([LogRow("tent", count)], True)


@pytest.mark.parametrize("time", ["2026-03-02T09:14:07Z", "2026-03-02 09:14:07", "1772442847", "1772442847000"])
def test_times_of_three_kinds(time: str):
    assert read(f"query,timestamp\ntent,{time}\n").rows == [LogRow("tent", 1, time)]


@pytest.mark.parametrize("time", ["yesterday", "02.03.2026", "1772442847"])
def test_a_time_of_no_kind_or_of_another_is_an_error(time: str):
    report = read(f"query,timestamp\ntent,2026-03-02T09:14:07Z\nboots,{time}\n").report
    assert report.codes == {"E23": 1}


@pytest.mark.parametrize("line", ['{"count": 3}', '{"query": ["tent"]}', '{"query": "", "count": 2}', "3"])
def test_each_odd_line_of_jsonl_is_rejected(line: str):
    result = read('{"query": "boots"}\n' + line + "\n", "query-log-jsonl")
    assert (len(result.rows), result.report.error_count, result.report.errors[0].line) == (1, 1, 2)


def test_search_without_a_query_is_skipped_and_reported():
    result = read("query,client_id\ntent,c1\n,c2\n  ,c2\n")
    assert [row.query for row in result.rows] == ["tent"]
    assert (result.report.ok, result.report.units) == (True, sum(result.report.bins.values()))
    assert (result.report.codes["W50"], result.report.bins["rejected"]) == (2, 2)


def test_a_raw_log_is_handed_on_row_by_row():
    content = Content(b"query,client_id\ntent,c1\n" + b"boots,c2\n" * 10, "a")
    tally = Tally("a", "query-log-csv")
    rows = parse_log(content, tally)
    assert next(rows) == LogRow("tent", 1, client_id="c1")
    assert tally.bins["accepted"] == 1


LISTS = {
    "queries": ("query_id,query\nq7,tent\nq8,tent\n", '{"query_id": "q7", "query": "tent"}\n' * 2),
    "queries with a count of another name": (
        "query_id,query,generated\nq7,tent,3\n",
        '{"query_id": "q7", "query": "tent", "generated": 3}\n',
    ),
    "labels": ("query,doc_id,grade\ntent,d1,2\n", '{"query": "tent", "doc_id": "d1", "grade": 2}\n'),
    "clicks": (
        "query,docno,impressions,clicks\ntent,d1,9,2\n",
        '{"query": "tent", "docno": "d1", "impressions": 9, "clicks": 2}\n',
    ),
}


@pytest.mark.parametrize("format", ["query-log-csv", "query-log-jsonl"])
@pytest.mark.parametrize("case", LISTS)
def test_invalid_logs_are_refused_as_rows_and_as_blocks(case: str, format: str):
    text = LISTS[case][format == "query-log-jsonl"]
    with pytest.raises(UnreadableInput) as refused:
        read(text, format)
    assert (refused.value.code, bool(refused.value.expected)) == ("F03", True)
    with pytest.raises(UnreadableInput) as refused:
        list(open_log(text.encode(), path="a", format=format))
    assert refused.value.code == "F03"


@pytest.mark.parametrize("format", ["query-log-csv", "query-log-jsonl"])
def test_a_log_may_name_queries_and_documents_beside_its_times(format: str):
    csv = "query,doc_id,query_id,timestamp\ntent,d1,q7,2026-03-02T09:14:07Z\n"
    line = '{"query": "tent", "doc_id": "d1", "query_id": "q7", "timestamp": "2026-03-02T09:14:07Z"}\n'
    text = csv if format == "query-log-csv" else line
    assert [row.query for row in read(text, format).rows] == ["tent"]
