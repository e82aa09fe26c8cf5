"""Tests of the sign-flip test: p-values equal to theory, enumeration and scipy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.significance.paired_differences import paired_p_values
from tests.assay.significance.synthetic import runs


def brute_force(steps: list[int]) -> float:
    """All sign patterns, one by one, in whole numbers so that ties are exact."""
    patterns = list(product((-1, 1), repeat=len(steps)))
    sums = [abs(sum(sign * value for sign, value in zip(signs, steps, strict=True))) for signs in patterns]
    return sum(each >= abs(sum(steps)) for each in sums) / len(sums)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_check_values_of_the_synthetic_runs(seed: int) -> None:
    result = paired_p_values(runs(), seed=seed)
    # scipy's permutation_test gave .2372, .2087, .5749 with as many draws; each side has a Monte Carlo sd of .0015.
    assert result.values[:3] == pytest.approx((0.2381, 0.2106, 0.5769), abs=0.006)
    assert (len(result.values), result.draws, result.smallest) == (1770, 100_000, 1 / 100_001)


@given(st.lists(st.integers(-40, 40), min_size=6, max_size=9))
@settings(deadline=None, max_examples=40)
def test_few_queries_are_enumerated_with_exact_ties(steps: list[int]) -> None:
    difference = np.array(steps) / 100
    scores = np.column_stack([np.full(len(steps), 0.4), 0.4 + difference])
    result = paired_p_values(scores)
    assert result.values == pytest.approx((brute_force(steps),), abs=1e-12)
    assert result.draws == 2 ** len(steps)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 5)), min_size=6, max_size=9))
@settings(deadline=None, max_examples=40)
def test_with_weights_the_weighted_differences_are_flipped(queries: list[tuple[int, int]]) -> None:
    scores = np.column_stack([np.zeros(len(queries)), [step / 10 for step, _ in queries]])
    (result,) = paired_p_values(scores, weights=[weight for _, weight in queries]).values
    assert result == pytest.approx(brute_force([step * weight for step, weight in queries]), abs=1e-12)


def test_sixteen_queries_agree_with_scipy() -> None:
    scores = runs(16, 2)
    result = paired_p_values(scores, seed=1)
    expected = stats.permutation_test(
        (scores[:, 1], scores[:, 0]),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert result.values[0] == pytest.approx(expected.pvalue, abs=1e-12)


def test_the_smallest_p_of_so_few_queries() -> None:
    scores = np.column_stack([np.zeros(7), np.linspace(0.1, 0.7, 7)])
    result = paired_p_values(scores)
    assert result.values == (2 / 2**7,) == (result.smallest,)
