"""Tests of the coverage of the interval of a paired difference."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.scoring.intervals import mean_intervals
from assay.significance.intervals import difference_intervals


def two_runs(queries: int, seed: int, shift: float = 0.0) -> np.ndarray:
    random = np.random.default_rng(seed)
    first = random.beta(2, 2, size=queries)
    return np.column_stack([first, first + random.normal(shift, 0.15, size=queries)])


def test_it_is_the_interval_of_the_mean_of_the_differences() -> None:
    scores = two_runs(50, 1)
    (result,) = difference_intervals(scores, [(0, 1)], seed=4)
    (plain,) = mean_intervals(scores[:, 1:] - scores[:, :1], seed=4)
    assert (result.low, result.high) == pytest.approx((plain.low, plain.high), abs=1e-12)


def test_it_is_near_scipys() -> None:
    difference = np.diff(two_runs(200, 2), axis=1)[:, 0]
    (result,) = difference_intervals(two_runs(200, 2), [(0, 1)])
    theirs = stats.bootstrap((difference,), np.mean, method="percentile", rng=1).confidence_interval
    assert (result.low, result.high) == pytest.approx((theirs.low, theirs.high), abs=0.003)


def test_it_covers_the_true_difference() -> None:
    rows = [difference_intervals(two_runs(60, seed, 0.05), [(0, 1)], resamples=500)[0] for seed in range(200)]
    covered = sum(one.low <= 0.05 <= one.high for one in rows if one.low is not None and one.high is not None)
    assert 180 <= covered <= 199


def test_the_other_way_round_it_is_mirrored() -> None:
    one, other = difference_intervals(two_runs(40, 3), [(0, 1), (1, 0)], resamples=1000)
    assert (one.low, one.high) == pytest.approx((-(other.high or 0), -(other.low or 0)))


def test_below_ten_queries_there_is_none() -> None:
    (result,) = difference_intervals(two_runs(9, 1), [(0, 1)])
    assert (result.low, result.high) == (None, None)
    assert "fewer than 10 queries" in str(result.reason)


def test_by_t_it_is_scipys_and_goes_with_the_test() -> None:
    scores = two_runs(12, 5, 0.1)
    theirs = stats.ttest_rel(scores[:, 1], scores[:, 0])
    for level in (0.9, 0.95):
        (result,) = difference_intervals(scores, [(0, 1)], level=level, method="t")
        assert (result.low, result.high) == pytest.approx(tuple(theirs.confidence_interval(level)), abs=1e-12)


def test_by_t_it_needs_a_spread_and_stays_within_bounds() -> None:
    scores = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 1.0]])
    (result,) = difference_intervals(scores, [(0, 1)], method="t")
    assert (result.low, result.high) == (pytest.approx(-0.7675509, abs=1e-6), 1.0)
    (constant,) = difference_intervals(np.array([[0.0, 0.5]] * 5), [(0, 1)], method="t")
    assert (constant.low, constant.high) == (None, None)
    assert constant.reason
    (same,) = difference_intervals(np.array([[0.2, 0.2], [0.4, 0.4]]), [(0, 1)], method="t")
    assert (same.low, same.high) == (0.0, 0.0)
    (alone,) = difference_intervals(np.array([[0.2, 0.4]]), [(0, 1)], method="t")
    assert alone.low is None
