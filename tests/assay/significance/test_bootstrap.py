"""Tests of the paired bootstrap: close to the t test, and drawn within strata."""

from __future__ import annotations

import numpy as np
import pytest

from assay.significance.paired_differences import paired_p_values
from tests.assay.significance.synthetic import runs


def test_with_many_queries_it_is_near_t() -> None:
    scores = runs(1000, 4)
    bootstrap = paired_p_values(scores, test="bootstrap", permutations=10_000).values
    assert bootstrap == pytest.approx(paired_p_values(scores, test="t").values, abs=0.02)


@pytest.mark.parametrize("strata", [None, ["head"] * 300 + ["tail"] * 700])
def test_weighted_it_is_near_the_weighted_t(strata: list[str] | None) -> None:
    scores, weights = runs(1000, 4), np.linspace(3, 0.3, 1000).tolist()
    bootstrap = paired_p_values(scores, test="bootstrap", permutations=10_000, weights=weights, strata=strata).values
    expected = paired_p_values(scores, test="t", weights=weights, strata=strata).values
    assert bootstrap == pytest.approx(expected, abs=0.02)


def test_strata_keep_their_sizes() -> None:
    # All spread lies between the strata: drawn inside them, no resample moves the mean.
    noise = np.tile([-1e-4, 1e-4], 10)
    scores = np.column_stack([np.zeros(20), np.repeat([-0.5, 0.7], 10) + noise])
    tiers = ["head"] * 10 + ["tail"] * 10
    (inside,) = paired_p_values(scores, test="bootstrap", permutations=999, weights=[1.0] * 20, strata=tiers).values
    (across,) = paired_p_values(scores, test="bootstrap", permutations=999, weights=[1.0] * 20).values
    assert inside == 1 / 1000
    assert across is not None
    assert across > 0.2
