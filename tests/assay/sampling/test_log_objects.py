"""Tests of counting JSONL logs by column: same as line by line, for any content."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UnreadableInput
from assay.formats import log_chunks
from tests.assay.sampling.test_log_columns import by_rows, same

PLAIN = {"query": "tent", "timestamp": "2026-03-02T09:14:07Z", "client_id": "c1", "clicks": ["d1"], "lang": "de"}
CHANGES: list[dict[str, Any]] = [
    {"query": 'Küche \U0001f600 \\ / "x" \t'},
    {"query": ""},
    {"query": "  "},
    {"query": None},
    {"query": 12},
    {"query": "x" * 2049},
    {"timestamp": "yesterday"},
    {"timestamp": "2026-03-02T09:14:07+02:00"},
    {"timestamp": 1772442847},
    {"timestamp": None},
    {"timestamp": 1.5},
    {"timestamp": True},
    {"client_id": 7},
    {"client_id": 0},
    {"client_id": None},
    {"client_id": ""},
    {"client_id": ["c1"]},
    {"clicks": [{"id": 1}]},
    {"clicks": None},
    {"lang": " en "},
    {"more": {"a": [1]}},
    {"action_name": "click"},
    {"count": 3},
]
ODD = ["", "  ", "3", "[1]", "{", '{"query": "a", "query": "b"}', '{"query": "\\ud800"}', '{"query": "\\u0000"}']
ODD += ['{"index": {"_index": "ubi_events"}}', '{"create": {"_index": "ubi_queries"}}', '{"query": NaN}', "{}"]


def line(change: dict[str, Any], ascii_only: bool = False, ubi: bool = False) -> str:
    of = {**PLAIN, **change}
    if ubi:
        of = {"user_query" if name == "query" else name: value for name, value in of.items()}
    return json.dumps(of, ensure_ascii=ascii_only)


LINES = st.one_of(
    st.just({}), st.just({}), st.sampled_from(CHANGES), st.sampled_from(ODD), st.just({"query": "Rain  Jacket"})
)


@pytest.mark.parametrize("ubi", [False, True])
@settings(max_examples=60, deadline=None)
@given(
    st.lists(LINES, max_size=25), st.booleans(), st.sampled_from([60, 300, 1 << 24]), st.sampled_from(["\n", "\r\n"])
)
def test_the_same_as_line_by_line(ubi: bool, lines: list[Any], ascii_only: bool, piece: int, end: str) -> None:
    texts = [each if isinstance(each, str) else line(each, ascii_only, ubi) for each in [{}, *lines]]
    data = end.join(texts).encode()
    format = "query-log-ubi" if ubi else "query-log-jsonl"
    usual = log_chunks.PIECE
    try:
        log_chunks.PIECE = piece
        same(data, format=format)
    except UnreadableInput:
        with pytest.raises(UnreadableInput):
            by_rows(data, format=format)
    finally:
        log_chunks.PIECE = usual


COUNTS = [3, 1, 0, -1, "4", 2.5, 10**9, 10**16, None, True, ""]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(LINES, st.just(7) | st.sampled_from(COUNTS)), max_size=25),
    st.sampled_from([7, None]),
    st.sampled_from([60, 300, 1 << 24]),
)
def test_every_count_equals_the_line_reader(lines: list[tuple[Any, Any]], first: int | None, piece: int) -> None:
    texts = [each if isinstance(each, str) else line({"count": count, **each}) for each, count in [({}, first), *lines]]
    # The first lines of a file can be searches alone.
    data = "\n".join(text.replace(', "count": null', "") for text in texts).encode()
    usual = log_chunks.PIECE
    try:
        log_chunks.PIECE = piece
        same(data, format="query-log-jsonl", repeated="each")
    except UnreadableInput:
        with pytest.raises(UnreadableInput):
            by_rows(data, format="query-log-jsonl", repeated="each")
    finally:
        log_chunks.PIECE = usual


def test_counts_among_searches_and_searches_among_counts() -> None:
    searches = [line({"query": f"tent {at}"}) for at in range(12)]
    counts = [line({"query": f"rope {at}", "count": at + 2}) for at in range(12)]
    odd = [line({"query": ""}), line({"query": " ", "count": 3}), line({"query": "", "count": 4})]
    for some, other in ((searches, counts), (counts, searches)):
        data = "\n".join([*some[:9], other[0], *odd, *some[9:]]).encode()
        log = same(data, format="query-log-jsonl", repeated="each")
        assert log.searches == 1 + sum(query.frequency for query in log.queries)
        assert len(log.queries) == 13


def test_keys_by_other_names_and_a_named_count() -> None:
    data = b'{"term": "tent", "when": 1772442847}\n{"when": 1772442848, "term": "Tent"}\n' * 3
    log = same(data, format="query-log-jsonl", columns={"query": "term", "timestamp": "when"})
    assert [(query.query, query.frequency) for query in log.queries] == [("tent", 6)]
    assert same(data, format="query-log-jsonl", columns={"query": "term", "count": "n"}).queries == ()


def test_two_keys_for_one_column() -> None:
    data = b'{"query": null, "user_query": "tent"}\n{"query": "rope", "user_query": "tent"}\n'
    assert [query.query for query in same(data, format="query-log-jsonl").queries] == ["rope", "tent"]
