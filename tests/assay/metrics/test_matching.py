"""Tests of matching labels to runs: same ranks as a dictionary lookup."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core import Qrels, Run
from assay.core.text_column import Texts
from assay.metrics.judged_rankings import match

QUERY = st.sampled_from(["q1", "q2", "q10", "é"])
DOCUMENT = st.sampled_from(["d1", "d2", "d10", "d", "a-much-longer-document-id", "a-much-longer-document-ie", "ä"])
JUDGED = st.dictionaries(QUERY, st.dictionaries(DOCUMENT, st.integers(-1, 3), min_size=1), min_size=1)
RANKED = st.dictionaries(QUERY, st.dictionaries(DOCUMENT, st.integers(0, 3).map(float), min_size=1), min_size=1)


def check_match(judged: dict[str, dict[str, float]], ranked: dict[str, dict[str, float]]) -> None:
    qrels, run = Qrels.from_dict(judged), Run.from_dict(ranked)
    result = match(qrels, run)
    rankings = result.rankings
    rows = [query_id for query_id in sorted(ranked) if query_id in judged]
    assert [qrels.query_ids[code] for code in result.codes.tolist()] == rows
    for at, query_id in enumerate(rows):
        grades = judged[query_id]
        ordered = sorted(ranked[query_id], key=lambda doc: (ranked[query_id][doc], doc.encode()), reverse=True)
        own = slice(int(rankings.offsets[at]), int(rankings.offsets[at + 1]))
        expected = [(rank, grades[doc]) for rank, doc in enumerate(ordered, 1) if doc in grades]
        assert list(zip(rankings.ranks[own].tolist(), rankings.grades[own].tolist(), strict=True)) == expected
        assert [run.doc_ids[row] for row in result.rows[own].tolist()] == [doc for doc in ordered if doc in grades]
        whole = slice(int(rankings.judged_offsets[at]), int(rankings.judged_offsets[at + 1]))
        assert rankings.judged[whole].tolist() == sorted(grades.values(), reverse=True)
        assert rankings.returned[at] == len(ordered)


@given(JUDGED, RANKED)
@settings(max_examples=80)
def test_the_match_is_that_of_dictionaries(judged, ranked) -> None:
    check_match(judged, ranked)


def test_ids_whose_keys_collide_are_distinguished_by_their_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    # No two ids with one key are known, so every id gets the same key here: the texts must decide.
    monkeypatch.setattr(Texts, "keys", lambda self: np.zeros(len(self), dtype=np.uint64))
    judged = {"q1": {"d1": 1.0, "d2": 3.0}, "q2": {"d1": 2.0, "d3": 0.0}}
    check_match(judged, {"q1": {"d2": 3.0, "d3": 2.0, "d1": 1.0}, "q2": {"d3": 2.0, "d2": 1.0}, "q9": {"d1": 1.0}})
