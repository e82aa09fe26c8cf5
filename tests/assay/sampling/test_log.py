"""Tests of counting searches of a query log."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from assay.core.errors import NotValid
from assay.sampling.counted_log import EMPTY, OUTSIDE, TOO_LONG, UNTIMED
from assay.sampling.row_counting import count_log, moment_of, normalize
from tests.assay.sampling.log_rows import DAY_0, Row, counted, on_day

BERLIN = Path(__file__).parents[4] / "shared/data/berlin-searchterms-2021/berlin_searchterms_2021.csv"


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("  Tent ", "tent"),
        ("ＴＥＮＴ", "tent"),
        ("a\u00a0b\t c", "a b c"),
        ("C++ .NET", "c++ .net"),
        ("Café", "café"),
        ("ﬀ", "ff"),
    ],
)
def test_normalizing(raw: str, normal: str) -> None:
    assert normalize(raw) == normal
    assert normalize(normal) == normal


def test_variants_are_counted_together_and_the_most_frequent_is_shown() -> None:
    log = count_log([Row("rain jacket"), Row("Rain Jacket"), Row("Rain  Jacket"), Row("Rain Jacket")])
    (query,) = log.queries
    assert (query.query, query.text, query.frequency, query.variants) == ("rain jacket", "Rain Jacket", 4, 3)
    assert query.raw == Row("Rain Jacket")


def test_equally_frequent_forms_fall_on_the_first_in_byte_order() -> None:
    assert count_log([Row("tent"), Row("TENT")]).queries[0].text == "TENT"


def test_clients_are_distinct_and_unknown_without_ids() -> None:
    assert (
        count_log([Row("a", client_id="x"), Row("a", client_id="x"), Row("a", client_id="y")]).queries[0].clients == 2
    )
    assert count_log(counted({"a": 3})).queries[0].clients is None


def test_the_window_ends_with_the_newest_search() -> None:
    log = count_log([on_day("old", 0), on_day("edge", 10), on_day("in", 11), on_day("new", 100)], window_days=90)
    assert {query.query for query in log.queries} == {"in", "new"}
    assert log.dropped == {OUTSIDE: 2}
    assert log.first == on_day("in", 11).timestamp
    assert log.last == on_day("new", 100).timestamp


def test_times_are_read_as_a_log_writes_them() -> None:
    same = ["2026-01-02T03:04:05Z", "2026-01-02 03:04:05", "2026-01-02T05:04:05+02:00", "1767323045", "1767323045000"]
    assert {str(moment_of(text)) for text in same} == {"2026-01-02 03:04:05+00:00"}
    assert [moment_of(text) for text in ("", None, "yesterday", "9" * 400)] == [None] * 4


def test_a_window_can_end_where_requested() -> None:
    log = count_log(iter([on_day("a", 1), on_day("b", 50)]), window_days=10, until=DAY_0.replace(day=5))
    assert [query.query for query in log.queries] == ["a"]


def test_a_log_without_times_is_taken_whole() -> None:
    log = count_log(counted({"a": 3, "b": 1}))
    assert (log.window_days, log.first, log.searches, log.rows) == (None, None, 4, 2)


def test_dropped_rows_are_counted_with_the_reason() -> None:
    log = count_log([on_day(" ", 1), on_day("x" * 201, 1), Row("no time"), on_day("x" * 200, 1)])
    assert log.dropped == {EMPTY: 1, TOO_LONG: 1, UNTIMED: 1}
    assert len(log.queries) == 1


def test_every_search_is_counted_dropped_or_suppressed() -> None:
    log = count_log([Row("a", count=7, clients=3), Row("b", count=2, clients=2), Row("", count=3)], min_clients=3)
    assert log.traffic + log.suppressed + sum(log.dropped.values()) == log.searches == 12
    assert (log.suppressed_queries, log.suppressed) == (1, 2)


def test_the_threshold_counts_clients_not_searches() -> None:
    rows = [Row("a", client_id="x")] * 9 + [Row("b", client_id="x"), Row("b", client_id="y")]
    assert [query.query for query in count_log(rows, min_clients=2).queries] == ["b"]


def test_a_threshold_on_clients_needs_clients() -> None:
    with pytest.raises(NotValid, match="clients") as refused:
        count_log(counted({"a": 7, "b": 2}), min_clients=2)
    assert list(refused.value.fields) == ["min_clients"]


def test_counted_clients_of_several_rows_are_at_least_as_many_as_the_most() -> None:
    rows = [Row("A", count=9, clients=3), Row("a", count=5, clients=4), Row("b", count=9)]
    log = count_log(rows, min_clients=4)
    assert [(query.query, query.frequency, query.clients) for query in log.queries] == [("a", 14, 4)]
    assert (log.suppressed_queries, log.suppressed, log.has_clients) == (1, 9, True)


def test_the_order_of_rows_does_not_matter() -> None:
    rows = [on_day(query, day) for day, query in enumerate(["b", "a", "c", "a", "b", "a"])]
    assert count_log(rows).queries == count_log(rows[::-1]).queries


def test_nonsense_is_refused() -> None:
    with pytest.raises(NotValid, match="window"):
        count_log([], window_days=0)
    with pytest.raises(NotValid, match="min_clients"):
        count_log([], min_clients=0)


@pytest.mark.shared
def test_a_real_log_of_a_year() -> None:
    if not BERLIN.exists():
        pytest.skip("../shared/data is not here")
    with BERLIN.open(encoding="utf-8", newline="") as stream:
        rows = [Row(row["query"], count=int(row["impressions"])) for row in csv.DictReader(stream)]
    log = count_log(rows)
    assert (log.rows, log.searches) == (5361, 9404)
    assert [(query.text, query.frequency) for query in log.queries[:1]] == [("Friedrichshain-Kreuzberg", 215)]
    assert 3600 < len(log.queries) <= 3644
