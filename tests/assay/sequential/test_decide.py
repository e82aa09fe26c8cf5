"""Tests of decisions between two runs."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.core.errors import NotValid, UnknownName
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.scoring.results import SamplingDesign
from assay.sequential import METHODS
from assay.sequential.decide import REASONS, decide_differences
from tests.assay.sequential.test_methods import DIFFERENCES

QUERIES = [f"q{n:03}" for n in range(120)]
QRELS = {query: {"good": 1, "other": 0} for query in QUERIES}
Ranked = dict[str, dict[str, float]]


def hits(*positions: int) -> Ranked:
    """A run that returns the good document at these ranks in turn."""
    ranked: Ranked = {}
    for n, query in enumerate(QUERIES):
        documents = [f"bad{at}" for at in range(5)]
        documents.insert(positions[n % len(positions)] - 1, "good")
        ranked[query] = {doc_id: float(-at) for at, doc_id in enumerate(documents)}
    return ranked


def settings(method: str) -> dict[str, Any]:
    return {"method": method, "planned": len(QUERIES) if METHODS[method].needs_planned else None}


@pytest.mark.parametrize("method", list(METHODS))
@pytest.mark.parametrize(
    ("baseline", "candidate", "verdict"),
    [((2, 3), (1, 1), "better"), ((1, 1), (2, 3), "worse"), ((1, 2), (2, 1), "undecided")],
)
def test_verdicts(method: str, baseline: tuple[int, ...], candidate: tuple[int, ...], verdict: str) -> None:
    decision = assay.decide(QRELS, hits(*baseline), hits(*candidate), "RR", **settings(method))
    assert decision.verdict == verdict
    assert (decision.expected_more == 0) == (verdict != "undecided")


def test_a_verdict_states_the_moment_it_was_reached() -> None:
    decision = assay.decide(QRELS, hits(2, 3), hits(1, 1), "RR@5")
    (first, *_) = [step for step in decision.trace if step.verdict == "better"]
    assert (decision.queries, decision.difference, decision.low, decision.high) == (
        first.n,
        first.mean,
        first.low,
        first.high,
    )
    assert decision.low is not None
    assert decision.low > 0
    assert len(decision.trace) == len(QUERIES)
    # One judged document of each used query is in both lists.
    assert decision.judgments == decision.queries


def test_a_verdict_never_changes_back() -> None:
    differences = [0.2 + 0.01 * (n % 2) for n in range(30)] + [-1.0] * 60
    verdicts = [step.verdict for step in decide_differences(differences).trace]
    assert verdicts[14:] == ["better"] * 76


def test_small_differences_are_equivalent() -> None:
    decision = decide_differences([0.001, -0.001] * 20)
    assert (decision.verdict, decision.queries) == ("equivalent", 15)
    assert decision.low is not None
    assert decision.high is not None
    assert -0.02 < decision.low < decision.high < 0.02


@pytest.mark.parametrize("method", list(METHODS))
def test_identical_lists_are_equivalent_before_any_judgment(method: str) -> None:
    decision = assay.decide(QRELS, hits(2), hits(2), "RR", **settings(method))
    assert (decision.verdict, decision.reason) == ("equivalent", "identical_lists")
    assert (decision.queries, decision.judgments, decision.expected_more) == (0, 0, 0)


def test_planned_queries_with_identical_lists_count_as_0_up_to_the_first_that_needs_judging() -> None:
    same, differs = {"d1": 2.0, "d2": 1.0}, {"d2": 2.0, "d1": 1.0}
    old = {name: dict(same) for name in "abcdef"}
    new = {**old, "b": dict(differs), "d": dict(differs), "f": dict(differs)}
    # Of the queries whose lists differ, b is judged and d is not; c and a need no judging, e stands after d.
    decision = assay.decide({"b": {"d1": 1}}, old, new, "RR", order=list("abcdef"))
    assert [(step.query_id, step.difference) for step in decision.trace] == [("a", 0.0), ("b", -0.5), ("c", 0.0)]


def test_lists_that_differ_below_the_cutoff_are_identical_for_the_metric() -> None:
    longer = {query: {**ranked, "more": -9.0} for query, ranked in hits(1).items()}
    assert assay.decide(QRELS, hits(1), longer, "nDCG@5").reason == "identical_lists"
    assert assay.decide(QRELS, hits(1), longer, "nDCG").reason == "no_variation"


def test_a_planned_query_without_judgments_may_differ() -> None:
    other = hits(2) | {"later": {"d1": 1.0}}
    decision = assay.decide(QRELS, hits(2), other, "RR", order=[*QUERIES, "later"])
    assert (decision.verdict, decision.reason) == ("undecided", "no_variation")


@pytest.mark.parametrize(
    ("differences", "reason"),
    [
        ([], "too_few_queries"),
        ([0.1, 0.2], "too_few_queries"),
        ([0.0] * 40, "no_variation"),
        ([0.3] * 9, "no_variation"),
    ],
)
def test_reasons_for_no_interval(differences: list[float], reason: str) -> None:
    decision = decide_differences(differences)
    assert (decision.verdict, decision.low, decision.high, decision.reason) == ("undecided", None, None, reason)
    assert reason in REASONS


def test_a_plan_ends() -> None:
    differences = [0.1, -0.1] * 40
    decision = decide_differences(differences, method="group", planned=50)
    assert (decision.verdict, decision.reason, decision.queries) == ("undecided", "plan_ended", 50)
    assert decision.expected_more is None
    assert decision.low == decision.trace[49].low


def test_the_forecast_is_what_repeated_differences_need() -> None:
    differences = DIFFERENCES[:30]
    decision = decide_differences(differences)
    assert decision.expected_more
    needed = 30 + decision.expected_more
    assert decide_differences(np.resize(differences, needed)).verdict != "undecided"
    assert decide_differences(np.resize(differences, needed - 1)).verdict == "undecided"


def test_several_candidates_share_alpha() -> None:
    single, shared = decide_differences(DIFFERENCES), decide_differences(DIFFERENCES, candidates=3)
    alone = decide_differences(DIFFERENCES, alpha=0.05 / 3)
    assert (shared.low, shared.high) == (alone.low, alone.high)
    assert single.low is not None
    assert shared.low is not None
    assert shared.low < single.low


def test_queries_come_in_the_order_of_the_qrels() -> None:
    shuffled = [*QUERIES[60:], *QUERIES[:60]]
    qrels = {query: QRELS[query] for query in shuffled}
    decision = assay.decide(qrels, hits(1, 2), hits(2, 1), "RR")
    assert [step.query_id for step in decision.trace] == shuffled


def test_queries_come_in_the_order_of_a_file(tmp_path: Any) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("".join(f"{query} 0 good 1\n" for query in reversed(QUERIES)))
    decision = assay.decide(path, hits(1, 2), hits(2, 1), "RR")
    assert [step.query_id for step in decision.trace] == QUERIES[::-1]
    assert assay.read_qrels(path).in_source_order == tuple(QUERIES[::-1])


def test_a_given_order_counts() -> None:
    order = QUERIES[::-1]
    decision = assay.decide(QRELS, hits(1, 2), hits(2, 1), "RR", order=order)
    assert [step.query_id for step in decision.trace] == order


@pytest.mark.parametrize("order", [QUERIES[1:], [*QUERIES, QUERIES[4]]], ids=["lacks one", "lists one twice"])
def test_an_order_lists_each_judged_query_once(order: list[str]) -> None:
    with pytest.raises(NotValid) as caught:
        assay.decide(QRELS, hits(1), hits(2), "RR", order=order)
    assert (QUERIES[0] if len(order) < len(QUERIES) else QUERIES[4]) in str(caught.value)


def test_weighted_queries() -> None:
    weights = {query: 3.0 if n % 2 else 1.0 for n, query in enumerate(QUERIES)} | {QUERIES[0]: 0.0}
    design = SamplingDesign(weights=weights, sampled=False)
    decision = assay.decide(QRELS, hits(2, 2), hits(1, 2, 4), "RR", design=design)
    last = decision.trace[-1]
    compared = assay.compare(QRELS, {"old": hits(2, 2), "new": hits(1, 2, 4)}, "RR", design=design)
    assert last.mean == pytest.approx(compared.pairs[0].effect.difference)
    assert (decision.unweighted, last.n) == (1, len(QUERIES) - 1)


def test_unanswered_queries_count_as_zero_or_are_left_out() -> None:
    half = {query: ranked for query, ranked in hits(1).items() if query < QUERIES[60]}
    zero = assay.decide(QRELS, hits(2, 3), half, "RR")
    skip = assay.decide(QRELS, hits(2, 3), half, "RR", missing="skip")
    assert (len(zero.trace), zero.undefined) == (120, 0)
    assert (len(skip.trace), skip.undefined) == (60, 60)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"delta": 0.0}, NotValid),
        ({"delta": math.nan}, NotValid),
        ({"alpha": 0.0}, NotValid),
        ({"alpha": 0.5}, NotValid),
        ({"candidates": 0}, NotValid),
        ({"method": "group"}, NotValid),
        ({"method": "group", "planned": 10}, NotValid),
        ({"planned": 100}, NotValid),
        ({"method": "magic"}, UnknownName),
        ({"metric": "nDCG@10 RR"}, NotValid),
        ({"metric": "DCG@10", "method": "betting"}, NotValid),
        ({"design": SamplingDesign(weights=dict.fromkeys(QUERIES, 0.0), sampled=False)}, NotValid),
    ],
)
def test_refused_settings(changes: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        assay.decide(QRELS, hits(1), hits(2), **{"metric": "RR", **changes})


def test_systems_that_share_no_query_with_the_labels_are_refused() -> None:
    strangers = {"x" + query: ranked for query, ranked in hits(1).items()}
    with pytest.raises(NotValid):
        assay.decide(QRELS, hits(1), strangers, "RR")


def test_unbounded_metrics_suit_the_other_methods() -> None:
    graded = {query: {"good": 9, "other": 0} for query in QUERIES}
    assert assay.decide(graded, hits(3, 2), hits(1), "DCG@10").verdict == "better"


def test_skewed_differences_are_reported() -> None:
    rare = [0.9 if n % 12 == 0 else -0.05 for n in range(60)]
    assert decide_differences(rare).advises_betting
    assert not decide_differences(rare, method="betting").advises_betting
    assert not decide_differences(DIFFERENCES).advises_betting


def test_results_as_rows_frames_and_json() -> None:
    decision = assay.decide(
        Qrels.from_dict(QRELS), Run.from_dict(hits(2, 3), "a"), Run.from_dict(hits(1, 1), "b"), "RR"
    )
    assert (decision.baseline, decision.candidate, decision.metric) == ("a", "b", "RR")
    lines = [json.loads(line) for line in decision.trace_lines()]
    assert lines == decision.to_rows()
    assert list(lines[0]) == ["n", "query_id", "difference", "mean", "low", "high", "verdict"]
    assert decision.to_polars().height == len(QUERIES)
    assert json.loads(json.dumps(decision.to_dict()))["verdict"] == "better"


@pytest.mark.slow
@given(st.lists(st.floats(-1, 1), max_size=60), st.sampled_from(list(METHODS)))
def test_any_differences_give_a_verdict(differences: list[float], method: str) -> None:
    planned = 60 if METHODS[method].needs_planned else None
    decision = decide_differences(differences, method=method, planned=planned)
    assert len(decision.trace) == len(differences)
    if decision.verdict == "better":
        assert decision.low is not None
        assert decision.low > 0
    if decision.verdict == "worse":
        assert decision.high is not None
        assert decision.high < 0
