"""Tests of the lower limit for unaudited pairs: coverage, repeated looks, several judges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binomtest, hypergeom

from assay.coefficients.audit_bound import ALPHA, _at_least, alpha_of, right_outside
from assay.core.errors import NotValid


@pytest.mark.parametrize("alpha", [0.0125, 0.05, 0.2])
def test_estimate_is_too_high_at_most_as_often_as_stated(alpha: float) -> None:
    """Every population of up to 12 with every number of right ones: the exact chance of a limit above the truth."""
    for population in range(2, 13):
        for sampled, right_in_all in itertools.product(range(1, population), range(population + 1)):
            wrong = 0.0
            for seen in range(max(0, sampled - (population - right_in_all)), min(sampled, right_in_all) + 1):
                limit = right_outside(population, sampled, seen, alpha)
                assert limit is not None
                if limit > (right_in_all - seen) / (population - sampled) + 1e-12:
                    wrong += hypergeom.pmf(seen, population, right_in_all, sampled)
            assert wrong <= alpha + 1e-9


@pytest.mark.parametrize(("sampled", "right"), [(30, 30), (100, 97), (400, 388)])
def test_in_a_large_population_it_is_the_exact_limit_of_a_share(sampled: int, right: int) -> None:
    expected = binomtest(right, sampled, alternative="greater").proportion_ci(0.95, "exact").low
    assert right_outside(10_000_000, sampled, right, 0.05) == pytest.approx(expected, abs=2e-4)


@pytest.mark.slow
def test_looking_while_people_judge_query_by_query_costs_nothing() -> None:
    """All errors are in the queries that are judged last: whoever looks early is never told more than in the end."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        right = np.sort(rng.random(80) < rng.uniform(0.8, 1.0))[::-1]
        limits = [right_outside(400, 80, int(right[:judged].sum()), 0.0125) for judged in range(81)]
        assert max(limit for limit in limits if limit is not None) == limits[-1]


def test_error_shares_of_judges_and_looks_add_up() -> None:
    spent = [alpha_of(judge, look) for judge in range(1, 400) for look in range(1, 40)]
    assert 0.99 * ALPHA < sum(spent) <= ALPHA
    assert alpha_of(1, 1) > alpha_of(2, 1) > alpha_of(2, 2)


def test_empty_and_invalid_input() -> None:
    assert right_outside(10, 0, 0, 0.05) is None
    for numbers in ((10, 11, 1, 0.05), (10, 5, 6, 0.05), (10, 5, 5, 0.0), (10, 5, -1, 0.05)):
        with pytest.raises(NotValid):
            right_outside(*numbers)


def test_the_upper_tail_is_that_of_scipy() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        population = int(rng.integers(2, 5_000))
        right_in_all, sampled = (int(rng.integers(1, population + 1)) for _ in range(2))
        right = int(rng.integers(0, sampled + 1))
        expected = hypergeom.sf(right - 1, population, right_in_all, sampled)
        assert _at_least(right, population, right_in_all, sampled) == pytest.approx(expected, rel=1e-7, abs=1e-12)
