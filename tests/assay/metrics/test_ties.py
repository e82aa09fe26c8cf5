"""Tests of ties: the best and worst order give the extremes over all orders."""

from __future__ import annotations

from itertools import groupby, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core import Qrels, Run
from assay.metrics.judged_rankings import JudgedRankings, match
from assay.metrics.metric import parse_metric
from assay.scoring.diagnostics import orders
from evaluation import evaluate

METRICS = ["nDCG@2", "P@2", "P(rel=2)@3", "RR@2", "AP@3", "R@1", "Success@1", "ERR(max_rel=2)@3", "RBP(p=0.5)@2"]


@st.composite
def tied_runs(draw):
    """Two queries of up to five documents with few different scores, and grades for some of them."""
    documents = "abcde"
    scores, labels = {}, {}
    for query in ("q1", "q2"):
        returned = draw(st.lists(st.sampled_from(documents), min_size=1, max_size=5, unique=True))
        scores[query] = {doc: draw(st.sampled_from([1.0, 2.0])) for doc in returned}
        grades = st.sampled_from([-1, 0, 1, 2])
        labels[query] = draw(st.dictionaries(st.sampled_from(documents), grades, min_size=1, max_size=5))
    # A query without labels returns all: labels and a run without any document in common are refused.
    return scores | {"unjudged": dict.fromkeys(documents, 1.0)}, labels


def every_order(scores):
    ordered = sorted(scores.items(), key=lambda row: -row[1])
    blocks = [[doc for doc, _ in rows] for _, rows in groupby(ordered, key=lambda row: row[1])]
    for way in product(*(permutations(block) for block in blocks)):
        yield [doc for block in way for doc in block]


def extremes(metric, scores, labels):
    rows = [
        metric(
            JudgedRankings.of(
                (len(order), {at: labels[doc] for at, doc in enumerate(order, 1) if doc in labels}, [*labels.values()])
            )
        )[0]
        for order in every_order(scores)
    ]
    return min(rows), max(rows)


@settings(max_examples=25, deadline=None)
@given(drawn=tied_runs())
def test_means_over_all_orders_of_tied_documents(drawn):
    scores, labels = drawn
    for metric in map(parse_metric, METRICS):
        ranges = [extremes(metric, scores[query], labels[query]) for query in ("q1", "q2")]
        low, high = (sum(one[at] for one in ranges) / 2 for at in (0, 1))
        result = evaluate(Qrels.from_dict(labels), Run.from_dict(scores), [metric]).runs[0].diagnostics.ties_at
        if high - low <= 1e-9:
            assert result == {}, metric.name
        else:
            (summary,) = result.values()
            expected = (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))
            assert (summary.low, summary.high) == expected, metric.name


def test_queries_are_counted_where_a_block_crosses_the_cutoff():
    qrels = Qrels.from_dict({"q1": {"b": 1}, "q2": {"b": 1}, "q3": {"x": 0, "y": 0}})
    run = Run.from_dict(
        {"q1": {"a": 2.0, "b": 1.0, "c": 1.0}, "q2": {"b": 2.0, "a": 2.0, "c": 1.0}, "q3": {"x": 1.0, "y": 1.0}}
    )
    result = evaluate(qrels, run, ["P@1", "P@2", "nDCG@2", "AP"]).runs[0].diagnostics.ties_at
    assert {name: one.queries for name, one in result.items()} == {"P@1": 1, "P@2": 1, "nDCG@2": 1}
    assert (result["P@1"].low, result["P@1"].high) == (0.0, pytest.approx(1 / 3))
    # q2's block lies within the first two ranks: its order counts for nDCG and not for P.
    assert result["P@2"].high - result["P@2"].low == pytest.approx(1 / 6)
    assert result["nDCG@2"].low == pytest.approx((0 + 0.6309297535714575) / 3)
    assert result["nDCG@2"].high == pytest.approx((0.6309297535714575 + 1) / 3)


def test_blocks_of_one_grade_and_runs_without_ties_are_passed_over():
    qrels = Qrels.from_dict({"q1": {"a": 2, "b": 2, "c": 1}})
    alike = Run.from_dict({"q1": {"a": 1.0, "b": 1.0, "c": 0.5}})
    apart = Run.from_dict({"q1": {"a": 1.0, "b": 0.9}})
    assert orders(alike, match(qrels, alike), 10) is None
    assert orders(apart, match(qrels, apart), 10) is None


def test_a_block_below_the_deepest_cutoff_stays():
    qrels = Qrels.from_dict({"q1": {"c": 1}})
    run = Run.from_dict({"q1": {"a": 3.0, "b": 2.0, "c": 1.0, "d": 1.0}})
    result = match(qrels, run)
    assert orders(run, result, 2) is None
    assert orders(run, result, 3).crossing(3).tolist() == [0]
