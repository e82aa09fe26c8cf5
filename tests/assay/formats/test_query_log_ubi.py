"""Tests of the UBI query log reader: searches, events, timestamps, odd lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import NotValid
from assay.formats import FORMATS, sniff
from assay.formats.log_blocks import open_log
from assay.formats.row_types import LogRow

UBI = FORMATS["query-log-ubi"]
SAMPLE = Path(__file__).resolve().parents[4] / "shared/data/ubi-esci-sample/ubi_queries_events.ndjson"
QUERY = '{"query_id": "1", "client_id": "c1", "user_query": "tent", "timestamp": "2026-03-02T09:14:07Z"}'
EVENT = '{"action_name": "click", "query_id": "1", "client_id": "c1", "user_query": "tent"}'


def read(*lines: str):
    return UBI.read("\n".join(lines).encode() + b"\n", path="a")


@pytest.mark.parametrize(
    "lines",
    [
        [QUERY, EVENT],
        ['{"index": {"_index": "ubi_queries"}}', QUERY, '{"create": {"_index": "ubi_events"}}', EVENT],
        # The index decides: a query may carry any key.
        ['{"index": {"_index": "ubi_queries"}}', QUERY[:-1] + ', "action_name": "x"}', EVENT],
    ],
)
def test_queries_are_searches_and_events_are_not(lines: list[str]) -> None:
    result = read(*lines)
    assert result.rows == [LogRow("tent", 1, "2026-03-02T09:14:07Z", "c1")]
    assert (result.report.codes, result.report.bins["comment"]) == ({"W51": 1}, 1)


@pytest.mark.parametrize(
    "line",
    [
        '{"query_id": "2", "query": "{match: tent}"}',
        '{"user_query": 7}',
        '{"user_query": "tent", "timestamp": ["2026-03-02T09:14:07Z"]}',
        '{"user_query": "tent", "timestamp": 1772442847}',
        '{"user_query": "tent", "timestamp": "yesterday"}',
        '{"user_query": "tent", "client_id": ["c1"]}',
    ],
)
def test_each_odd_query_is_rejected_with_its_line(line: str) -> None:
    result = read(QUERY, line)
    assert [(problem.line, problem.code) for problem in result.report.errors] == [(2, "E23")]
    assert len(result.rows) == 1


def test_a_counted_row_cannot_be_written() -> None:
    import io

    assert UBI.write is not None
    with pytest.raises(NotValid, match="a count of 3"):
        UBI.write([LogRow("tent", 3)], io.BytesIO())


@pytest.mark.shared
def test_a_published_sample() -> None:
    """473 queries and 3,448 events, each after its action line, as its README says."""
    if not SAMPLE.exists():
        pytest.skip("../shared/data is not here")
    head = SAMPLE.read_bytes()[: 1 << 16]
    assert sniff(head) == sniff(head, "query-log") == "query-log-ubi"
    result = UBI.read(SAMPLE, path="a")
    bins = result.report.bins
    assert (bins["header"], bins["comment"]) == (3921, 3448)
    assert bins["accepted"] + bins["rejected"] == 473


@pytest.mark.parametrize(
    ("time", "codes"),
    [
        ("1772442847000", {"W54": 1}),
        ('"1772442847000000"', {"W54": 1}),
        ("1772442847", {"W54": 1}),
        ('"2026-03-02 09:14:07"', {"W54": 1}),
        ('"2026-03-02 10:14:07.000 +0100"', {"W54": 1}),
        ('"2026-03-02T09:14:07Z"', {}),
    ],
)
def test_times_are_read_in_any_usual_form_and_the_report_says_which(time: str, codes: dict[str, int]) -> None:
    lines = [f'{{"user_query": "tent", "timestamp": {time}}}'] * 2
    result = read(*lines)
    assert (len(result.rows), result.report.codes) == (2, codes)
    assert [problem.line for problem in result.report.warnings] == [1] * len(codes)
    log = open_log(("\n".join(lines) + "\n").encode(), path="a", format=UBI.name)
    assert {int(moment) for block in log for moment in block.moment} == {1_772_442_847_000_000}
    assert log.report is not None
    assert (log.report.codes, log.report.problems) == (codes, result.report.problems)
