"""Tests of the building blocks of metrics: queries stay separate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.metrics.judged_rankings import JudgedRankings

RESULT = st.dictionaries(st.integers(1, 40), st.integers(-1, 3).map(float), max_size=20)
UNFOUND = st.lists(st.integers(-1, 3).map(float), max_size=4)
QUERIES = st.lists(st.tuples(RESULT, UNFOUND), min_size=1, max_size=4)


def built(drawn: list[tuple[dict[int, float], list[float]]]) -> JudgedRankings:
    return JudgedRankings.of(*((50, expected, [*expected.values(), *rest]) for expected, rest in drawn))


@settings(max_examples=50)
@given(QUERIES)
def test_documents_above_are_combined_by_query(drawn) -> None:
    rankings = built(drawn)
    values = np.linspace(0.1, 0.9, len(rankings.ranks))
    products, sums = rankings.above(np.multiply, values), rankings.above(np.add, values)
    for begin, end in zip(rankings.offsets[:-1], rankings.offsets[1:], strict=True):
        for at in range(begin, end):
            assert products[at] == pytest.approx(np.prod(values[begin:at]), rel=1e-13)
            assert sums[at] == pytest.approx(values[begin:at].sum(), rel=1e-13)


def test_values_of_a_query_do_not_depend_on_other_queries() -> None:
    result = dict.fromkeys(range(1, 30), 1.0)
    alone = JudgedRankings.of((50, result, [*result.values()]))
    beside = JudgedRankings.of((9, {1: 2.0, 5: 0.0}, [2.0, 0.0]), (50, result, [*result.values()]))
    values = np.sin(np.arange(31.0))
    for combine in (np.add, np.multiply):
        assert (beside.above(combine, values)[2:] == alone.above(combine, values[2:])).all()


@settings(max_examples=50)
@given(QUERIES)
def test_higher_and_lower_grades_are_counted_among_all_judged(drawn) -> None:
    rankings = built(drawn)
    at = 0
    for value, rest in drawn:
        grades = [*value.values(), *rest]
        for _, grade in sorted(value.items()):
            assert rankings.judged_higher[at] == sum(other > grade for other in grades)
            assert rankings.judged_lower[at] == sum(other < grade for other in grades)
            at += 1
    expected = [sum(a > b for a in [*f.values(), *r] for b in [*f.values(), *r]) for f, r in drawn]
    assert rankings.judged_total(rankings.lower_than_judged).tolist() == expected


@settings(max_examples=30)
@given(QUERIES, st.integers(1, 45))
def test_a_run_that_is_cut_had_never_returned_more(drawn, depth: int) -> None:
    cut = built(drawn).cut(depth)
    same = built([({r: g for r, g in f.items() if r <= depth}, rest) for f, rest in drawn])
    assert (cut.ranks == same.ranks).all()
    assert (cut.grades == same.grades).all()
    assert (cut.offsets == same.offsets).all()
    assert (cut.returned == min(50, depth)).all()


def test_grades_above_the_top_of_the_scale_are_refused() -> None:
    rankings = JudgedRankings.of((3, {1: 2}, [2, 5]))
    rankings.refuse_above(5)
    with pytest.raises(NotValid, match="the grade 5, above max_rel=4; set max_rel to the top of the scale"):
        rankings.refuse_above(4)


def test_unreported_subtopics_are_refused() -> None:
    with pytest.raises(NotValid, match="have no subtopics"):
        _ = JudgedRankings.of((3, {1: 2}, [2])).by_subtopic
