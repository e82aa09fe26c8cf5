"""Property tests of all metrics, for any labels and runs."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core import Qrels, Run
from assay.metrics import METRICS
from assay.metrics.judged_rankings import JudgedRankings
from assay.metrics.metric import parse_metric, parse_metrics
from evaluation import evaluate

VARIANTS = parse_metrics(
    "nDCG nDCG(gain=exp)@3 nDCG(judged_only=True)@3 nDCG(gains={1:5,2:1}) AP(rel=2) AP(judged_only=True) RR P(rel=2)@3 "
    "Bpref(rel=2) infAP(rel=2) IPrec(cut=nearest)@0.5 RBP(p=0.5,max_rel=4)@2 RBPresid(p=0.5)@2 DCG(gain=exp) R-cap "
    "F(beta=2)@3 Judged SetF(beta=2) NumRel(rel=2) ERR(max_rel=4) MeanLabel@2 Compat(p=0.8,normalize=False)"
)
NAMES = [METRICS[name].example for name in METRICS if not METRICS[name].by_subtopic]
NAMES += [metric.name for metric in VARIANTS]
# What may pass 1: sums of gains or of labels, and counts.
OPEN = {"DCG", "MeanLabel", "MaxLabel", "NumQ", "NumRet", "NumRel", "NumRelRet"}
# What an unjudged tail changes: they divide by what was returned, count it, or look at how deep the run goes.
REPORTED_BY_THE_TAIL = {"Judged", "Judged@10", "SetP", "SetF", "SetF(beta=2)", "R-cap", "NumRet"}
REPORTED_BY_THE_TAIL |= {"Compat(p=0.95)", "Compat(p=0.8,normalize=False)"}
Table = dict[str, dict[str, float]]

DOCS = [f"d{n}" for n in range(12)] + ["é", "Z", "9", "10"]
grades = st.dictionaries(st.sampled_from(DOCS), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0]), min_size=1)
scores = st.dictionaries(st.sampled_from(DOCS), st.integers(-8, 8).map(lambda n: n / 4), min_size=1)
labels = st.dictionaries(st.sampled_from(["q1", "q2", "é"]), grades, min_size=1)
cases = st.tuples(labels, st.dictionaries(st.sampled_from(["q1", "q2", "é", "x"]), scores)).map(
    lambda case: (case[0], case[1] if set(case[0]) & set(case[1]) else {next(iter(case[0])): {"d0": 1.0, "é": 1.0}})
)
# A query without labels returns all documents: labels and a run without any document in common are refused.
cases = cases.map(lambda case: (case[0], case[1] | {"unjudged": dict.fromkeys(DOCS, 1.0)}))
drawn = settings(max_examples=25, deadline=None)


def scored(qrels: Table | Qrels, *runs: Run) -> list[dict[str, list[float]]]:
    labels = qrels if isinstance(qrels, Qrels) else Qrels.from_dict(qrels)
    result = evaluate(labels, runs, NAMES, scale_top=3).runs
    return [{name: values.tolist() for name, values in run.per_query.items()} for run in result]


def rows(table: Table) -> list[tuple[str, str, float]]:
    return [(query_id, doc, value) for query_id, docs in table.items() for doc, value in docs.items()]


@drawn
@given(case=cases, seed=st.integers(0, 99))
def test_the_order_of_lines_and_of_queries_plays_no_part(case: tuple[Table, Table], seed: int) -> None:
    qrels, run = case
    shuffled = [random.Random(seed).sample(lines, len(lines)) for lines in (rows(qrels), rows(run))]
    (plain,) = scored(qrels, Run.from_dict(run, "run"))
    (again,) = scored(Qrels.from_rows(shuffled[0]), Run.from_rows(shuffled[1], "run"))
    assert again == plain


@drawn
@given(case=cases, exponent=st.integers(-30, 30))
def test_scores_times_a_power_of_two_change_nothing(case: tuple[Table, Table], exponent: int) -> None:
    qrels, run = case
    scaled = {query_id: {doc: score * 2.0**exponent for doc, score in docs.items()} for query_id, docs in run.items()}
    assert len({str(one) for one in scored(qrels, Run.from_dict(run, "run"), Run.from_dict(scaled, "scaled"))}) == 1


@drawn
@given(case=cases)
def test_the_same_run_under_another_name_has_the_same_values(case: tuple[Table, Table]) -> None:
    qrels, run = case
    first, second = scored(qrels, Run.from_dict(run, "one"), Run.from_dict(run, "two"))
    assert first == second


@drawn
@given(case=cases, length=st.integers(1, 15))
def test_an_unjudged_tail_changes_only_what_looks_at_it(case: tuple[Table, Table], length: int) -> None:
    qrels, run = case
    tail = {f"unjudged{n}": -9.0 for n in range(length)}
    longer = {query_id: {**docs, **tail} for query_id, docs in run.items()}
    first, second = scored(qrels, Run.from_dict(run, "run"), Run.from_dict(longer, "longer"))
    changed = {name for name in first if first[name] != second[name]}
    assert changed <= REPORTED_BY_THE_TAIL


def test_an_unjudged_tail_is_seen_by_each_metric_that_is_stated_to_look_at_it() -> None:
    qrels, run = {"q": {"a": 1.0, "b": 2.0}}, {"q": {"b": 1.0}}
    longer = {"q": {**run["q"], "u": -9.0, "v": -9.0}}
    first, second = scored(qrels, Run.from_dict(run, "run"), Run.from_dict(longer, "longer"))
    assert {name for name in first if first[name] != second[name]} == REPORTED_BY_THE_TAIL


@drawn
@given(case=cases)
def test_values_are_numbers_and_shares_are_between_0_and_1(case: tuple[Table, Table]) -> None:
    qrels, run = case
    (values,) = scored(qrels, Run.from_dict(run, "run"))
    for name, column in values.items():
        top = np.inf if parse_metric(name).metric.name in OPEN else 1.0 + 1e-12
        low = -1.0 if parse_metric(name).metric.name in OPEN else 0.0
        assert all(low <= value <= top for value in column), name
    for low, more in zip(values["RBP(p=0.8)"], values["RBPresid(p=0.8)"], strict=True):
        assert low + more <= 1.0 + 1e-12


@drawn
@given(labels=labels)
def test_the_best_ranking_has_1(labels: Table) -> None:
    relevant = {query_id: docs for query_id, docs in labels.items() if max(docs.values()) >= 1}
    if not relevant:
        return
    best = Run.from_dict(relevant, "best")
    perfect = (
        "nDCG nDCG@3 nDCG(gain=exp) AP RR P@1 SetR Rprec Bpref 11pt_avg IPrec@1.0 R-cap@2 Compat(p=0.95) Success@1"
    )
    result = evaluate(Qrels.from_dict(relevant), best, perfect).runs[0]
    for name, values in result.per_query.items():
        assert values == pytest.approx(np.ones(len(relevant)), abs=1e-12), name


EDGES = {
    "nothing returned": (0, {}, [2.0, 1.0, 0.0]),
    "nothing judged was returned": (3, {}, [2.0, 1.0, 0.0]),
    "nothing is relevant": (3, {1: 0.0, 3: 0.0}, [0.0, 0.0, 0.0]),
    "all grades are negative": (3, {1: -1.0, 3: -2.0}, [-1.0, -2.0]),
    "only the negative was returned": (3, {1: -1.0}, [1.0, -1.0]),
}
# What is not 0 even then, with its value in each of these cases.
NOT_ZERO = {
    "Judged": [0, 0, 2 / 3, 2 / 3, 1 / 3],
    "Judged@10": [0, 0, 2 / 3, 2 / 3, 1 / 3],
    "RBPresid(p=0.8)": [1, 1, 1 - 0.2 - 0.2 * 0.64, 1, 1],
    "RBPresid(p=0.5)@2": [1, 1, 0.5, 1, 1],
    "NumQ": [1, 1, 1, 1, 1],
    "NumRet": [0, 3, 3, 3, 3],
    "NumRel": [2, 2, 0, 0, 1],
    "NumRel(rel=2)": [1, 1, 0, 0, 0],
}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("PairwiseAccuracy", "MeanLabel@2")])
def test_where_nothing_good_was_detected_the_value_is_0(name: str) -> None:
    rankings = JudgedRankings.of(*EDGES.values())
    metric = parse_metric(name).on_scale(3)
    if metric.metric.name in ("MeanLabel", "MaxLabel"):
        rankings = JudgedRankings.of(*list(EDGES.values())[:3])
    expected = NOT_ZERO.get(metric.name, [0.0] * 5)[: rankings.queries]
    assert metric(rankings) == pytest.approx(expected, abs=1e-12)
