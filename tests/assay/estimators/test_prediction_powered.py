"""Tests of the prediction-powered mean: ppi_py's numbers, coverage and width."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.estimators.prediction_powered import human_only, powered_mean, queries_needed

# 60 queries that both judged, 600 that the machine judged alone.
HUMAN = np.random.default_rng(0).normal(size=60)
MACHINE = 0.7 * HUMAN + np.random.default_rng(1).normal(size=60) * 0.5
ELSEWHERE = np.random.default_rng(2).normal(size=600) * 0.86


def test_people_alone_have_students_interval() -> None:
    low, high = stats.t.interval(0.95, 59, HUMAN.mean(), stats.sem(HUMAN))
    assert human_only(HUMAN) == pytest.approx((HUMAN.mean(), low, high), abs=1e-12)


def test_weight_zero_is_people_alone() -> None:
    result = powered_mean(HUMAN, MACHINE, ELSEWHERE, weight=0)
    assert (result.estimate, result.low, result.high) == pytest.approx(human_only(HUMAN), abs=1e-12)


def test_nothing_from_the_machine_is_people_alone() -> None:
    result = powered_mean(HUMAN, MACHINE, [])
    assert (result.estimate, result.low, result.high) == pytest.approx(human_only(HUMAN), abs=1e-12)
    assert result.weight == 0


def test_a_machine_that_says_one_thing_changes_nothing() -> None:
    result = powered_mean(HUMAN, np.ones(60), np.ones(600))
    assert (result.estimate, result.low, result.high) == pytest.approx(human_only(HUMAN), abs=1e-12)
    assert result.correlation is None


def test_a_machine_that_is_wrong_by_a_constant_costs_nothing() -> None:
    right = powered_mean(HUMAN, MACHINE, ELSEWHERE)
    shifted = powered_mean(HUMAN, MACHINE + 5, ELSEWHERE + 5)
    assert (shifted.estimate, shifted.low, shifted.high) == pytest.approx((right.estimate, right.low, right.high))


def test_a_contrary_machine_gets_no_weight() -> None:
    assert powered_mean(HUMAN, -MACHINE, -ELSEWHERE).weight == 0


def test_too_few_queries_and_broken_values_are_reported() -> None:
    assert powered_mean([0.1, 0.2], [0.1, 0.2], [0.3]).reason == "too_few_units"
    broken = powered_mean([0.1, 0.2, float("nan")], [0.1, 0.2, 0.3], [0.3])
    assert (broken.reason, broken.estimate) == ("not_finite", None)
    with pytest.raises(ValueError, match="3 human values and 2"):
        powered_mean([0.1, 0.2, 0.3], [0.1, 0.2], [0.3])


def test_coverage_and_width_on_a_skewed_metric() -> None:
    # Values that pile up at 0 and 1 as those of a metric do, a machine that is right two times out of three.
    rng = np.random.default_rng(5)
    truth = rng.beta(0.6, 0.8, size=20_000)
    guess = np.where(rng.random(20_000) < 2 / 3, truth, rng.beta(2, 2, size=20_000))
    hits, widths, alone = 0, 0.0, 0.0
    trials = 1_000
    for _ in range(trials):
        drawn = rng.choice(20_000, 450, replace=False)
        result = powered_mean(truth[drawn[:50]], guess[drawn[:50]], guess[drawn[50:]])
        assert result.low is not None
        assert result.high is not None
        assert result.human_only is not None
        hits += result.low <= truth.mean() <= result.high
        widths += result.high - result.low
        alone += result.human_only.width
    # Three standard errors of a share of 0.95 in a thousand trials are 0.021.
    assert 0.929 <= hits / trials <= 0.971
    assert widths / alone < 0.9


def test_planning_agrees_with_the_width_that_comes_out() -> None:
    assert [queries_needed(0.05, 0.3, rho, 5000) for rho in (0.0, 0.5, 0.7)] == [141, 107, 74]
    number = queries_needed(0.05, 0.3)
    half = stats.t.ppf(0.975, number - 1) * 0.3 / number**0.5
    assert half <= 0.05 < stats.t.ppf(0.975, number - 2) * 0.3 / (number - 1) ** 0.5


def test_saved_queries_follow_from_the_width() -> None:
    result = powered_mean(HUMAN, MACHINE, ELSEWHERE)
    assert result.width_ratio is not None
    assert result.queries_saved is not None
    assert result.queries_saved == round(60 / result.width_ratio**2) - 60 > 0
