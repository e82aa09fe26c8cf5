"""Tests of pooled documents: the union of runs equals a loop over their rankings."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.estimators.pooled_documents import pooled

DOCUMENTS = st.sampled_from(["a", "b", "c", "d", "é", "doc-with-a-longer-id", "doc-with-a-longer-iD"])
QUERIES = st.sampled_from(["q1", "q2", "q3"])
TABLE = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.integers(0, 3), min_size=1), min_size=1)


@settings(max_examples=50, deadline=None)
@given(labels=TABLE, tables=st.lists(TABLE, min_size=1, max_size=3), depth=st.integers(1, 4))
def test_every_pair_once_with_its_best_rank_and_who_returned_it(labels, tables, depth):
    qrels = Qrels.from_dict(labels)
    runs = [Run.from_dict(table, f"run{at}") for at, table in enumerate(tables)]
    result = pooled(qrels, runs, depth)
    best: dict[tuple[str, str], int] = {}
    by: dict[tuple[str, str], set[int]] = {}
    for at, run in enumerate(runs):
        for query_id in set(run.query_ids) & set(qrels.query_ids):
            for rank, doc_id in enumerate(run.ranking(query_id)[:depth], 1):
                best[query_id, doc_id] = min(rank, best.get((query_id, doc_id), rank))
                by.setdefault((query_id, doc_id), set()).add(at)
    rows = [(query_id, doc_id) for query_id, doc_id, _ in qrels.rows()]
    judged = {rows[place]: rank for place, rank in zip(result.place, result.best_rank, strict=True) if place >= 0}
    assert judged == {pair: rank for pair, rank in best.items() if pair in rows}
    unjudged = sorted(
        (int(query), int(rank))
        for query, place, rank in zip(result.query, result.place, result.best_rank, strict=True)
        if place < 0
    )
    assert unjudged == sorted((qrels.codes[pair[0]], rank) for pair, rank in best.items() if pair not in rows)
    values = [{at for at in range(len(runs)) if result.contributed[row, at]} for row in range(len(rows))]
    assert values == [by.get(pair, set()) for pair in rows]
