"""Tests of shared pools for spellings of a need: judged once, labeled for all, counted once in agreement."""

from __future__ import annotations

from typing import Any

import pytest

from judgments.agreement import agreement_summary
from judgments.queries import groups
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.pools import pools
from pooling.runs.known_pairs import judged_pairs, known_pairs
from tests.world import grade_all

pytestmark = pytest.mark.django_db

QUERIES = b"query_id,query\nq1,rain jacket\nq2,jacket rain\n"
RUN = b"".join(b"q%d Q0 d%d %d %d bm25\n" % (query, doc, doc, 9 - doc) for query in (1, 2) for doc in (1, 2, 3))


def test_spellings_share_from_pool_to_snapshot(
    collection: Any, store: Any, lead: Any, rater: Any, rater2: Any, guidelines: Any
) -> None:
    store(collection, "queries", QUERIES, "queries.csv")
    store(collection, "runs", RUN, "bm25.run")
    runs = list(collection.runs.all())

    def draw(**more: Any) -> Any:
        return pools.draw_pool(collection, strategy="depth", runs=runs, parameters={"depth": 3}, actor=lead, **more)

    assert draw().entries.count() == 6
    groups.gather(collection, queries=list(collection.queries.all()), actor=lead, shares=True)
    pool = draw()
    assert set(pool.entries.values_list("query__query_id", "document__doc_id")) == {("q1", f"d{n}") for n in (1, 2, 3)}
    made = pools.make_round(pool, actor=lead, name="One", guidelines=guidelines, raters=[rater, rater2])
    made = rounds.open_round(made, actor=lead)
    # What waits in a round for one spelling waits for both.
    assert known_pairs(collection, ["q2"])["q2", "d1"] is None
    grade_all(made, rater, {"d1": 3, "d2": 1, "d3": 0})
    grade_all(made, rater2, {"d1": 3, "d2": 2, "d3": 0})
    assert known_pairs(collection)["q2", "d1"] == 3
    assert {("q2", "d1"), ("q1", "d1")} <= judged_pairs(collection)
    snapshot = snapshots.freeze(collection, name="one", rounds=[rounds.close_round(made, actor=lead)], actor=lead)
    qrels = snapshots.export(snapshot, "trec-qrels")[1].decode().splitlines()
    assert qrels == [f"q1 0 d{n} {grade}" for n, grade in ((1, 3), (2, 1), (3, 0))] + [
        f"q2 3 d{n} {grade}" for n, grade in ((1, 3), (2, 1), (3, 0))
    ]
    assert agreement_summary.agreement(made)["pairs"] == 3
