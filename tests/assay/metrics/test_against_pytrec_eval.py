"""Tests of metrics against pytrec_eval, by query, on runs with ties, unjudged documents and odd grades."""

from __future__ import annotations

import re

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core import Qrels, Run
from assay.core.errors import NotValid
from assay.metrics.metric import parse_metric, parse_metrics
from evaluation import evaluate

BINARY = (
    "RR AP AP@5,30 P@1,5,30 R@1,5,30 Success@1,5,10 Rprec Bpref infAP IPrec@0.0,0.1,0.4,0.5,1.0 11pt_avg "
    "R-cap R-cap@1,5,30 SetP SetR SetF NumRelRet"
)
GRADED = "nDCG nDCG@1,5,10,30 NumRet NumRel GMAP"
CONDENSED = "nDCG@10 nDCG AP AP@5 RR P@5 R@5 Success@1 Rprec"
POOL = [f"d{n}" for n in range(25)] + ["Z", "a", "9", "10", "é", "ß", "日本"]
QUERIES = ["q1", "q2", "10", "9", "é"]
Table = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]

# Few distinct scores make ties; quarters survive pytrec_eval's float32.
# pytrec_eval reads outside of its memory where all grades of a query are negative: one of them is not.
grades = st.dictionaries(st.sampled_from(POOL), st.integers(-2, 4), min_size=1).map(
    lambda docs: docs if max(docs.values()) >= 0 else {**docs, "d0": 0}
)
scores = st.dictionaries(st.sampled_from(POOL), st.integers(-8, 8).map(lambda n: n / 4), min_size=1)
labels = st.dictionaries(st.sampled_from(QUERIES), grades, min_size=1)
runs = st.dictionaries(st.sampled_from([*QUERIES, "unjudged"]), scores)


def named(names: str, expected: str = "") -> list[str]:
    """Canonical names with a parameter more."""
    plain = [metric.name for metric in parse_metrics(names)]
    return [re.sub(r"(@|$)", rf"({expected})\1", name, count=1) for name in plain] if expected else plain


def theirs(qrels: Table, run: Scores, name: str) -> dict[str, float]:
    metric = parse_metric(name)
    plain = parse_metric(re.sub(r"\(.*\)", "", name)).trec_name
    plain = {"gm_map": "map"}.get(plain, plain)
    options = re.sub(r"_(?=[\d.]+$)", ".", plain)
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels,
        {options},
        relevance_level=int(metric.parameters.get("rel", 1)),
        judged_docs_only_flag=bool(metric.parameters.get("judged_only", False)),
    )
    return {query_id: values[plain] for query_id, values in evaluator.evaluate(run).items()}


def assert_equal(qrels: Table, run: Scores, names: list[str]) -> None:
    common = set(qrels) & set(run)
    result = evaluate(Qrels.from_dict(qrels), Run.from_dict(run, "run"), names)
    for name in names:
        expected = theirs(qrels, run, name)
        ours = dict(zip(result.query_ids, result.runs[0].per_query[name].tolist(), strict=True))
        assert set(expected) == common
        assert {query_id: ours[query_id] for query_id in common} == pytest.approx(expected, abs=1e-12), name
        if name != "NumRel":
            assert all(ours[query_id] == 0.0 for query_id in set(qrels) - common), name


def overlapping(run: Scores, qrels: Table) -> Scores:
    run = run if set(run) & set(qrels) else {**run, next(iter(qrels)): {"d0": 1.0, "Z": 1.0}}
    # A query without labels returns all: labels and a run without any document in common are refused.
    return {**run, "unjudged": dict.fromkeys(POOL, 1.0)}


@settings(max_examples=40, deadline=None)
@given(qrels=labels, run=runs)
def test_every_metric_that_both_have(qrels: Table, run: Scores) -> None:
    assert_equal(qrels, overlapping(run, qrels), named(f"{BINARY} {GRADED}"))


@settings(max_examples=20, deadline=None)
@given(qrels=labels, run=runs, rel=st.integers(2, 4))
def test_every_binary_metric_with_another_threshold(qrels: Table, run: Scores, rel: int) -> None:
    assert_equal(qrels, overlapping(run, qrels), named(BINARY, f"rel={rel}"))


@settings(max_examples=20, deadline=None)
@given(qrels=labels, run=runs)
def test_condensed_lists_drop_what_its_judged_docs_only_drops(qrels: Table, run: Scores) -> None:
    assert_equal(qrels, overlapping(run, qrels), named(CONDENSED, "judged_only=True"))


@settings(max_examples=20, deadline=None)
@given(qrels=labels, run=runs, gains=st.dictionaries(st.integers(0, 4), st.integers(0, 9), min_size=1))
def test_gains_of_single_grades_are_those_of_labels_with_these_grades(
    qrels: Table, run: Scores, gains: dict[int, int]
) -> None:
    summary = ",".join(f"{grade}:{gain}" for grade, gain in gains.items())
    mapped = {query_id: {doc: gains.get(g, g) for doc, g in docs.items()} for query_id, docs in qrels.items()}
    run = overlapping(run, qrels)
    for cutoff in ("", "@5"):
        ours = evaluate(Qrels.from_dict(qrels), Run.from_dict(run, "run"), f"nDCG(gains={{{summary}}}){cutoff}")
        (values,) = ours.runs[0].per_query.values()
        mapping = dict(zip(ours.query_ids, values.tolist(), strict=True))
        expected = theirs(mapped, run, f"nDCG{cutoff}")
        assert {query_id: mapping[query_id] for query_id in expected} == pytest.approx(expected, abs=1e-12)


def test_the_mean_is_over_all_judged_queries_where_pytrec_eval_leaves_that_to_its_caller() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}
    values = theirs(qrels, run, "AP")
    assert np.mean(list(values.values())) == 1.0
    assert evaluate(Qrels.from_dict(qrels), Run.from_dict(run, "run"), "AP").runs[0].metrics["AP"].mean == 0.5


def test_scores_that_are_equal_in_float32_are_a_tie_there_and_none_here() -> None:
    qrels, run = {"q": {"d1": 1}}, {"q": {"d2": 16777216.0, "d1": 16777217.0}}
    assert theirs(qrels, run, "RR") == {"q": 0.5}
    result = evaluate(Qrels.from_dict(qrels), Run.from_dict(run, "run"), "RR RR@10 Judged@1")
    assert {name: summary.mean for name, summary in result.runs[0].metrics.items()} == {
        "RR": 1.0,
        "RR@10": 1.0,
        "Judged@1": 1.0,
    }


def test_a_document_twice_is_an_error_before_any_metric_sees_it() -> None:
    with pytest.raises(NotValid, match="document 'a' twice"):
        Run.from_rows([("q", "a", 2.0), ("q", "a", 1.0)])
    with pytest.raises(NotValid, match="two grades"):
        Qrels.from_rows([("q", "a", 1), ("q", "a", 0)])


def test_the_control_would_show_a_difference() -> None:
    qrels = {"q": {"d1": 1, "d2": 0, "d3": 2}}
    run = {"q": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
    with pytest.raises(AssertionError):
        assert_equal(qrels, run, ["nDCG(gain=exp)@3"])
