"""Wilcoxon's signed-rank test."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from assay.metrics.metric import TIE
from assay.significance.paired_differences import PairedScores, PairedTest, PValues
from assay.significance.sign_flips import Floats, Whole

# Above this, the normal approximation is accurate to three digits; scipy uses the same limit.
MOST_EXACT = 50


def signed_rank(given: PairedScores) -> PValues:
    """Compute Wilcoxon's signed-rank test of each pair."""
    values = tuple(_p(given.difference(pair)) for pair in given.pairs)
    return PValues(values, (None,) * len(values))


def _p(difference: Floats) -> float:
    nonzero = difference[np.abs(difference) > TIE]
    if not len(nonzero):
        return 1.0
    ranks, group_sizes = _ranks(np.abs(nonzero))
    positive = float(ranks[nonzero > 0].sum())
    smaller = min(positive, len(nonzero) * (len(nonzero) + 1) / 2 - positive)
    if len(nonzero) <= MOST_EXACT and len(group_sizes) == len(nonzero):
        patterns = _patterns_up_to(len(nonzero))[round(smaller)]
        return min(1.0, 2.0 * patterns / 2.0 ** len(nonzero))
    return _normal(smaller, len(nonzero), group_sizes)


def _ranks(sizes: Floats) -> tuple[Floats, Whole]:
    """Return ranks from the smallest, with mean ranks for ties, and how many share each rank."""
    order = np.argsort(sizes, kind="stable")
    begins = np.flatnonzero(np.diff(sizes[order], prepend=-1.0) > TIE)
    group_sizes = np.diff(begins, append=len(sizes))
    ranks = np.empty(len(sizes))
    ranks[order] = np.repeat(begins + (group_sizes + 1) / 2, group_sizes)
    return ranks, group_sizes


@cache
def _patterns_up_to(size: int) -> tuple[float, ...]:
    """Return how many of the 2^size sign patterns have a rank sum of at most 0, 1, 2, ...; exact, because all are below
    2^53."""
    counts = np.zeros(size * (size + 1) // 2 + 1)
    counts[0] = 1
    for rank in range(1, size + 1):
        counts[rank:] += counts[:-rank].copy()
    return tuple(np.cumsum(counts).tolist())


def _normal(smaller: float, size: int, group_sizes: Whole) -> float:
    ties = float((group_sizes.astype(np.float64) ** 3 - group_sizes).sum())
    variance = size * (size + 1) * (2 * size + 1) / 24 - ties / 48
    return math.erfc((size * (size + 1) / 4 - smaller) / math.sqrt(2 * variance))


WILCOXON = PairedTest(
    name="wilcoxon",
    title="Wilcoxon signed rank",
    description="Assumes differences that are symmetric around their median; uses their ranks, not their sizes.",
    source="Wilcoxon 1945",
    draws=False,
    compute=signed_rank,
    has_weighted_form=False,
)
