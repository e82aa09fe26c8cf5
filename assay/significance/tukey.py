"""Randomized Tukey HSD test, which shuffles the runs within each query."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from assay.significance.paired_differences import PairedScores, PairedTest, PValues, limits, of_draws
from assay.significance.randomization import sign_flip
from assay.significance.sign_flips import Floats, Whole, in_parallel

# Number of keys to shuffle at a time, so that they and their scores stay in a processor's own cache.
KEYS_AT_ONCE = 1 << 15
# Up to this many runs, all orders are listed (720), and drawing one of them is several times faster than shuffling.
MOST_LISTED = 6


def randomized_tukey(given: PairedScores) -> PValues:
    """Compute the randomized Tukey HSD: the distance between best and worst run under shuffled labels.

    The runs are permuted at random within each query. The p of a pair is the share of permutations whose largest
    difference of means between any two runs reaches the difference of the pair: (hits + 1) / (permutations + 1). It
    holds for all pairs together, even if only some are requested, and accounts for their dependence, so no correction
    may follow. With two runs it is the sign-flip test. With weights, the scores times their weights are permuted.
    """
    if given.scores.shape[1] == 2:
        return sign_flip(given)
    reach = np.sort(_largest_differences(given.weighted, given.permutations, given.seed))
    hits = len(reach) - np.searchsorted(reach, limits(given), side="left")
    return of_draws(hits, given.permutations)


def _largest_differences(scores: Floats, draws: int, seed: int) -> Floats:
    """Return the distance between the largest and the smallest sum of a run in each draw."""
    rows = max(1, KEYS_AT_ONCE // scores.shape[1])
    sizes = [min(rows, draws - begin) for begin in range(0, draws, rows)]
    # Each block has its own generator, so that its draws do not depend on the thread.
    seeds = np.random.SeedSequence(seed).spawn(len(sizes))
    blocks = zip(sizes, seeds, strict=True)
    return np.concatenate(in_parallel(lambda block: _block(scores, *block), blocks))


def _block(scores: Floats, draws: int, seed: np.random.SeedSequence) -> Floats:
    random = np.random.default_rng(seed)
    runs = scores.shape[1]
    orders = np.array(list(permutations(range(runs)))) if runs <= MOST_LISTED else None
    sums, picked = np.zeros((draws, runs)), np.empty((draws, runs))
    for of_query in scores:
        if orders is None:
            of_query.take(_shuffled(random, draws, runs), out=picked, mode="clip")
        else:
            of_query[orders].take(random.integers(0, len(orders), draws), axis=0, out=picked, mode="clip")
        sums += picked
    spread: Floats = sums.max(axis=1) - sums.min(axis=1)
    return spread


def _shuffled(random: np.random.Generator, draws: int, runs: int) -> Whole:
    """Draw orders of the runs, shape (draws, runs): sorted random keys whose lowest bits are the run's position."""
    place = (1 << (runs - 1).bit_length()) - 1
    keys = random.integers(0, 1 << 64, (draws, runs), dtype=np.uint64)
    keys &= np.uint64(~place & 0xFFFF_FFFF_FFFF_FFFF)
    keys |= np.arange(runs, dtype=np.uint64)
    keys.sort(axis=1)
    keys &= np.uint64(place)
    return keys.view(np.int64)


TUKEY = PairedTest(
    name="tukey",
    title="Randomized Tukey HSD",
    description=(
        "Assumes that the scores of runs that do not differ can be exchanged within each query; corrects for all pairs."
    ),
    source="Carterette 2012",
    draws=True,
    compute=randomized_tukey,
    corrects_itself=True,
)
