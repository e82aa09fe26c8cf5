"""Tests of weights and strata in intervals, effects and comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.scoring.intervals import mean_intervals
from assay.scoring.results import SamplingDesign
from assay.significance.compare import Plan, compare
from assay.significance.intervals import difference_intervals
from assay.significance.results import effect
from tests.assay.significance.synthetic import runs

WEIGHTS = np.linspace(0.3, 3, 40).tolist()
TIERS = ["head"] * 10 + ["torso"] * 18 + ["tail"] * 12
QUICK = Plan(permutations=500, resamples=200)

QUERIES = [f"q{number:02}" for number in range(24)]
QRELS = Qrels.from_dict({query: {"good": 1} for query in QUERIES})
PROBABILITIES = {query: 1.0 if at < 8 else 0.25 for at, query in enumerate(QUERIES)}
SHARES = {query: 4.0 if at < 8 else 1.0 for at, query in enumerate(QUERIES)}
DESIGN = SamplingDesign(
    weights=SHARES,
    probabilities=PROBABILITIES,
    tiers={query: "head" if at < 8 else "tail" for at, query in enumerate(QUERIES)},
)


def run(name: str, first: set[int]) -> Run:
    """A run that has the good document first for these queries, and second for the others."""
    return Run.from_dict(
        {query: {"good": 3.0 if at in first else 1.0, "bad": 2.0} for at, query in enumerate(QUERIES)}, name=name
    )


@pytest.mark.parametrize("strata", [None, TIERS])
def test_the_interval_is_that_of_the_weighted_mean_of_the_differences(strata: list[str] | None) -> None:
    scores = runs(40, 2)
    (result,) = difference_intervals(scores, [(0, 1)], seed=4, weights=WEIGHTS, strata=strata)
    (plain,) = mean_intervals(scores[:, 1:] - scores[:, :1], seed=4, weights=WEIGHTS, strata=strata)
    assert (result.low, result.high) == pytest.approx((plain.low, plain.high), abs=1e-12)


def test_one_query_alone_in_a_tier_has_no_interval() -> None:
    (result,) = difference_intervals(runs(40, 2), [(0, 1)], weights=WEIGHTS, strata=["head"] + ["tail"] * 39)
    assert result.low is None
    assert "only one query" in str(result.reason)


def test_whole_weights_count_queries_several_times() -> None:
    scores, times = runs(12, 2), np.array([1, 2, 3] * 4)
    result = effect(scores[:, 0], scores[:, 1], times.tolist())
    repeated = effect(scores[:, 0].repeat(times), scores[:, 1].repeat(times))
    assert result.difference == pytest.approx(repeated.difference, abs=1e-12)
    # The same spread but for n - 1: repeated queries are no further queries.
    assert result.size == pytest.approx((repeated.size or 0) * np.sqrt((11 / 12) / (23 / 24)), abs=1e-12)
    assert (result.wins + result.ties + result.losses) == 12


def test_uneven_weights_need_more_queries() -> None:
    scores, weights = runs(400, 2), [1.0] * 350 + [20.0] * 50
    even, uneven = effect(scores[:, 0], scores[:, 1]), effect(scores[:, 0], scores[:, 1], weights)
    assert even.detectable is not None
    # 90 of 400 queries are left when weights are counted: the error grows by the root of 400 / 90.
    assert uneven.detectable == pytest.approx(even.detectable * np.sqrt(400 / 90), rel=0.1)


def test_means_and_differences_are_weighted() -> None:
    comparison = compare(QRELS, [run("a", set()), run("b", set(range(12)))], "P@1", design=DESIGN, plan=QUICK)
    # w / p is 4 for every query here: the frequent ones are certain, the others stand for four each.
    assert comparison.runs["b"]["P@1"] == pytest.approx(0.5)
    assert (comparison.settings["weighted"], comparison.settings["effective_queries"]) == (True, pytest.approx(24))
    bare = SamplingDesign(weights=SHARES, sampled=False)
    comparison = compare(QRELS, [run("a", set()), run("b", set(range(12)))], "P@1", design=bare, plan=QUICK)
    assert comparison.runs["b"]["P@1"] == pytest.approx((8 * 4 + 4) / (8 * 4 + 16))
    assert comparison.pairs[0].effect.difference == pytest.approx(0.75)
    assert comparison.settings["effective_queries"] == pytest.approx(48**2 / (8 * 16 + 16))


@pytest.mark.parametrize("test", ["randomization", "t", "bootstrap", "tukey"])
def test_a_design_of_equal_weights_is_no_design(test: str) -> None:
    plan = Plan(test=test, permutations=500, resamples=200)
    both = [run("a", {1, 3, 7}), run("b", set(range(10)))]
    plain = compare(QRELS, both, "RR", plan=plan)
    weighted = compare(
        QRELS, both, "RR", plan=plan, design=SamplingDesign(weights=dict.fromkeys(QUERIES, 0.5), sampled=False)
    )
    assert weighted.pairs == plain.pairs
    assert (plain.settings["weighted"], weighted.settings["weighted"]) == (False, True)


def test_queries_without_traffic_are_left_out() -> None:
    design = SamplingDesign(weights=SHARES | dict.fromkeys(QUERIES[:4], 0.0), sampled=False)
    comparison = compare(QRELS, [run("a", set()), run("b", {0, 1, 2, 3, 9})], "P@1", design=design, plan=QUICK)
    assert (comparison.pairs[0].queries, comparison.settings["queries_left_out"]) == (20, 4)
    assert comparison.pairs[0].effect.wins == 1


def test_incomplete_designs_are_refused() -> None:
    both = [run("a", set()), run("b", {1})]
    with pytest.raises(NotValid, match="'q23' has no weight"):
        compare(QRELS, both, "RR", design=SamplingDesign(weights=dict.fromkeys(QUERIES[:23], 1.0), sampled=False))
    with pytest.raises(NotValid, match="no weighted form"):
        compare(QRELS, both, "RR", design=DESIGN, plan=Plan(test="sign"))
    with pytest.raises(NotValid, match="in common"):
        compare(QRELS, both, "RR", design=SamplingDesign(weights=dict.fromkeys(QUERIES, 0.0), sampled=False))
