"""Tests of the randomized Tukey test: level over all pairs, and p-values over all permutations."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from assay.significance.paired_differences import paired_p_values
from tests.assay.significance.synthetic import runs


def every_permutation(scores: np.ndarray) -> list[float]:
    """The exact p of each pair, from all orders on all queries but the first, whose order only names the runs."""
    orders = [np.array(order) for order in permutations(range(scores.shape[1]))]
    whole = np.round(scores * 100).astype(int)
    reach = []
    for chosen in product(orders, repeat=len(scores) - 1):
        sums = whole[0] + sum(row[order] for row, order in zip(whole[1:], chosen, strict=True))
        reach.append(sums.max() - sums.min())
    total, count = whole.sum(axis=0), scores.shape[1]
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    return [float(np.mean(np.array(reach) >= abs(total[b] - total[a]))) for a, b in pairs]


def test_p_is_near_that_of_all_permutations() -> None:
    scores = np.round(np.random.default_rng(4).random((6, 3)), 2) + np.array([0, 0.1, 0.3])
    result = paired_p_values(scores, test="tukey", permutations=40_000)
    # A share of 40,000 draws has an sd of .0025 at most.
    assert result.values == pytest.approx(every_permutation(scores), abs=0.01)


def test_two_runs_are_flipped() -> None:
    for queries in (12, 40):
        scores = runs(queries, 2)
        one = paired_p_values(scores, test="tukey", permutations=3000)
        assert one == paired_p_values(scores, test="randomization", permutations=3000)


def test_p_holds_for_all_runs_also_where_few_pairs_are_requested() -> None:
    scores = runs(30, 6)
    everything = paired_p_values(scores, test="tukey", permutations=2000).values
    few = paired_p_values(scores, [(0, 1), (0, 5)], test="tukey", permutations=2000).values
    assert few == (everything[0], everything[4])


def test_a_larger_difference_never_has_a_larger_p() -> None:
    scores = runs(30, 8)
    pairs = [(a, b) for a in range(8) for b in range(a + 1, 8)]
    result = paired_p_values(scores, pairs, test="tukey", permutations=2000).values
    total = scores.sum(axis=0)
    by_size = sorted(zip((-abs(total[b] - total[a]) for a, b in pairs), result, strict=True))
    assert [p for _, p in by_size] == sorted(p for _, p in by_size if p is not None)


def test_it_is_never_below_the_p_of_the_pair_alone() -> None:
    scores = runs(40, 6)
    family = paired_p_values(scores, test="tukey", permutations=5000).values
    alone = paired_p_values(scores, permutations=5000).values
    assert all(a is not None and b is not None and a >= b - 0.03 for a, b in zip(family, alone, strict=True))


def test_any_false_difference_among_four_runs_is_as_rare_as_alpha() -> None:
    random, false = np.random.default_rng(8), 0
    for repetition in range(200):
        scores = random.random((20, 1)) + random.normal(scale=0.2, size=(20, 4))
        result = paired_p_values(scores, test="tukey", permutations=199, seed=repetition)
        false += min(value for value in result.values if value is not None) < 0.05
    # A binomial of 200 at .05 lies outside 2 to 20 once in 300.
    assert 2 <= false <= 20


@pytest.mark.parametrize("number", [3, 4, 6, 7, 64, 65])
def test_every_permutation_is_as_likely(number: int) -> None:
    """Up to 6 runs orders are listed, above they are shuffled by keys; with 64 runs all bits of a place count."""
    scores = np.zeros((6, number))
    scores[0] = np.arange(number)
    result = paired_p_values(scores, [(0, number - 1), (0, number - 2)], test="tukey", permutations=500)
    # Whatever the order, the distance of best and worst is that of the one query.
    assert result.values == (1.0, 1.0)
    tied = np.tile(np.eye(number)[0], (6, 1))
    result = paired_p_values(tied, [(0, 1)], test="tukey", permutations=30_000)
    # All six must choose the same run: (1 / number)^5.
    assert result.values[0] == pytest.approx(number**-5.0, abs=0.0015)


def test_weights_are_permuted_with_the_scores() -> None:
    scores, weights = runs(30, 4), np.linspace(0.2, 2, 30)
    weighted = paired_p_values(scores, test="tukey", permutations=1000, weights=weights.tolist()).values
    by_hand = scores * (weights * (30 / weights.sum()))[:, None]
    assert weighted == paired_p_values(by_hand, test="tukey", permutations=1000).values
