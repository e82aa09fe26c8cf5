"""Tests of metric bounds: reached by some grades of the unjudged documents and exceeded by none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.metrics.judged_rankings import JudgedRankings
from assay.metrics.metric import parse_metric
from assay.metrics.metric_bounds import Grading, bounds, chosen, graded, scale_grades

METRICS = [
    "nDCG@3",
    "nDCG@10",
    "nDCG",
    "nDCG(gain=exp)@4",
    "DCG@3",
    "P@3",
    "P(rel=2)@3",
    "R@3",
    "F@3",
    "F(beta=2)@3",
    "R-cap@2",
    "Success@2",
    "RR",
    "RR@2",
    "RR(rel=2)@3",
    "MaxLabel@2",
    "MeanLabel@3",
    "ERR(max_rel=2)@3",
    "SetP",
    "SetR",
    "SetF",
    "AP",
    "AP@3",
    "AP(rel=2)@4",
    "GMAP",
    "Rprec",
    "Rprec(rel=2)",
]
GRADES = scale_grades(2.0)


@st.composite
def rankings(draw, of=(-1.0, 0.0, 1.0, 2.0)):
    """One query: up to five ranks, some of them judged, and judged documents that were not returned."""
    grade = st.sampled_from(of)
    returned = draw(st.integers(1, 5))
    result = draw(st.dictionaries(st.integers(1, returned), grade, max_size=returned))
    others = draw(st.lists(grade, max_size=4))
    return returned, result, [*result.values(), *others]


def every_grading(query, cutoff, grades):
    """All ways to grade the unjudged documents within a cutoff, 0 among the grades, as one query each."""
    returned, result, _ = query
    last = returned if cutoff is None else min(cutoff, returned)
    open_ranks = [rank for rank in range(1, last + 1) if rank not in result]
    ways = list(product([0.0, *grades], repeat=len(open_ranks)))
    base = chosen(JudgedRankings.of(query), np.zeros(len(ways), dtype=np.int64))
    new = Grading(
        np.repeat(np.arange(len(ways)), len(open_ranks)),
        np.array(open_ranks * len(ways), dtype=np.int64),
        np.array([one for way in ways for one in way], dtype=np.float64),
    )
    return graded(base, new)


@settings(max_examples=40, deadline=None)
@given(query=rankings())
def test_bounds_are_the_extremes_over_all_gradings(query):
    given_rankings = JudgedRankings.of(query)
    for metric in map(parse_metric, METRICS):
        low, high = bounds(metric, given_rankings, metric(given_rankings), GRADES)
        cutoff = metric.cutoff if isinstance(metric.cutoff, int) else None
        every = metric(every_grading(query, cutoff, GRADES))
        assert low[0] == pytest.approx(every.min(), abs=1e-12), metric.name
        assert high[0] == pytest.approx(every.max(), abs=1e-12), metric.name


@settings(max_examples=30, deadline=None)
@given(query=rankings(of=(0.0, 0.4, 1.0, 1.7, 2.0)))
def test_labels_between_the_grades_are_counted_as_they_are(query):
    metric = parse_metric("nDCG@4")
    given_rankings = JudgedRankings.of(query)
    low, high = bounds(metric, given_rankings, metric(given_rankings), GRADES)
    every = metric(every_grading(query, 4, GRADES))
    assert (low[0], high[0]) == (pytest.approx(every.min(), abs=1e-12), pytest.approx(every.max(), abs=1e-12))


@settings(max_examples=25, deadline=None)
@given(queries=st.lists(rankings(), min_size=1, max_size=6))
def test_a_query_has_the_bounds_that_it_has_alone(queries):
    together = JudgedRankings.of(*queries)
    for name in ("nDCG@3", "AP", "R@3", "RR@3"):
        metric = parse_metric(name)
        low, high = bounds(metric, together, metric(together), GRADES)
        for at, query in enumerate(queries):
            alone = JudgedRankings.of(query)
            own = bounds(metric, alone, metric(alone), GRADES)
            assert (low[at], high[at]) == (pytest.approx(own[0][0], abs=1e-12), pytest.approx(own[1][0], abs=1e-12))


def test_neither_all_zeros_nor_all_tops_is_best_for_ndcg():
    """Judged 2 and 1 around one hole: grade 1 or 2 fits the order, 0 and 3 do not."""
    rankings = JudgedRankings.of((3, {1: 2.0, 3: 1.0}, [2.0, 1.0]))
    metric = parse_metric("nDCG@3")
    low, high = bounds(metric, rankings, metric(rankings), scale_grades(3.0))
    discount = 1 / np.log2(np.arange(2, 5))
    assert high[0] == pytest.approx(1.0)
    assert low[0] == pytest.approx((2 + 3 * discount[1] + discount[2]) / (3 + 2 * discount[1] + discount[2]))


def test_ap_can_fall_when_more_is_relevant():
    """One relevant document at rank 1 is an AP of 1; one more at rank 10 makes it (1 + 2/10) / 2."""
    rankings = JudgedRankings.of((10, {rank: float(rank == 1) for rank in range(1, 10)}, [1.0, *[0.0] * 8]))
    low, high = bounds(parse_metric("AP"), rankings, np.ones(1), scale_grades(1.0))
    assert (low[0], high[0]) == (pytest.approx(0.6), pytest.approx(1.0))


def test_rbp_rises_by_its_residual():
    """Relevant at ranks 1 and 3 of 3: .328, residual .512 (rank 2 .16 and everything below rank 3 .512 - .16)."""
    rankings = JudgedRankings.of((3, {1: 1.0, 3: 1.0}, [1.0, 1.0]))
    metric = parse_metric("RBP(p=0.8)")
    low, high = bounds(metric, rankings, metric(rankings), scale_grades(1.0))
    assert (low[0], high[0]) == (pytest.approx(0.328), pytest.approx(0.328 + 0.16 + 0.8**3))


@pytest.mark.parametrize("name", ["Judged@10", "nDCG(judged_only=True)@10", "Bpref", "infAP", "NumRel"])
def test_metrics_without_sensible_bounds_have_none(name):
    rankings = JudgedRankings.of((3, {1: 1.0}, [1.0]))
    assert bounds(parse_metric(name), rankings, np.zeros(1), GRADES) is None


def test_a_long_list_makes_no_room_for_short_ones():
    queries = [(2, {}, [1.0])] * 2_000 + [(200_000, {5: 1.0}, [1.0])]
    rankings = JudgedRankings.of(*queries)
    metric = parse_metric("P@100")
    _, high = bounds(metric, rankings, metric(rankings), scale_grades(1.0))
    assert (high[0], high[-1]) == (pytest.approx(0.02), pytest.approx(1.0))
    ap = parse_metric("AP")
    low, high = bounds(ap, rankings, ap(rankings), scale_grades(1.0))
    assert (low[0], high[0]) == (0.0, pytest.approx(2 / 3))


def test_a_grade_above_the_metrics_own_scale_is_not_tried():
    rankings = JudgedRankings.of((3, {1: 1.0}, [1.0]))
    metric = parse_metric("ERR(max_rel=1)@3")
    _, high = bounds(metric, rankings, metric(rankings), scale_grades(3.0))
    assert high[0] == pytest.approx(0.5 + 0.5 * 0.5 / 2 + 0.25 * 0.5 / 3)


@settings(max_examples=30, deadline=None)
@given(drawn=st.lists(st.tuples(st.integers(1, 90), st.integers(0, 1)), max_size=12, unique_by=lambda row: row[0]))
def test_ap_in_long_gaps_is_that_of_trying_every_number(drawn):
    """Ninety ranks: every number of relevant documents from above and from below, each by AP itself."""
    by_key = {rank: float(grade) for rank, grade in drawn}
    query = (90, by_key, [*by_key.values(), 1.0])
    open_ranks = [rank for rank in range(1, 91) if rank not in by_key]
    ap, tried = parse_metric("AP"), []
    for ordered in (open_ranks, open_ranks[::-1]):
        base = chosen(JudgedRankings.of(query), np.zeros(len(ordered) + 1, dtype=np.int64))
        rows = [(count, rank) for count in range(len(ordered) + 1) for rank in ordered[:count]]
        places, ranks = np.array(rows, dtype=np.int64).T
        tried.append(ap(graded(base, Grading(places, ranks, np.ones(len(rows))))))
    given_rankings = JudgedRankings.of(query)
    low, high = bounds(ap, given_rankings, ap(given_rankings), scale_grades(1.0))
    assert (low[0], high[0]) == (pytest.approx(tried[1].min(), abs=1e-12), pytest.approx(tried[0].max(), abs=1e-12))


def test_a_measurement_is_no_scale() -> None:
    assert scale_grades(3.0).tolist() == [1.0, 2.0, 3.0]
    assert len(scale_grades(100.0)) == 100
    # Clicks, or a number of another column: trying a thousand million grades would end nobody's evaluation.
    assert scale_grades(1e9).tolist() == [1e9]
    assert scale_grades(1e300).tolist() == [1e300]
