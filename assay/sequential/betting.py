"""Betting confidence sequence of a bounded mean, valid without approximation."""

from __future__ import annotations

import math

import numpy as np

from assay.sequential.method import Floats, Method, Observed

# Candidate means; an interval ends at one of them, rounded outwards.
STEP = 0.001
_MEANS = np.linspace(0.0, 1.0, round(2 / STEP) + 1)
# The largest share of the capital that a bet may risk.
_RISKED = 0.5


def _bounds(observed: Observed) -> tuple[Floats, Floats]:
    """Bet for and against each candidate mean; the interval contains those that have not multiplied the capital.

    Differences d in [-1, 1] are moved to x = (d + 1) / 2. Under a candidate mean m, w (x - m) has mean 0 for queries
    drawn at random, so that the capital prod(1 + bet w (x - m)) reaches 2 / alpha with probability alpha / 2 at most.
    """
    values = (observed.differences + 1) / 2
    weights = observed.weights / observed.weights.max(initial=1e-300)
    bets = _bets(values, weights, observed.alpha)
    low, high = np.empty(len(values)), np.empty(len(values))
    limit, means = math.log(2 / observed.alpha), _MEANS
    above, below = np.zeros(len(means)), np.zeros(len(means))
    for place, (value, weight, bet) in enumerate(zip(values.tolist(), weights.tolist(), bets.tolist(), strict=True)):
        gain = weight * (value - means)
        with np.errstate(divide="ignore"):
            above += np.log1p(np.minimum(bet, _RISKED / means) * gain)
            below += np.log1p(np.minimum(bet, _RISKED / (1 - means)) * -gain)
        inside = np.flatnonzero(np.maximum(above, below) < limit)
        if len(inside):
            # The intersection of all intervals so far covers the mean as well as each of them does.
            window = slice(max(0, int(inside[0]) - 1), int(inside[-1]) + 2)
            means, above, below = means[window], above[window], below[window]
        low[place], high[place] = 2 * means[0] - 1, 2 * means[-1] - 1
    return low, high


def _bets(values: Floats, weights: Floats, alpha: float) -> Floats:
    """Return the bet on each query, which depends only on the queries before it."""
    counts = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (counts + 1)
    variances = (0.25 + np.cumsum((weights * (values - means)) ** 2)) / (counts + 1)
    before = np.concatenate(([0.25], variances[:-1]))
    bets: Floats = np.sqrt(2 * math.log(2 / alpha) / (before * counts * np.log(counts + 1)))
    return bets


BETTING = Method(
    name="betting",
    title="Betting confidence sequence",
    description="Valid after every query without approximation, and wider; for metrics between 0 and 1.",
    source="Waudby-Smith and Ramdas 2024, Journal of the Royal Statistical Society B, section 4",
    bounds=_bounds,
    needs_bounded=True,
    farthest=5_000,
)
