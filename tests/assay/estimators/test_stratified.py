"""Tests of the mean over strata: equal to the textbook, with valid intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.estimators.prediction_powered import human_only, powered_mean
from assay.estimators.stratified_mean import stratified_mean, stratified_rate


def test_a_case_by_hand() -> None:
    # Two strata of the machine's values: 6 and 4 of ten queries; people's means 0.2 and 0.7.
    human, machine = [0.1, 0.2, 0.3, 0.6, 0.8], [0.1, 0.1, 0.1, 0.9, 0.9]
    result = stratified_mean(human, machine, [0.1, 0.1, 0.1, 0.9, 0.9], strata=2)
    # 0.6 * 0.2 + 0.4 * 0.7; within: 0.36 * 0.01/3 + 0.16 * 0.02/2; between: (0.6 * 0.04 + 0.4 * 0.09) / 10.
    parts = [0.0012, 0.0016]
    variance = sum(parts) + 0.006
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 1)
    half = stats.t.ppf(0.975, freedom) * variance**0.5
    assert (result.estimate, result.low, result.high) == pytest.approx((0.4, 0.4 - half, 0.4 + half))
    assert [(one.units, one.judged, one.mean) for one in result.strata] == [
        (6, 3, pytest.approx(0.2)),
        (4, 2, pytest.approx(0.7)),
    ]
    assert result.correlation == pytest.approx((0.06 / (0.06 + 0.6 * 0.01 + 0.4 * 0.02)) ** 0.5)


def test_all_queries_judged_are_the_census() -> None:
    rng = np.random.default_rng(3)
    human = rng.random(200)
    result = stratified_mean(human, human + rng.normal(0, 0.2, 200), [])
    assert result.estimate == pytest.approx(human.mean())
    # No more is known than people's values say of the queries that these stand for.
    assert result.width_ratio == pytest.approx(1.0, abs=0.02)


def test_one_stratum_is_people_alone() -> None:
    human = np.random.default_rng(1).random(20)
    result = stratified_mean(human, human, np.ones(50), strata=1)
    assert (result.estimate, result.low, result.high) == pytest.approx(human_only(human))
    same = stratified_mean(human, np.ones(20), np.ones(50), strata=5)
    assert (same.low, same.high, same.merged) == pytest.approx((result.low, result.high, 0))


def test_strata_with_fewer_than_two_go_to_a_neighbour_and_are_reported() -> None:
    result = stratified_mean([0.1, 0.2, 0.9, 0.8], [0.1, 0.1, 0.5, 0.9], [0.1, 0.5, 0.5, 0.9], strata=3)
    assert result.merged == 1
    assert [(one.units, one.judged) for one in result.strata] == [(3, 2), (5, 2)]
    assert sum(one.units for one in result.strata) == result.queries + result.others


def test_a_monotone_change_of_the_machine_changes_nothing() -> None:
    rng = np.random.default_rng(8)
    human, machine, rest = rng.random(60), rng.random(60), rng.random(300)
    plain, bent = stratified_mean(human, machine, rest), stratified_mean(human, np.exp(machine), np.exp(rest))
    assert (plain.estimate, plain.low, plain.high) == (bent.estimate, bent.low, bent.high)


def test_undefined_estimates_have_a_reason() -> None:
    assert stratified_mean([0.1, 0.2], [0.1, 0.2], [0.3]).reason == "too_few_units"
    assert stratified_mean([0.1, 0.2, float("nan")], [0.1, 0.2, 0.3], [0.3]).reason == "not_finite"
    with pytest.raises(ValueError, match="3 human values and 2"):
        stratified_mean([0.1, 0.2, 0.3], [0.1, 0.2], [0.3])


def test_a_rate_by_hand() -> None:
    # Grade 0: 10 pairs, 4 judged, none relevant; grade 1: 10 pairs, 2 judged, both relevant.
    result = stratified_rate([0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1], [0] * 6 + [1] * 8)
    p, q = 0.5 / 5, 2.5 / 3
    parts = [0.25 * p * (1 - p) / 3 * (1 - 4 / 10), 0.25 * q * (1 - q) / 1 * (1 - 2 / 10)]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 3 + parts[1] ** 2)
    half = stats.t.ppf(0.975, freedom) * sum(parts) ** 0.5
    assert (result.estimate, result.low) == pytest.approx((0.5, max(0, 0.5 - half)))
    whole = stratified_rate([0, 1, 1, 1], [0, 0, 1, 1], [])
    assert (whole.low, whole.estimate, whole.high) == pytest.approx((0.75, 0.75, 0.75))


@pytest.mark.slow
@pytest.mark.parametrize("method", [powered_mean, stratified_mean])
@pytest.mark.parametrize(("share", "bias"), [(0.0, 0.0), (0.5, 0.2), (0.8, 0.0)])
def test_intervals_hold_what_they_say_in_2000_trials(method: object, share: float, bias: float) -> None:
    rng = np.random.default_rng([2024, 60, int(share * 10)])
    hits, width, alone = 0, 0.0, 0.0
    # Values between 0 and 1, many of them 0; its mean by quadrature.
    grid = stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    truth = np.clip(0.35 + 0.35 * grid, 0, 1).mean()
    for _ in range(2_000):
        common, own = rng.normal(size=660), rng.normal(size=660)
        human = np.clip(0.35 + 0.35 * common, 0, 1)
        guess = share * common + (1 - share**2) ** 0.5 * own
        machine = np.clip(np.clip(0.35 + 0.35 * guess, 0, 1) + bias, 0, 1)
        result = method(human[:60], machine[:60], machine[60:])  # type: ignore[operator]
        hits += result.low <= truth <= result.high
        width += result.high - result.low
        alone += result.human_only.width
    assert 0.94 <= hits / 2_000 <= 0.965
    # Strata that say nothing cost degrees of freedom; the tuned weight costs nearly none.
    assert width / alone <= (1.02 if method is powered_mean else 1.06)
    assert share < 0.8 or width / alone < 0.8
