"""Tests of pairwise accuracy: every pair of documents with different grades counts once."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from tests.assay.metrics.generated_cases import Grades, Judged, check, labels, per_query, rankings


def slow(ranked: list[str], grades: Grades) -> float:
    place = {doc_id: at for at, doc_id in enumerate(ranked)}
    right = total = 0
    for better, worse in itertools.permutations(grades, 2):
        if grades[better] > grades[worse]:
            total += 1
            right += better in place and place[better] < place.get(worse, len(ranked))
    return right / total if total else 0.0


@settings(max_examples=50)
@given(labels(), rankings())
def test_it_is_the_definition(judged: Judged, scores: Judged) -> None:
    check(judged, scores, "PairwiseAccuracy", slow)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 70))
def test_it_is_kendalls_tau_where_all_are_returned_and_none_are_equal(seed: int, documents: int) -> None:
    """scipy's tau-a: the share of right pairs less that of wrong ones."""
    drawn = random.Random(seed)
    grades = {f"d{at}": drawn.uniform(-3, 3) for at in range(documents)}
    scores = {f"d{at}": float(place) for at, place in enumerate(drawn.sample(range(documents), documents))}
    tau = kendalltau([grades[d] for d in grades], [scores[d] for d in grades]).statistic
    assert per_query({"q": grades}, {"q": scores}, "PairwiseAccuracy")["q"] == pytest.approx((tau + 1) / 2, abs=1e-12)


def test_missing_documents_rank_last_without_order() -> None:
    judged = {"q": {"a": 2, "b": 1, "c": 0}}
    # a > b and a > c are decided by returning a alone; b > c is not.
    assert per_query(judged, {"q": {"a": 1.0}}, "PairwiseAccuracy")["q"] == pytest.approx(2 / 3)
    assert per_query(judged, {"q": {"c": 1.0}}, "PairwiseAccuracy")["q"] == 0.0
    assert per_query(judged, {"q": {"u": 1.0}, "other": {"a": 1.0}}, "PairwiseAccuracy")["q"] == 0.0


def test_unjudged_documents_and_equal_grades_play_no_part() -> None:
    judged = {"q": {"a": 1, "b": 1, "c": 0}}
    between = {"q": {"b": 9.0, "u": 8.0, "a": 7.0, "v": 6.0, "c": 5.0}}
    assert per_query(judged, between, "PairwiseAccuracy")["q"] == 1.0
    assert per_query({"q": {"a": 1, "b": 1}}, between, "PairwiseAccuracy")["q"] == 0.0


def test_negative_labels_have_an_order_too() -> None:
    judged = {"q": {"a": -0.5, "b": -2.0}}
    assert per_query(judged, {"q": {"a": 2.0, "b": 1.0}}, "PairwiseAccuracy")["q"] == 1.0
    assert per_query(judged, {"q": {"a": 1.0, "b": 2.0}}, "PairwiseAccuracy")["q"] == 0.0
