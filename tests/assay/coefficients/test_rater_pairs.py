"""Tests of the resampled sums of pairs of raters."""

from __future__ import annotations

import numpy as np
import pytest

from assay.coefficients.cohen import UNWEIGHTED
from assay.coefficients.intervals import draws
from assay.coefficients.rater_pairs import EXACT_SINGLE, RaterPair, RaterPairs, kappas

SIZE = 2


@pytest.mark.parametrize("large", [3, EXACT_SINGLE])
def test_draws_of_large_and_small_counts_are_exact(large: int) -> None:
    # Each cluster adds an odd number to one cell, and nothing to another: single precision cannot add large ones.
    sums = np.array([[large + 1, 0, 7, 3], [3, 0, large - 1, 5], [5, 0, 1, large + 3]], dtype=np.float64)
    pair = RaterPair(0, 1, np.arange(3), sums, SIZE)
    rows, _ = kappas(RaterPairs((pair,), 3), [UNWEIGHTED], np.array([0.0, 1.0]), resamples=200, seed=4)
    whole = np.concatenate(list(draws(3, 200, 4))).astype(np.int64) @ sums.astype(np.int64)
    values = UNWEIGHTED.value(whole.astype(np.float64), np.array([0.0, 1.0]))
    low, high = np.quantile(values[~np.isnan(values)], [0.025, 0.975])
    assert (rows[0][0].low, rows[0][0].high) == (low, high)
