"""Tests of the demo's query log."""

from __future__ import annotations

from collections import Counter

from assay.formats.row_types import LogRow
from assay.sampling.counted_log import CountedLog
from assay.sampling.row_counting import count_log, normalize
from assay.sampling.tiers import cut_tiers
from demo.asks import asks
from demo.log import needs, query_log


def counted() -> CountedLog:
    return count_log([LogRow(row["query"], 1, row["timestamp"], row["client_id"]) for row in query_log()])


def test_four_thousand_searches_of_ninety_days() -> None:
    rows = query_log()
    assert len(rows) == 4000
    assert {tuple(row) for row in rows} == {("query", "timestamp", "client_id")}
    assert [row["timestamp"] for row in rows] == sorted(row["timestamp"] for row in rows)
    assert 800 <= len({row["client_id"] for row in rows}) <= 1000
    log = counted()
    assert (log.dropped, log.traffic) == ({}, 4000)
    assert log.first is not None
    assert log.last is not None
    assert 85 <= (log.last - log.first).days < 90


def test_the_log_is_the_same_on_every_call() -> None:
    assert query_log() == query_log()


def test_head_torso_and_tail_are_real() -> None:
    cut = cut_tiers(counted().queries)
    head, torso, tail = cut.tiers
    assert 350 <= len(cut.queries) <= 450
    assert 10 <= head.queries <= 40 < torso.queries < 150 < tail.queries
    assert Counter(query.frequency for query in cut.queries)[1] > 20


def test_spellings_differ_in_case_and_spaces() -> None:
    assert max(query.variants for query in counted().queries) >= 3


def test_every_query_of_the_log_has_a_need() -> None:
    known = needs()
    assert {query.query for query in counted().queries} == set(known)
    assert all(need.endswith(".") and len(need) > 12 for need in known.values())


def test_no_spelling_belongs_to_two_needs() -> None:
    texts = Counter(normalize(text) for ask in asks() for text in ask.texts)
    assert [text for text, count in texts.items() if count > 1] == []
