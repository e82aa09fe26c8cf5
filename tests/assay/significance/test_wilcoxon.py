"""Tests of the signed-rank test: equal to scipy and a textbook."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.significance.paired_differences import paired_p_values
from tests.assay.significance.synthetic import runs


def p_of(difference: np.ndarray) -> float:
    (result,) = paired_p_values(np.column_stack([np.zeros(len(difference)), difference]), test="wilcoxon").values
    assert result is not None
    return result


def test_the_example_of_hollander_and_wolfe() -> None:
    # Depression scales of nine patients before and after (1973, table 3.1); R prints V = 40, one-sided p = .01953.
    before = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    after = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
    assert p_of(before - after) == 2 * 0.01953125


@pytest.mark.parametrize("queries", [6, 20, 50, 51, 400])
def test_without_ties_it_is_scipys(queries: int) -> None:
    scores = np.random.default_rng(queries).normal(size=(queries, 4))
    expected = [stats.wilcoxon(scores[:, b], scores[:, a]).pvalue for a in range(4) for b in range(a + 1, 4)]
    assert paired_p_values(scores, test="wilcoxon").values == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(-6, 6), min_size=6, max_size=80).filter(lambda steps: len(set(map(abs, steps))) > 2))
@settings(deadline=None, max_examples=50)
def test_with_ties_and_zeros_it_is_scipys_approximation(steps: list[int]) -> None:
    values = np.array([step for step in steps if step])
    sizes = np.abs(values)
    if len(np.unique(sizes)) == len(sizes):
        expected = stats.wilcoxon(values, method="exact").pvalue
    else:
        expected = stats.wilcoxon(values, method="asymptotic", correction=False).pvalue
    assert p_of(np.array(steps) / 10) == pytest.approx(expected, abs=1e-12)


def test_zeros_are_dropped_not_ranked() -> None:
    difference = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, -0.05])
    assert p_of(np.concatenate([difference, np.zeros(30), [1e-10, -1e-10]])) == p_of(difference)


def test_sizes_that_differ_by_rounding_are_ties() -> None:
    # 0.1 + 0.2 is not 0.3 in binary: ranked apart, the larger would count more.
    difference = np.array([0.3, -(0.1 + 0.2), 0.3, 0.7, 0.8, 0.9, -0.05])
    assert p_of(difference) == p_of(np.round(difference, 6))


def test_no_difference_at_all() -> None:
    assert p_of(np.zeros(12)) == 1.0


def test_it_sees_ranks_and_not_sizes() -> None:
    scores = runs(30, 2)
    difference = scores[:, 1] - scores[:, 0]
    assert p_of(np.sign(difference) * np.abs(difference) ** 0.5) == p_of(difference)
