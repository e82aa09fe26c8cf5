"""Tests of the paired t test: equal to scipy, and weighted like a weighted mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.scoring.intervals import mean_intervals
from assay.significance.paired_differences import paired_p_values, scaled_weights, strata_rows
from assay.significance.paired_t import standard_error
from tests.assay.significance.synthetic import runs

WEIGHTS = np.linspace(0.3, 3, 40)
TIERS = ["head"] * 10 + ["torso"] * 18 + ["tail"] * 12


def test_t_is_scipys() -> None:
    scores = runs(number=6)
    expected = [stats.ttest_rel(scores[:, b], scores[:, a]).pvalue for a in range(6) for b in range(a + 1, 6)]
    assert paired_p_values(scores, test="t").values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("strata", [None, TIERS])
def test_p_and_the_t_interval_tell_the_same(strata: list[str] | None) -> None:
    scores = runs(40, 2)
    difference = scores[:, 1] - scores[:, 0]
    (p,) = paired_p_values(scores, test="t", weights=WEIGHTS.tolist(), strata=strata).values
    assert p is not None
    # The interval whose level is 1 - p ends at 0.
    (result,) = mean_intervals(difference[:, None], 1 - p, method="t", weights=WEIGHTS.tolist(), strata=strata)
    assert result.low is not None
    assert result.high is not None
    assert min(abs(result.low), abs(result.high)) == pytest.approx(0, abs=1e-9)


def test_the_standard_error_is_that_of_many_samples() -> None:
    random = np.random.default_rng(6)
    weights = random.uniform(0.2, 3, size=(3000, 200))
    values = 0.1 + random.normal(scale=0.2, size=(3000, 200)) + 0.1 * weights
    means = (weights * values).sum(axis=1) / weights.sum(axis=1)
    samples = zip(values[:300], weights[:300], strict=True)
    errors = [standard_error(value, scaled_weights(weight, 200), [np.arange(200)]) for value, weight in samples]
    assert float(np.mean(errors)) == pytest.approx(float(means.std()), rel=0.05)


def test_strata_take_their_own_means_out() -> None:
    values = np.concatenate([np.full(20, 0.1), np.full(20, 0.5)]) + np.tile([-0.01, 0.01], 20)
    tiers = ["head"] * 20 + ["tail"] * 20
    ones = np.ones(40)
    assert standard_error(values, ones, strata_rows(tiers, 40)) < standard_error(values, ones, [np.arange(40)]) / 10


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_one_query_alone_in_a_tier(test: str) -> None:
    strata = ["head"] + ["tail"] * 39
    result = paired_p_values(runs(40, 2), test=test, permutations=50, weights=WEIGHTS.tolist(), strata=strata)
    assert result.values == (None,)
    assert "only one query" in str(result.reasons[0])
