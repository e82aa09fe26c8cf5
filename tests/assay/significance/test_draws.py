"""Tests of random draws: fair, counted exactly, and the same on any number of processors."""

from __future__ import annotations

import os

import numpy as np
import pytest

from assay.significance.paired_differences import paired_p_values
from assay.significance.sign_flips import (
    BLOCK_CELLS,
    COUNTED_AT_ONCE,
    ONE_THREAD_A_PRODUCT,
    all_signs,
    block_sizes,
    count_hits,
    in_parallel,
    random_bytes,
    signs_of,
)
from tests.assay.significance.synthetic import runs


@pytest.mark.parametrize("queries", [1, 43, 6980, BLOCK_CELLS])
def test_blocks_are_small_and_hold_every_draw(queries: int) -> None:
    sizes = list(block_sizes(queries, 1000))
    assert sum(sizes) == 1000
    assert max(sizes) * queries <= BLOCK_CELLS


@pytest.mark.parametrize("queries", [1, 8, 13])
def test_signs_are_fair(queries: int) -> None:
    signs = np.concatenate([signs_of(drawn, queries) for drawn in random_bytes(queries, 30_000, 1)])
    assert signs.shape == (30_000, queries)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(signs.mean(axis=0)).max() < 0.03


def test_queries_flip_independently() -> None:
    signs = np.concatenate([signs_of(drawn, 20) for drawn in random_bytes(20, 30_000, 3)])
    together = signs.T @ signs / len(signs)
    assert np.abs(together - np.eye(20)).max() < 0.03


def test_all_signs_are_half_of_all_patterns() -> None:
    signs = np.concatenate(list(all_signs(16)))
    assert signs.shape == (2**15, 16)
    assert len(np.unique(np.concatenate([signs, -signs]), axis=0)) == 2**16


@pytest.mark.parametrize("sizes", [[5], [COUNTED_AT_ONCE + 7], [10_000, 10_000, 3], [1] * 40])
def test_every_draw_is_counted_once(sizes: list[int]) -> None:
    random = np.random.default_rng(1)
    blocks = [random.integers(-4, 5, (size, 12)).astype(np.float64) for size in sizes]
    pairs = [(a, b) for a in range(12) for b in range(12) if a != b]
    limits = np.arange(len(pairs)) % 6.0
    together = np.concatenate(blocks)
    apart = [np.abs(together[:, b] - together[:, a]) for a, b in pairs]
    plain = [int((one >= limit).sum()) for one, limit in zip(apart, limits, strict=True)]
    assert count_hits(iter(blocks), lambda block: block, pairs, limits).tolist() == plain


@pytest.mark.parametrize("round_to", [1, 12])
@pytest.mark.parametrize("queries", [43, 300])
def test_p_is_that_of_the_plain_form(queries: int, round_to: int) -> None:
    """One product for all pairs, in blocks and threads, counts the hits that pair-by-pair sums have, ties too."""
    scores, draws = np.round(runs(queries, 6), round_to), 4000
    signs = np.concatenate([signs_of(drawn, queries) for drawn in random_bytes(queries, draws, 5)])
    expected = []
    for a in range(6):
        for b in range(a + 1, 6):
            difference = scores[:, b] - scores[:, a]
            reached = np.abs(signs @ difference) >= abs(difference.sum()) - 1e-12 * queries
            expected.append((int(reached.sum()) + 1) / (draws + 1))
    assert list(paired_p_values(scores, permutations=draws, seed=5).values) == expected


@pytest.mark.parametrize("test", ["randomization", "bootstrap", "tukey"])
def test_p_does_not_depend_on_the_processors(test: str) -> None:
    affinity = os.sched_getaffinity(0)
    scores = runs(200, 12)
    many = paired_p_values(scores, test=test, permutations=2000)
    try:
        os.sched_setaffinity(0, {min(affinity)})
        one = paired_p_values(scores, test=test, permutations=2000)
    finally:
        os.sched_setaffinity(0, affinity)
    assert one == many


def test_answers_come_in_the_order_of_the_work() -> None:
    assert in_parallel(lambda number: number * number, range(50)) == [number * number for number in range(50)]


def test_threads_of_products_are_what_they_were() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with ONE_THREAD_A_PRODUCT, ONE_THREAD_A_PRODUCT:
        assert set(threads()) == {1}
    in_parallel(lambda seed: paired_p_values(runs(40, 3), permutations=2000, seed=seed), range(8))
    assert threads() == before
