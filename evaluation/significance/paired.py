"""How likely is so large a difference between two runs when neither is better?

The unit is the query, and the runs answer the same queries. Under signs e the difference of two means is
(e.Sj - e.Si) / n, so one product of signs and scores serves every pair of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evaluation.significance import TESTS
from evaluation.significance.draws import Floats, all_signs, random_signs, resampled_counts
from judgments.core.errors import NotValid

Pairs = Sequence[tuple[int, int]]

LEAST_QUERIES = 6
MOST_ENUMERATED = 16
PERMUTATIONS = 100_000
# Sums of the same numbers in another order differ by this much for each query, and count as equal.
ROUNDING = 1e-12


@dataclass(frozen=True)
class PValues:
    """The two-sided p of each pair of runs.

    Parameters
    ----------
    values : tuple of float or None
        None where the test is undefined.
    reasons : tuple of str or None
        Why, exactly where the value is None.
    smallest : float or None
        The least p that the test can give with so many queries and draws; None where there is no such floor.
    draws : int or None
        How many sign patterns or resamples were looked at; None for a test by formula.
    """

    values: tuple[float | None, ...]
    reasons: tuple[str | None, ...]
    smallest: float | None = None
    draws: int | None = None


@dataclass(frozen=True)
class PairedTest:
    """A member of the family: one way to test paired differences.

    Parameters
    ----------
    name, title, description, source : str
        The name that users type, its readable form, one line on what it assumes, and where it comes from.
    draws : bool
        Whether it draws at random, and so takes a number of permutations and a seed.
    compute : callable
        ``compute(scores, pairs, permutations, seed) -> PValues``, with scores of shape (queries, runs).
    """

    name: str
    title: str
    description: str
    source: str
    draws: bool
    compute: Callable[[Floats, Pairs, int, int], PValues]


def paired_p_values(
    scores: Floats,
    pairs: Pairs | None = None,
    *,
    test: str = "randomization",
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> PValues:
    """Test pairs of runs on the same queries.

    Parameters
    ----------
    scores : float64 array, shape (queries, runs)
        One metric of each run on each query, without NaN.
    pairs : sequence of (int, int), optional
        Columns to compare; all pairs by default, the lower column first.
    test : str
        A member of ``evaluation.significance.TESTS``.
    permutations, seed : int
        How many draws, from which seed, for a test that draws.

    Returns
    -------
    PValues
        One p for each pair. Below 6 queries all are None: the smallest p of the sign-flip test is 2 / 2^n, so nothing
        could be told from luck at .05.

    Raises
    ------
    NotValid
        When a score is NaN, or there is no draw to be made.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.2], [0.2, 0.3], [0.3, 0.5], [0.1, 0.4], [0.5, 0.6], [0.2, 0.9]])
    >>> paired_p_values(scores).values
    (0.03125,)
    >>> paired_p_values(scores[:5]).reasons
    ('fewer than 6 queries: no p of a sign-flip test can reach .05',)
    """
    member = TESTS[test]
    chosen = list(combinations(range(scores.shape[1]), 2)) if pairs is None else list(pairs)
    if np.isnan(scores).any():
        raise NotValid("a score is missing; compare runs on the queries that all of them have")
    if permutations < 1:
        raise NotValid(f"permutations is {permutations}; give at least 1")
    if len(scores) < LEAST_QUERIES:
        reason = f"fewer than {LEAST_QUERIES} queries: no p of a sign-flip test can reach .05"
        return PValues((None,) * len(chosen), (reason,) * len(chosen))
    return member.compute(np.ascontiguousarray(scores, dtype=np.float64), chosen, permutations, seed)


def sign_flip(scores: Floats, pairs: Pairs, permutations: int, seed: int) -> PValues:
    """Flip the sign of each query's difference at random: the share of patterns whose mean is as far from 0.

    Up to 16 queries all patterns are looked at and p = hits / 2^n. Above, p = (hits + 1) / (permutations + 1), which is
    never 0. Source: Fisher 1935; Phipson and Smyth 2010 for the added one.
    """
    queries = len(scores)
    limits = _limits(scores, pairs)
    if queries <= MOST_ENUMERATED:
        patterns = 1 << queries
        hits = 2 * _hits(scores, pairs, limits, all_signs(queries))
        return _all_defined(hits / patterns, 2 / patterns, patterns)
    hits = _hits(scores, pairs, limits, random_signs(queries, permutations, seed))
    return _all_defined((hits + 1) / (permutations + 1), 1 / (permutations + 1), permutations)


def paired_t(scores: Floats, pairs: Pairs, permutations: int, seed: int) -> PValues:
    """Compute Student's paired t test, t = mean / (sd / sqrt(n)) with n - 1 degrees of freedom.

    Identical runs have p = 1. A constant difference has no t. Source: Student 1908.
    """
    from scipy.special import stdtr

    values: list[float | None] = []
    reasons: list[str | None] = []
    for first, second in pairs:
        difference = scores[:, second] - scores[:, first]
        mean, spread = difference.mean(), difference.std(ddof=1)
        reason = _constant(difference)
        reasons.append(reason)
        if reason is None and spread > 0:
            values.append(float(2 * stdtr(len(difference) - 1, -abs(mean) / (spread / np.sqrt(len(difference))))))
        else:
            values.append(None if reason else 1.0)
    return PValues(tuple(values), tuple(reasons))


def bootstrap(scores: Floats, pairs: Pairs, permutations: int, seed: int) -> PValues:
    """Draw queries again from differences that are shifted to mean 0: the share of means as far from 0.

    p = (hits + 1) / (permutations + 1). A constant difference has no spread to draw from. Source: Efron and Tibshirani
    1993, section 16.4; Smucker, Allan and Carterette 2007 (the shift method).
    """
    shifted = scores - scores.mean(axis=0)
    hits = _hits(shifted, pairs, _limits(scores, pairs), resampled_counts(len(scores), permutations, seed))
    found = _all_defined((hits + 1) / (permutations + 1), 1 / (permutations + 1), permutations)
    reasons = tuple(_constant(scores[:, second] - scores[:, first]) for first, second in pairs)
    values = tuple(None if reason else value for value, reason in zip(found.values, reasons, strict=True))
    return PValues(values, reasons, found.smallest, permutations)


def _limits(scores: Floats, pairs: Pairs) -> Floats:
    """How large a sum must be to count as a hit: the observed one, less what rounding may have done to it."""
    total = scores.sum(axis=0)
    observed = np.array([abs(total[second] - total[first]) for first, second in pairs], dtype=np.float64)
    scale = max(1.0, float(np.abs(scores).max(initial=0.0)))
    return np.asarray(observed - ROUNDING * len(scores) * scale, dtype=np.float64)


def _hits(
    scores: Floats, pairs: Pairs, limits: Floats, blocks: Iterable[Floats]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Count for each pair the draws whose weighted sum of differences reaches its limit."""
    hits = np.zeros(len(pairs), dtype=np.int64)
    for weights in blocks:
        sums = np.ascontiguousarray((weights @ scores).T)
        room = np.empty(len(weights))
        for at, (first, second) in enumerate(pairs):
            np.subtract(sums[second], sums[first], out=room)
            np.abs(room, out=room)
            hits[at] += np.count_nonzero(room >= limits[at])
    return hits


def _all_defined(values: Floats, smallest: float, draws: int) -> PValues:
    return PValues(tuple(map(float, values)), (None,) * len(values), smallest, draws)


def _constant(difference: Floats) -> str | None:
    largest = float(np.abs(difference).max())
    if largest > 0 and difference.std(ddof=1) <= ROUNDING * largest:
        return "every query differs by the same amount: there is no spread to test against"
    return None


RANDOMIZATION = PairedTest(
    name="randomization",
    title="Sign-flip randomization",
    description="Assumes only that, without a difference, each query could as well have gone the other way.",
    source="Fisher 1935; Smucker, Allan and Carterette 2007",
    draws=True,
    compute=sign_flip,
)
PAIRED_T = PairedTest(
    name="t",
    title="Paired t",
    description="Assumes differences that are roughly normal, or many queries; by formula, without a draw.",
    source="Student 1908",
    draws=False,
    compute=paired_t,
)
BOOTSTRAP = PairedTest(
    name="bootstrap",
    title="Paired bootstrap",
    description="Assumes that the queries at hand stand for all queries; draws them again, shifted to no difference.",
    source="Efron and Tibshirani 1993, section 16.4",
    draws=True,
    compute=bootstrap,
)
