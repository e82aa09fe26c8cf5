"""Tests of summaries: means by tier, with reasons where undefined."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import NotValid
from assay.scoring.intervals import mean_intervals
from assay.scoring.results import SamplingDesign, summarize, summarize_tiers

IDS = [f"q{n:02}" for n in range(24)]
TIERS = dict(zip(IDS, ["head"] * 12 + ["tail"] * 12, strict=True))
WEIGHTS = dict(zip(IDS, np.linspace(0.2, 0.01, 24).tolist(), strict=True))
DRAWN = {query_id: 1.0 if tier == "head" else 0.1 for query_id, tier in TIERS.items()}
DESIGN = SamplingDesign(weights=WEIGHTS, probabilities=DRAWN, tiers=TIERS, by_tier=True)
VALUES = np.random.default_rng(1).random((24, 2))


def test_the_plain_and_the_weighted_mean_with_their_intervals() -> None:
    one, _ = summarize(VALUES, ["arithmetic"] * 2, IDS, design=DESIGN, level=0.9, resamples=300, seed=2)
    column = VALUES[:, :1]
    weights = [WEIGHTS[q] / DRAWN[q] for q in IDS]
    (plain,) = mean_intervals(column, 0.9, resamples=300, seed=2)
    (weighted,) = mean_intervals(column, 0.9, resamples=300, seed=2, weights=weights, strata=[TIERS[q] for q in IDS])
    assert one.mean == pytest.approx(VALUES[:, 0].mean())
    assert one.weighted == pytest.approx(np.average(VALUES[:, 0], weights=weights))
    assert (one.low, one.high) == pytest.approx((plain.low, plain.high), rel=1e-12)
    assert (one.weighted_low, one.weighted_high) == pytest.approx((weighted.low, weighted.high), rel=1e-12)
    assert one.effective_queries == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))


def test_tiers_are_summed_up_on_their_own() -> None:
    result = summarize_tiers(VALUES, ["arithmetic"] * 2, IDS, design=DESIGN, level=0.9, resamples=300, seed=2)
    assert list(result) == ["head", "tail"]
    tail = result["tail"][1]
    assert tail.queries == 12
    assert tail.mean == pytest.approx(VALUES[12:, 1].mean())
    assert tail.weighted == pytest.approx(np.average(VALUES[12:, 1], weights=list(WEIGHTS.values())[12:]))
    (alone,) = mean_intervals(VALUES[12:, 1:2], 0.9, resamples=300, seed=2)
    assert (tail.low, tail.high) == pytest.approx((alone.low, alone.high), rel=1e-12)


def test_no_tiers_by_default() -> None:
    quiet = SamplingDesign(weights=WEIGHTS, probabilities=DRAWN, tiers=TIERS)
    assert summarize_tiers(VALUES, ["arithmetic"] * 2, IDS, design=quiet) == {}
    assert summarize_tiers(VALUES, ["arithmetic"] * 2, IDS, design=SamplingDesign(by_tier=True)) == {}


def test_a_query_that_is_left_out_counts_nowhere() -> None:
    values = VALUES.copy()
    values[3:, 1] = np.nan
    full, left = summarize(values, ["arithmetic"] * 2, IDS, design=DESIGN, level=0.95, resamples=100)
    assert (full.queries, left.queries) == (24, 3)
    weights = [WEIGHTS[q] / DRAWN[q] for q in IDS[:3]]
    assert left.weighted == pytest.approx(np.average(VALUES[:3, 1], weights=weights))
    assert left.effective_queries == pytest.approx(3, abs=0.1)
    assert (left.low, left.reason) == (None, "fewer than 10 queries")
    assert (left.weighted_low, left.weighted_reason) == (None, "fewer than 10 queries")


def test_a_column_without_values_says_so() -> None:
    (one,) = summarize(np.full((2, 1), np.nan), ["arithmetic"], ["q1", "q2"], level=0.95)
    assert (one.mean, one.queries) == (None, 0)
    assert one.reason == "the run answers none of the queries that count"


def test_kinds() -> None:
    values = np.column_stack([VALUES[:, 0], VALUES[:, 0]])
    geometric, total = summarize(values, ["geometric", "sum"], IDS, design=DESIGN, level=0.95, resamples=100)
    assert geometric.mean == pytest.approx(np.exp(np.log(VALUES[:, 0]).mean()))
    assert geometric.low is not None
    assert geometric.high is not None
    assert geometric.low < geometric.mean < geometric.high
    assert total.mean == pytest.approx(VALUES[:, 0].sum())
    assert (total.low, total.reason) == (None, "a sum over the queries has no interval")
    assert (total.weighted, total.weighted_reason) == (None, "a sum has no weighted form")


def test_weights_that_sum_to_nothing_leave_a_reason() -> None:
    design = SamplingDesign(weights={"q1": 0.0, "q2": 0.0}, sampled=False)
    (one,) = summarize(np.array([[0.5], [1.0]]), ["arithmetic"], ["q1", "q2"], design=design)
    assert (one.mean, one.weighted) == (0.75, None)
    assert one.weighted_reason == "the weights of the queries that count sum to 0"


def test_without_a_level_there_is_no_interval_and_no_reason() -> None:
    (one,) = summarize(np.array([[0.5], [1.0]]), ["arithmetic"], ["q1", "q2"])
    assert (one.low, one.high, one.reason, one.weighted, one.effective_queries) == (None, None, None, None, None)
    assert one.as_json() == {"mean": 0.75, "queries": 2, "low": None, "high": None, "weighted": None}


def test_a_draw_in_proportion_to_traffic_has_one_mean_by_either_way() -> None:
    drawn = {query_id: weight * 2 for query_id, weight in WEIGHTS.items()}
    design = SamplingDesign(weights=WEIGHTS, probabilities=drawn, tiers=TIERS)
    (one, _) = summarize(VALUES, ["arithmetic"] * 2, IDS, design=design, level=0.95, resamples=200)
    assert one.weighted == pytest.approx(one.mean, rel=1e-13)
    assert (one.weighted_low, one.weighted_high) == pytest.approx((one.low, one.high), rel=1e-12)
    assert one.effective_queries == pytest.approx(24)


def test_a_judged_query_that_the_design_lacks_is_refused() -> None:
    with pytest.raises(NotValid, match="'q99' has no weight"):
        summarize(VALUES[:1], ["arithmetic"] * 2, ["q99"], design=DESIGN)
