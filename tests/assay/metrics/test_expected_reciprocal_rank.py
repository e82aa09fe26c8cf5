"""Tests of ERR: the expected value of its definition, with the top grade given or inferred."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from assay.core import Qrels, Run
from assay.core.errors import NotValid
from evaluation import evaluate
from tests.assay.metrics.generated_cases import LABELS, RUN, Grades, Judged, check, labels, per_query, rankings


def slow(ranked: list[str], grades: Grades, k: int, top: float) -> float:
    reached, value = 1.0, 0.0
    for rank, doc_id in enumerate(ranked[:k], 1):
        satisfied = (2 ** max(grades.get(doc_id, 0), 0) - 1) / 2**top
        value += reached * satisfied / rank
        reached *= 1 - satisfied
    return value


@settings(max_examples=50)
@given(labels(), rankings())
def test_it_is_the_definition(judged: Judged, scores: Judged) -> None:
    check(judged, scores, "ERR(max_rel=3)@3", lambda ranked, grades: slow(ranked, grades, 3, 3))
    check(judged, scores, "ERR(max_rel=4)", lambda ranked, grades: slow(ranked, grades, 99, 4))


def test_gdeval_agrees_where_the_scale_ends_at_4() -> None:
    """From gdeval.pl (5 decimals) as ir_measures 0.4.3 runs it on the same case."""
    theirs = {"1": 0.18774, "2": 0.44922, "3": 0.0, "4": 0.2206}
    assert per_query(LABELS, RUN, "ERR(max_rel=4)@20") == pytest.approx(theirs, abs=5e-6)
    at_3 = {"1": 0.16797, "2": 0.44922, "3": 0.0, "4": 0.1875}
    assert per_query(LABELS, RUN, "ERR(max_rel=4)@3") == pytest.approx(at_3, abs=5e-6)


def test_by_hand() -> None:
    # Grades 2 and 3 on a scale to 3: 3/8 at once, or 5/8 times 7/8 at rank 2.
    judged, scores = {"q": {"a": 2, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}}
    assert per_query(judged, scores, "ERR(max_rel=3)@10")["q"] == pytest.approx(3 / 8 + 5 / 8 * 7 / 8 / 2)


def test_the_top_is_the_largest_grade_of_all_queries_or_the_scale_and_is_reported() -> None:
    judged, scores = {"q1": {"a": 1}, "q2": {"b": 3}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    assert per_query(judged, scores, "ERR@5") == per_query(judged, scores, "ERR(max_rel=3)@5")
    qrels, run = Qrels.from_dict(judged), Run.from_dict(scores, "run")
    on_scale = evaluate(qrels, run, "ERR@5", scale_top=4)
    assert on_scale.bound[0].settings["max_rel"] == 4
    assert on_scale.runs[0].per_query["ERR@5"].tolist() == [1 / 16, 7 / 16]


def test_a_grade_above_the_top_is_refused() -> None:
    with pytest.raises(NotValid, match="the grade 3, above max_rel=2"):
        per_query({"q": {"a": 3}}, {"q": {"b": 1.0}}, "ERR(max_rel=2)@5")


def test_nothing_but_negative_grades_is_0() -> None:
    assert per_query({"q": {"a": -1, "b": -2}}, {"q": {"a": 1.0}}, "ERR@5") == {"q": 0.0}


def test_fractions_are_grades_too() -> None:
    value = per_query({"q": {"a": 0.5}}, {"q": {"a": 1.0}}, "ERR(max_rel=1)@5")["q"]
    assert value == pytest.approx((math.sqrt(2) - 1) / 2)
