"""Tests of intervals: equal to scipy, and undefined with a reason."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.metrics import METRICS
from assay.metrics.metric import Interval
from assay.scoring.evaluate import evaluate
from assay.scoring.intervals import METHODS, mean_intervals

SCIPY = {"percentile": "percentile", "bca": "BCa"}
RESAMPLES = 100_000
# Both sides draw: three standard errors of a 2.5 % quantile and of BCa's bias, in standard errors of the mean. Without
# its acceleration BCa would be off by 0.2.
NEAR = 0.06


def near(ours: Interval, theirs: tuple[float, float], spread: float) -> bool:
    assert ours.low is not None
    assert ours.high is not None
    return abs(ours.low - theirs[0]) < NEAR * spread and abs(ours.high - theirs[1]) < NEAR * spread


def interval(values: list[float], level: float = 0.95, **options: Any) -> Interval:
    (one,) = mean_intervals(np.asarray(values)[:, None], level, **options)
    return one


def skewed(size: int = 40, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).exponential(size=size)


def weighted_mean(values: np.ndarray, weights: np.ndarray, axis: int = -1) -> np.ndarray:
    return (values * weights).sum(axis) / weights.sum(axis)


def weighted_spread(values: np.ndarray, weights: np.ndarray) -> float:
    center = weighted_mean(values, weights)
    return float(np.sqrt(((weights * (values - center)) ** 2).sum()) / weights.sum())


@pytest.mark.parametrize("method", SCIPY)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_plain_mean_against_scipy(method: str, level: float) -> None:
    values = skewed()
    ours = interval(values.tolist(), level, method=method, resamples=RESAMPLES)
    theirs = stats.bootstrap(
        (values,), np.mean, confidence_level=level, method=SCIPY[method], n_resamples=RESAMPLES, rng=1
    ).confidence_interval
    assert near(ours, theirs, float(stats.sem(values)))


@pytest.mark.parametrize("method", SCIPY)
def test_the_weighted_mean_against_scipy(method: str) -> None:
    values, weights = skewed(), skewed(seed=4)
    ours = interval(values.tolist(), method=method, resamples=RESAMPLES, weights=weights.tolist())
    theirs = stats.bootstrap(
        (values, weights), weighted_mean, paired=True, method=SCIPY[method], n_resamples=RESAMPLES, rng=1
    ).confidence_interval
    assert near(ours, theirs, weighted_spread(values, weights))


@pytest.mark.parametrize("method", SCIPY)
def test_the_stratified_mean_against_scipy(method: str) -> None:
    head, tail = skewed(15), 3 + 2 * skewed(25, 5)

    def statistic(first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
        return (4 * first.sum(axis) + second.sum(axis)) / (4 * first.shape[axis] + second.shape[axis])

    ours = interval(
        [*head, *tail],
        method=method,
        resamples=RESAMPLES,
        weights=[4.0] * 15 + [1.0] * 25,
        strata=["head"] * 15 + ["tail"] * 25,
    )
    theirs = stats.bootstrap((head, tail), statistic, method=SCIPY[method], n_resamples=RESAMPLES, rng=1)
    assert near(ours, theirs.confidence_interval, float(theirs.standard_error))


def test_t_is_scipys_to_the_last_digits() -> None:
    values = skewed()
    result = interval(values.tolist(), 0.9, method="t")
    low, high = stats.t.interval(0.9, len(values) - 1, values.mean(), stats.sem(values))
    assert (result.low, result.high) == pytest.approx((low, high), rel=1e-13)


def test_t_over_tiers_worked_by_hand() -> None:
    # Weight 2 on each of ten head queries, 1 on each of ten tail queries: W = 30, mean = (2 * 4 + 1 * 5) / 30.
    # Inside a tier the weight is constant, so its share of the variance is n_h / (n_h - 1) sum (w (m - mean_h) / W)^2:
    # head 10/9 * 4 * (4 * .36 + 6 * .16) / 900, tail 10/9 * 1 * (10 * .25) / 900; 18 degrees of freedom.
    head, tail = [1.0] * 4 + [0.0] * 6, [1.0] * 5 + [0.0] * 5
    result = interval(head + tail, method="t", weights=[2.0] * 10 + [1.0] * 10, strata=["head"] * 10 + ["tail"] * 10)
    variance = 10 / 9 * (4 * 2.4 + 2.5) / 900
    reach = 2.10092204024104 * math.sqrt(variance)  # t of 18 degrees of freedom at .975, from printed tables 2.1009
    assert (result.low, result.high) == pytest.approx((13 / 30 - reach, 13 / 30 + reach), rel=1e-12)


def test_the_linearized_variance_is_that_of_many_resamples() -> None:
    random = np.random.default_rng(8)
    values, weights = random.random(400), random.exponential(size=400)
    strata = np.repeat(["head", "torso", "tail"], [50, 150, 200]).tolist()
    t = interval(values.tolist(), method="t", weights=weights.tolist(), strata=strata)
    drawn = interval(values.tolist(), weights=weights.tolist(), strata=strata)
    assert None not in (t.low, t.high, drawn.low, drawn.high)
    assert (drawn.high - drawn.low) / (t.high - t.low) == pytest.approx(1, abs=0.04)  # type: ignore[operator]


@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover_as_often_as_they_say(method: str) -> None:
    random = np.random.default_rng(21)
    worlds = random.beta(0.8, 0.6, (60, 400))
    result = mean_intervals(worlds, 0.9, method=method, resamples=500, seed=1)
    covered = sum(one.low <= 0.8 / 1.4 <= one.high for one in result)  # type: ignore[operator]
    # Binomial with 400 worlds: .9 less five standard errors, for the small sample and the coarse quantiles too.
    assert 0.825 < covered / 400 < 0.965


@pytest.mark.parametrize("method", METHODS)
def test_equal_values_have_an_interval_of_no_width(method: str) -> None:
    weights = np.linspace(0.1, 3, 24)
    for value in (0.1, 0.7, 1 / 3, 0.0):
        column = np.full((24, 1), value)
        strata = ["head", "tail"] * 12
        assert mean_intervals(column, method=method, resamples=300) == [Interval(value, value)]
        assert mean_intervals(column, method=method, resamples=300, weights=weights.tolist(), strata=strata) == [
            Interval(value, value)
        ]


@pytest.mark.parametrize("method", METHODS)
def test_few_queries_have_none(method: str) -> None:
    values = np.random.default_rng(0).random((12, 2))
    values[:3, 1] = np.nan
    full, few = mean_intervals(values, method=method, resamples=200)
    assert full.reason is None
    assert few == Interval(None, None, "fewer than 10 queries")
    weights = [1.0] * 9 + [0.0] * 3
    assert mean_intervals(values[:, :1], method=method, weights=weights)[0].reason == "fewer than 10 queries"


@pytest.mark.parametrize("method", METHODS)
def test_a_tier_of_one_query_shows_no_spread(method: str) -> None:
    strata = ["head"] * 14 + ["tail"]
    result = interval(np.linspace(0, 1, 15).tolist(), method=method, strata=strata)
    assert (result.low, result.reason) == (
        None,
        "the tier 'tail' has only one query, so its variance is unknown",
    )


def test_bca_gives_a_reason_where_one_query_outweighs_all() -> None:
    values, weights = np.linspace(0, 1, 12).tolist(), [1e18] + [1.0] * 11
    result = interval(values, method="bca", weights=weights, resamples=500)
    assert result.low is None
    assert "bca is undefined" in str(result.reason)
    assert interval(values, method="percentile", weights=weights, resamples=500).reason is None


def test_bca_gives_a_reason_where_all_resamples_fall_on_one_side() -> None:
    result = interval(skewed().tolist(), method="bca", resamples=1, seed=0)
    assert result == Interval(None, None, result.reason)
    assert "one side of the mean" in str(result.reason)


@pytest.mark.parametrize("method", METHODS)
def test_a_geometric_mean_is_bounded_over_its_logarithms(method: str) -> None:
    values = np.random.default_rng(5).random((50, 1))
    values[0] = 0.0
    (result,) = mean_intervals(values, method=method, resamples=400, kinds=["geometric"])
    (logs,) = mean_intervals(np.log(np.maximum(values, 1e-5)), method=method, resamples=400)
    assert logs.low is not None
    assert logs.high is not None
    assert (result.low, result.high) == pytest.approx((math.exp(logs.low), math.exp(logs.high)), rel=1e-12)


def test_a_sum_has_no_interval_and_spoils_no_other_column() -> None:
    values = np.random.default_rng(6).random((20, 2))
    mixed = mean_intervals(values, resamples=200, kinds=["sum", "arithmetic"])
    assert mixed[0] == Interval(None, None, "a sum over the queries has no interval")
    assert mixed[1] == mean_intervals(values, resamples=200)[1]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=10, max_size=30),
    st.sampled_from(list(METHODS)),
    st.floats(0.5, 20),
    st.integers(0, 2**32),
)
def test_units_move_the_interval_and_nothing_else(values: list[float], method: str, unit: float, seed: int) -> None:
    column = np.array(values)[:, None]
    (plain,), (scaled,) = (
        mean_intervals(table, method=method, resamples=100, seed=seed) for table in (column, 3 + column * unit)
    )
    (reweighted,) = mean_intervals(column, method=method, resamples=100, seed=seed, weights=[unit] * len(values))
    if plain.low is None or plain.high is None:
        assert scaled.reason == reweighted.reason == plain.reason
        return
    assert plain.low <= plain.high
    assert (scaled.low, scaled.high) == pytest.approx((3 + plain.low * unit, 3 + plain.high * unit), abs=1e-9)
    assert (reweighted.low, reweighted.high) == pytest.approx((plain.low, plain.high), abs=1e-9)


def test_a_column_is_the_same_alone_and_among_many() -> None:
    values = np.random.default_rng(7).random((15, 600))
    together = mean_intervals(values, method="bca", resamples=60, seed=4)
    for at in (0, 511, 512, 599):
        alone = interval(values[:, at].tolist(), method="bca", resamples=60, seed=4)
        assert (alone.low, alone.high) == pytest.approx((together[at].low, together[at].high), rel=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"level": 1.0}, "between 0 and 1"),
        ({"method": "normal"}, "percentile, bca, t"),
        ({"resamples": 0}, "resamples is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"weights": [-1.0] * 12}, "below 0"),
        ({"weights": [math.nan] * 12}, "not a number"),
        ({"weights": [1.0]}, "12 queries, 1 weight"),
        ({"strata": ["head"]}, "1 tier"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(NotValid, match=message):
        mean_intervals(np.ones((12, 1)), **wrong)  # type: ignore[arg-type]


def test_intervals_of_bounded_metrics_stay_inside_their_bounds() -> None:
    """Ten queries of which one fails: Student's interval reaches beyond 1, where no mean can be."""
    columns = np.column_stack([[1.0] * 9 + [0.0], [0.0] * 9 + [1.0], [3.0] * 9 + [0.0]])
    plain = mean_intervals(columns, method="t")
    assert plain[0].high > 1
    assert plain[1].low < 0
    cut = mean_intervals(columns, method="t", bounded=[True, True, False])
    assert (cut[0].low, cut[0].high) == (plain[0].low, 1.0)
    assert (cut[1].low, cut[1].high) == (0.0, plain[1].high)
    assert cut[2] == plain[2]


@pytest.mark.parametrize("method", list(METHODS))
def test_no_metric_that_is_bounded_is_reported_beyond(method: str) -> None:
    qrels = Qrels.from_dict({f"q{n}": {"d1": 1, "d2": 2} for n in range(10)})
    ranked = {f"q{n}": {"d2": 2.0, "d1": 1.0} if n else {"d9": 1.0} for n in range(10)}
    evaluation = evaluate(
        qrels,
        [Run.from_dict(ranked, "a")],
        [METRICS[name].example for name in METRICS if not METRICS[name].by_subtopic],
        level=0.95,
        method=method,
    )
    for bound in evaluation.bound:
        summary = evaluation.runs[0].metrics[bound.name]
        assert not bound.metric.bounded or summary.low is None or 0 <= summary.low <= summary.high <= 1, bound.name
        values = evaluation.runs[0].per_query[bound.name]
        assert not bound.metric.bounded or (np.nanmin(values) >= 0 and np.nanmax(values) <= 1 + 1e-9), bound.name
