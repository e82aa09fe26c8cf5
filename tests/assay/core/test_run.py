"""Tests of the run table: trec_eval order, ties, and refused documents and scores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import Run
from assay.core.errors import NotValid

SCORES = st.sampled_from([1.0, 2.0, -1.5, float("inf"), float("-inf"), 0.0, -0.0])
RANKED = st.dictionaries(
    st.text(min_size=1, max_size=3), st.dictionaries(st.text(min_size=1, max_size=3), SCORES, min_size=1), max_size=4
)


def test_ties_fall_by_document_id_from_the_end():
    run = Run.from_dict({"q": {"Z": 1, "a": 1, "9": 1, "10": 1, "é": 1}}, name="tied")
    assert run.ranking("q") == ["é", "a", "Z", "9", "10"]
    assert run.ties == 1.0


def test_scores_compare_as_float64():
    run = Run.from_dict({"q": {"low": 16777216.0, "high": 16777217.0}})
    assert run.ranking("q") == ["high", "low"]


def test_columns_of_a_small_table():
    run = Run.from_rows([("q2", "d1", 1), ("q1", "d1", 0.5), ("q1", "d2", 2)], "bm25")
    assert (run.name, run.query_ids, run.offsets.tolist()) == ("bm25", ("q1", "q2"), [0, 2, 3])
    assert (run.doc_ids, run.scores.tolist()) == (["d2", "d1", "d1"], [2.0, 0.5, 1.0])
    assert (len(run), run.queries) == (3, 2)


def test_ties_do_not_reach_over_queries():
    run = Run.from_dict({"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 2, "d2": 2}})
    assert run.ties == 0.5


def test_an_unanswered_query_has_no_ranking():
    run = Run.from_dict({"q1": {"d1": 1}})
    assert (run.ranking("q0"), run.ranking("q2"), Run.from_dict({}).ranking("q1")) == ([], [], [])
    assert Run.from_dict({}).ties is None


def test_a_document_twice_is_refused():
    with pytest.raises(NotValid, match="'d1' twice"):
        Run.from_rows([("q1", "d1", 1), ("q1", "d1", 1)])


def test_nan_is_refused():
    with pytest.raises(NotValid, match="NaN"):
        Run.from_dict({"q1": {"d1": float("nan")}})


@given(RANKED)
def test_order_is_score_then_utf8_bytes_descending(ranked: dict[str, dict[str, float]]):
    run = Run.from_dict(ranked)
    for query_id, scores in ranked.items():
        expected = sorted(scores, key=lambda d: (scores[d], d.encode("utf-8", "surrogatepass")), reverse=True)
        assert run.ranking(query_id) == expected


@given(RANKED, st.randoms())
def test_order_of_rows_does_not_matter(ranked: dict[str, dict[str, float]], random):
    rows = list(Run.from_dict(ranked).rows())
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert list(Run.from_rows(shuffled).rows()) == rows


@pytest.mark.parametrize("given", [{1: {"d1": 1.0}}, {"q1": {1: 1.0}}, {"q1": {"d1": "two"}}, {"q1": {"d1": [1.0]}}])
def test_invalid_values_of_other_tools_are_refused(given):
    with pytest.raises(NotValid, match="ids must be strings and scores must be numbers"):
        Run.from_dict(given)
