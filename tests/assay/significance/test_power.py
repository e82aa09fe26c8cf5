"""Tests of power and required queries: noncentral t, simulation and the rule of 2.8."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.core.errors import NotValid
from assay.significance.power import detectable, power, queries_needed


@pytest.mark.parametrize("queries", [6, 50, 5000, 1_000_000])
@pytest.mark.parametrize("difference", [0.001, 0.01, 0.1, 0.5])
def test_power_is_that_of_scipys_noncentral_t(queries: int, difference: float) -> None:
    limit, apart = stats.t.ppf(0.975, queries - 1), difference * math.sqrt(queries)
    expected = stats.nct.sf(limit, queries - 1, apart)
    if apart < 8:
        expected += stats.nct.cdf(-limit, queries - 1, apart)
    assert power(difference, 1.0, queries) == pytest.approx(expected, abs=1e-9)


def test_small_medium_and_large_effects() -> None:
    # R: pwr.t.test(d=..., power=.8, type="paired") says 33.4, 198.2 and 14.3 pairs.
    assert queries_needed(0.5, 1.0).queries == 34
    assert queries_needed(0.2, 1.0).queries == 199
    assert queries_needed(0.8, 1.0).queries == 15


def test_power_is_the_share_of_samples_that_show_the_difference() -> None:
    samples = np.random.default_rng(1).normal(0.06, 0.15, size=(4000, 52))
    shown = stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05
    assert power(0.06, 0.15, 52) == pytest.approx(float(shown.mean()), abs=0.02)


@given(st.floats(0.01, 0.5), st.floats(0.01, 0.5), st.floats(0.5, 0.95), st.floats(0.01, 0.1))
@settings(deadline=None, max_examples=50)
def test_needed_are_the_fewest_that_do(difference: float, sd: float, wanted: float, alpha: float) -> None:
    needed = queries_needed(difference, sd, wanted, alpha).queries
    assert needed is not None
    assert power(difference, sd, needed, alpha) >= wanted
    assert needed == 6 or power(difference, sd, needed - 1, alpha) < wanted


@given(st.floats(0.005, 0.05))
@settings(deadline=None, max_examples=30)
def test_the_rule_of_2_8_is_near(difference: float) -> None:
    needed = queries_needed(difference, 0.15).queries
    assert needed == pytest.approx((2.8 * 0.15 / difference) ** 2, rel=0.06)
    assert detectable(0.15, needed or 0) == pytest.approx(difference, rel=0.03)


def test_the_direction_does_not_matter() -> None:
    assert queries_needed(-0.06, 0.15) == queries_needed(0.06, 0.15)


def test_detectable_differences_between_real_runs() -> None:
    # With an sd of .15: .06 at 50 queries, .03 at 200.
    assert detectable(0.15, 50) == pytest.approx(0.06, abs=0.001)
    assert detectable(0.15, 200) == pytest.approx(0.03, abs=0.001)
    assert detectable(0.0, 50) is None


@pytest.mark.parametrize(
    ("difference", "sd", "reason"),
    [(0.0, 0.1, "no number of queries can detect it"), (0.1, 0.0, "do not vary"), (1e-6, 0.15, "more than 10,000,000")],
)
def test_where_no_number_can_be_reported(difference: float, sd: float, reason: str) -> None:
    result = queries_needed(difference, sd)
    assert result.queries is None
    assert reason in str(result.reason)


@pytest.mark.parametrize(("wanted", "alpha"), [(0.0, 0.05), (1.0, 0.05), (0.8, 0.0), (0.8, 1.0)])
def test_chances_must_be_chances(wanted: float, alpha: float) -> None:
    with pytest.raises(NotValid, match="between 0 and 1"):
        queries_needed(0.1, 0.1, wanted, alpha)
