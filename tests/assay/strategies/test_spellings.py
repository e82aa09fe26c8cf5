"""Tests of spellings of a need: each document is judged once for all of them."""

from __future__ import annotations

from assay.core.run import Run
from assay.strategies.pool import build_pool
from assay.strategies.query_groups import once, spread

# d1 is first for q1, d2 for q2; d3 has the same rank for both; q3 is another need.
RUN = Run.from_dict(
    {"q1": {"d1": 9, "d2": 8, "d3": 7}, "q2": {"d2": 9, "d1": 8, "d3": 7, "d4": 6}, "q3": {"d1": 9, "d2": 8}}, "bm25"
)


def test_a_document_stays_where_it_ranks_best() -> None:
    pool = build_pool([RUN], "depth", {"depth": 4})
    stored = once(pool, [["q1", "q2"]])
    assert [(pair.query_id, pair.doc_id) for pair in stored.pairs] == [
        ("q1", "d1"), ("q1", "d3"), ("q2", "d2"), ("q2", "d4"), ("q3", "d1"), ("q3", "d2"),
    ]  # fmt: skip
    # What is told of a pair is what was told before.
    assert set(stored.pairs) < set(pool.pairs)
    assert once(pool, []) is pool
    assert len(once(pool, [["q1", "q9"]])) == len(pool)


def test_the_residual_stratum_stays_whole() -> None:
    pool = build_pool([RUN], "depth", {"depth": 1}, residual=5, seed=3)
    drawn = [pair for pair in pool.pairs if pair.why == "residual"]
    assert [pair for pair in once(pool, [["q1", "q2"]]).pairs if pair.why == "residual"] == drawn


def test_a_judgment_for_one_spelling_counts_for_all() -> None:
    judged = spread({("q1", "d1"): 2.0, ("q2", "d1"): 0.0, ("q1", "d3"): None}, [["q1", "q2"]])
    assert judged == {("q1", "d1"): 2.0, ("q2", "d1"): 0.0, ("q1", "d3"): None, ("q2", "d3"): None}
    pool = build_pool([RUN], "depth", {"depth": 3}, judged=judged)
    assert {(pair.query_id, pair.doc_id) for pair in pool.pairs} >= {("q1", "d2"), ("q2", "d2"), ("q3", "d1")}
    assert not {("q1", "d3"), ("q2", "d3")} & {(pair.query_id, pair.doc_id) for pair in pool.pairs}
