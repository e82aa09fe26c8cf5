"""Tests of resampling queries: fixed number, equal chances, within strata, the same for all runs."""

from __future__ import annotations

import numpy as np
from scipy import stats

from assay.scoring import intervals
from assay.scoring.intervals import resampled_counts, resampled_means


def drawn(sizes: list[int], resamples: int, seed: int) -> np.ndarray:
    return np.concatenate([block.copy() for block in resampled_counts(sizes, resamples, seed)])


def test_each_resample_holds_as_many_queries_as_there_are_in_each_stratum() -> None:
    counts = drawn([5, 1, 30], 500, 3)
    assert counts.shape == (500, 36)
    for begin, end in ((0, 5), (5, 6), (6, 36)):
        assert (counts[:, begin:end].sum(axis=1) == end - begin).all()


def test_counts_are_those_of_draws_with_replacement() -> None:
    counts = drawn([20], 20_000, 11)
    _, p = stats.chisquare(counts.sum(axis=0))
    assert p > 1e-4
    often = np.bincount(counts[:, 0].astype(int), minlength=5)[:5]
    expected = stats.binom.pmf(np.arange(5), 20, 1 / 20) * len(counts)
    assert np.abs(often - expected).max() < 5 * np.sqrt(expected.max())


def test_seeds_repeat_and_differ() -> None:
    assert (drawn([40], 50, 1) == drawn([40], 50, 1)).all()
    assert (drawn([40], 50, 1) != drawn([40], 50, 2)).any()


def test_more_resamples_than_one_block_holds() -> None:
    queries = intervals.BLOCK_CELLS // 4
    sizes = [len(block) for block in resampled_counts([queries], 9, 0)]
    assert sizes == [4, 4, 1]


def test_every_column_shares_the_draws() -> None:
    values = np.random.default_rng(0).random((30, 3))
    values[4, 1] = np.nan
    rows = [np.arange(10), np.arange(10, 30)]
    weights = np.linspace(1, 2, 30)
    together = resampled_means(values, np.zeros(3), weights, rows, resamples=50, seed=5)
    alone = resampled_means(values[:, 1:2], np.zeros(1), weights, rows, resamples=50, seed=5)
    assert np.allclose(together[:, 1], alone[:, 0], rtol=1e-13)


def test_each_mean_is_the_weighted_mean_of_the_queries_drawn() -> None:
    random = np.random.default_rng(2)
    values, weights = random.random((12, 2)), random.random(12)
    values[3, 1] = np.nan
    groups = np.array([0, 1] * 6)
    rows = [np.flatnonzero(groups == 0), np.flatnonzero(groups == 1)]
    result = resampled_means(values, values[0], weights, rows, resamples=20, seed=9)
    order = np.concatenate(rows)
    for counts, means in zip(drawn([6, 6], 20, 9), result, strict=True):
        heavy = np.zeros(12)
        heavy[order] = counts * weights[order]
        known = ~np.isnan(values[:, 1])
        assert np.isclose(means[0], (heavy * values[:, 0]).sum() / heavy.sum(), rtol=1e-12)
        assert np.isclose(means[1], (heavy[known] * values[known, 1]).sum() / heavy[known].sum(), rtol=1e-12)


def test_a_resample_without_weight_has_no_mean() -> None:
    weights = np.array([1.0, 0.0, 0.0])
    result = resampled_means(np.ones((3, 1)), np.ones(1), weights, [np.arange(3)], resamples=200, seed=0)
    assert 0 < np.isnan(result).sum() < 200
    assert (result[~np.isnan(result)] == 1.0).all()
