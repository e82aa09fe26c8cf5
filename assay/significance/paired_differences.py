"""Paired significance tests: their inputs, results and common steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.significance import TESTS
from assay.significance.sign_flips import Floats, Pairs, Whole

LEAST_QUERIES = 6
PERMUTATIONS = 100_000
# Sums of the same numbers in another order differ by this much for each query, and count as equal.
ROUNDING = 1e-12


@dataclass(frozen=True)
class PValues:
    """The two-sided p-value of each pair of runs."""

    values: tuple[float | None, ...]
    reasons: tuple[str | None, ...]
    smallest: float | None = None
    draws: int | None = None


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Input of a test."""

    scores: Floats
    pairs: Pairs
    permutations: int
    seed: int
    weights: Floats
    strata: tuple[Whole, ...]

    @property
    def weighted(self) -> Floats:
        """Return the scores times their weights, shape (queries, runs)."""
        return self.scores * self.weights[:, None]

    def difference(self, pair: tuple[int, int]) -> Floats:
        """Return the difference of a pair on each query, second run minus first, without weights."""
        first, second = pair
        return self.scores[:, second] - self.scores[:, first]


@dataclass(frozen=True)
class PairedTest:
    """A test of paired differences.

    Parameters
    ----------
    name, title, description, source : str
        The name that users type, its readable form, a line about its assumptions, and its source.
    draws : bool
        Whether it uses random draws, with a number of permutations and a seed.
    compute : callable
        ``compute(PairedScores) -> PValues``.
    has_weighted_form : bool
        Whether it can test differences weighted by a sampling design.
    corrects_itself : bool
        Whether its p-values hold for all pairs of runs together, without further correction.
    """

    name: str
    title: str
    description: str
    source: str
    draws: bool
    compute: Callable[[PairedScores], PValues]
    has_weighted_form: bool = True
    corrects_itself: bool = False


def paired_p_values(
    scores: Floats,
    pairs: Pairs | None = None,
    *,
    test: str = "randomization",
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    weights: Sequence[float] | None = None,
    strata: Sequence[str] | None = None,
) -> PValues:
    """Test pairs of runs on the same queries.

    Parameters
    ----------
    scores : float64 array, shape (queries, runs)
        A metric of each run on each query, without NaN. It is not changed.
    pairs : sequence of (int, int), optional
        Columns to compare; all pairs by default, the lower column first.
    test : str
        A member of ``assay.significance.TESTS``.
    permutations, seed : int
        Number of draws and seed, for tests with random draws.
    weights : sequence of float, optional
        For each query its share of traffic divided by its inclusion probability, above 0: the weighted mean of the
        differences, sum(w d) / sum(w), is tested.
    strata : sequence of str, optional
        With weights: the tier in which each query was drawn. Tests that resample queries or estimate a variance do so
        within the tiers.

    Returns
    -------
    PValues
        A p-value for each pair. Below 6 queries all are None: the smallest p of the sign-flip test is 2 / 2^n, so no
        difference could be significant at .05.

    Raises
    ------
    NotValid
        When a score is NaN or infinite, there are no draws, a weight is not above 0, or the test has no weighted form.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.2], [0.2, 0.3], [0.3, 0.5], [0.1, 0.4], [0.5, 0.6], [0.2, 0.9]])
    >>> paired_p_values(scores).values
    (0.03125,)
    >>> paired_p_values(scores[:5]).reasons
    ('fewer than 6 queries: the p-value of a sign-flip test cannot reach .05',)
    """
    member = TESTS[test]
    chosen = list(combinations(range(scores.shape[1]), 2)) if pairs is None else list(pairs)
    if not np.isfinite(scores).all():
        raise NotValid("a score is missing; compare runs on the queries that all of them answer")
    if permutations < 1:
        raise NotValid(f"permutations is {permutations}; use at least 1")
    if weights is not None and not member.has_weighted_form:
        able = ", ".join(name for name, one in TESTS.items() if one.has_weighted_form)
        raise NotValid(f"the test {test} has no weighted form; use {able}, or remove the weights")
    scale, groups = (
        scaled_weights(weights, len(scores)),
        strata_rows(None if weights is None else strata, len(scores)),
    )
    if len(scores) < LEAST_QUERIES:
        reason = f"fewer than {LEAST_QUERIES} queries: the p-value of a sign-flip test cannot reach .05"
        return PValues((None,) * len(chosen), (reason,) * len(chosen))
    table = np.ascontiguousarray(scores, dtype=np.float64)
    return member.compute(PairedScores(table, chosen, permutations, seed, scale, groups))


def scaled_weights(weights: Sequence[float] | None, queries: int) -> Floats:
    """Return weights that sum to the number of queries; all 1 without a design.

    Raises
    ------
    NotValid
        When the number of weights is wrong, or a weight is not above 0.

    Examples
    --------
    >>> scaled_weights([1.0, 3.0], 2).tolist(), scaled_weights(None, 2).tolist()
    ([0.5, 1.5], [1.0, 1.0])
    """
    if weights is None:
        return np.ones(queries)
    scaled = np.asarray(weights, dtype=np.float64)
    if len(scaled) != queries:
        raise NotValid(
            f"{amount(queries, 'query', 'queries')} and {amount(len(scaled), 'weight')}; the numbers must match"
        )
    if not (np.isfinite(scaled).all() and (scaled > 0).all()):
        raise NotValid("a weight is not above 0; leave out queries without traffic")
    if scaled.min() == scaled.max():
        # Exactly as without weights, whatever rounding does to their sum.
        return np.ones(queries)
    return np.asarray(scaled * (queries / scaled.sum()), dtype=np.float64)


def strata_rows(strata: Sequence[str] | None, queries: int) -> tuple[Whole, ...]:
    """Return the rows of each stratum, sorted by name; one stratum with all rows if there are none.

    Raises
    ------
    NotValid
        When the number of strata is wrong.

    Examples
    --------
    >>> [rows.tolist() for rows in strata_rows(["tail", "head", "tail"], 3)]
    [[1], [0, 2]]
    """
    if strata is None:
        return (np.arange(queries),)
    if len(strata) != queries:
        raise NotValid(
            f"{amount(queries, 'query', 'queries')} and {amount(len(strata), 'stratum', 'strata')}; the numbers "
            "must match"
        )
    names = np.asarray(strata)
    return tuple(np.flatnonzero(names == name) for name in np.unique(names))


def lonely(strata: Sequence[Whole]) -> str | None:
    """Return why the variance within strata is unknown, or None if each has two queries."""
    if len(strata) > 1 and min(map(len, strata)) < 2:
        return "a tier has only one query, so its variance is unknown"
    return None


def limits(given: PairedScores) -> Floats:
    """Return how far apart two sums must be to count as a hit: the observed distance minus a rounding tolerance."""
    weighted = given.weighted
    total = weighted.sum(axis=0)
    observed = np.array([abs(total[second] - total[first]) for first, second in given.pairs], dtype=np.float64)
    scale = max(1.0, float(np.abs(weighted).max(initial=0.0)))
    return np.asarray(observed - ROUNDING * len(weighted) * scale, dtype=np.float64)


def of_draws(hits: Whole, draws: int) -> PValues:
    """Return p = (hits + 1) / (draws + 1), which is never 0. Source: Phipson and Smyth 2010."""
    return PValues(tuple(((hits + 1) / (draws + 1)).tolist()), (None,) * len(hits), 1 / (draws + 1), draws)


def constant(difference: Floats) -> str | None:
    """Return why a test that needs variance has none, or None if there is variance or no difference."""
    largest = float(np.abs(difference).max())
    if largest > 0 and difference.std(ddof=1) <= ROUNDING * largest:
        return "all queries differ by the same amount, so there is no variance to test against"
    return None
