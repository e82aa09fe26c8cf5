"""Are the p of the paired tests those that theory, enumeration and scipy give?"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.significance import TESTS
from evaluation.significance.draws import BLOCK_CELLS, all_signs, block_sizes, random_signs, resampled_counts
from evaluation.significance.paired import paired_p_values
from judgments.core.errors import NotValid, UnknownName


def runs(queries: int = 43, number: int = 60) -> np.ndarray:
    """The synthetic scores for which evaluation engines were compared: queries differ more than runs do."""
    random = np.random.default_rng(5)
    difficulty = random.beta(2, 2, size=(queries, 1))
    noise = random.normal(scale=0.15, size=(queries, number))
    return np.clip(difficulty + noise + np.linspace(0, 0.08, number), 0, 1)


def brute_force(difference: np.ndarray) -> float:
    """All sign patterns, one by one, in whole numbers so that ties are exact."""
    whole = [round(value * 1000) for value in difference]
    sums = [abs(sum(sign * value for sign, value in zip(signs, whole, strict=True))) for signs in _patterns(whole)]
    return sum(each >= abs(sum(whole)) for each in sums) / len(sums)


def _patterns(whole: list[int]) -> list[tuple[int, ...]]:
    return list(product((-1, 1), repeat=len(whole)))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_sign_flip_gives_the_check_values(seed: int) -> None:
    found = paired_p_values(runs(), seed=seed)
    # Each draw has a Monte Carlo sd of about .0015, the check value has one too.
    assert found.values[:3] == pytest.approx((0.2381, 0.2106, 0.5769), abs=0.006)
    assert (len(found.values), found.draws, found.smallest) == (1770, 100_000, 1 / 100_001)


def test_t_is_scipys() -> None:
    scores = runs(number=6)
    expected = [stats.ttest_rel(scores[:, b], scores[:, a]).pvalue for a in range(6) for b in range(a + 1, 6)]
    assert paired_p_values(scores, test="t").values == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(-40, 40), min_size=6, max_size=9))
@settings(deadline=None)
def test_few_queries_are_enumerated_with_exact_ties(steps: list[int]) -> None:
    difference = np.array(steps) / 100
    scores = np.column_stack([np.full(len(steps), 0.4), 0.4 + difference])
    found = paired_p_values(scores)
    assert found.values == pytest.approx((brute_force(difference),), abs=1e-12)
    assert found.draws == 2 ** len(steps)


def test_sixteen_queries_agree_with_scipy() -> None:
    scores = runs(16, 2)
    found = paired_p_values(scores, seed=1)
    expected = stats.permutation_test(
        (scores[:, 1], scores[:, 0]),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert found.values[0] == pytest.approx(expected.pvalue, abs=1e-12)


def test_a_p_of_draws_is_never_0() -> None:
    scores = np.column_stack([np.linspace(0, 0.1, 40), np.linspace(0.8, 1.0, 40)])
    for test in ("randomization", "bootstrap"):
        found = paired_p_values(scores, test=test, permutations=999)
        assert found.values == (1 / 1000,) == (found.smallest,)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("queries", [6, 20])
def test_identical_runs_have_p_1(test: str, queries: int) -> None:
    scores = np.repeat(runs(queries, 1), 2, axis=1)
    assert paired_p_values(scores, test=test, permutations=500).values == (1.0,)


@pytest.mark.parametrize("test", TESTS)
def test_the_order_of_two_runs_does_not_matter(test: str) -> None:
    scores = runs(30, 3)
    one = paired_p_values(scores, [(0, 1), (0, 2)], test=test, permutations=2000)
    other = paired_p_values(scores, [(1, 0), (2, 0)], test=test, permutations=2000)
    assert one.values == pytest.approx(other.values, abs=1e-12)


@pytest.mark.parametrize("test", TESTS)
def test_a_pair_has_one_p_whoever_stands_beside_it(test: str) -> None:
    scores = runs(30, 5)
    together = paired_p_values(scores, test=test, permutations=2000).values
    alone = paired_p_values(scores[:, :2], test=test, permutations=2000).values
    assert together[0] == pytest.approx(alone[0], abs=1e-12)


def test_the_same_seed_gives_the_same_p() -> None:
    assert paired_p_values(runs(), seed=7) == paired_p_values(runs(), seed=7)
    assert paired_p_values(runs(), seed=7) != paired_p_values(runs(), seed=8)


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_a_constant_difference_has_no_spread(test: str) -> None:
    scores = np.column_stack([np.linspace(0, 0.5, 12), np.linspace(0, 0.5, 12) + 0.1])
    found = paired_p_values(scores, test=test, permutations=100)
    assert found.values == (None,)
    assert "no spread" in str(found.reasons[0])
    assert paired_p_values(scores).values == (2 / 2**12,)


@pytest.mark.parametrize("test", TESTS)
def test_below_six_queries_there_is_no_p(test: str) -> None:
    found = paired_p_values(runs(5, 3), test=test)
    assert found.values == (None, None, None)
    assert all("fewer than 6 queries" in str(reason) for reason in found.reasons)
    assert paired_p_values(runs(6, 2), test=test, permutations=100).values[0] is not None


def test_half_of_the_true_nulls_are_above_one_half() -> None:
    random = np.random.default_rng(3)
    scores = random.normal(size=(30, 1)) + random.normal(size=(30, 40))
    pairs = [(at, at + 1) for at in range(0, 40, 2)]
    for test in TESTS:
        found = paired_p_values(scores, pairs, test=test, permutations=2000).values
        assert 0.2 < float(np.mean([value > 0.5 for value in found if value is not None])) < 0.8


def test_wrong_input_is_refused() -> None:
    with pytest.raises(NotValid, match="missing"):
        paired_p_values(np.array([[0.1, np.nan]] * 8))
    with pytest.raises(NotValid, match="at least 1"):
        paired_p_values(runs(8, 2), permutations=0)
    with pytest.raises(UnknownName, match="randomization, t, bootstrap"):
        paired_p_values(runs(8, 2), test="anova")


@pytest.mark.parametrize("queries", [1, 43, 6980, BLOCK_CELLS])
def test_blocks_are_small_and_hold_every_draw(queries: int) -> None:
    sizes = list(block_sizes(queries, 1000))
    assert sum(sizes) == 1000
    assert max(sizes) * queries <= BLOCK_CELLS


def test_signs_are_fair_and_resamples_whole() -> None:
    signs = np.concatenate(list(random_signs(13, 30_000, 1)))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(signs.mean(axis=0)).max() < 0.03
    counts = np.concatenate(list(resampled_counts(13, 5000, 1)))
    assert (counts.sum(axis=1) == 13).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(13), abs=0.08)


def test_all_signs_are_half_of_all_patterns() -> None:
    signs = np.concatenate(list(all_signs(16)))
    assert signs.shape == (2**15, 16)
    assert len(np.unique(np.concatenate([signs, -signs]), axis=0)) == 2**16
