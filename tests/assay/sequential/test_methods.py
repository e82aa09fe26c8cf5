"""Tests of the intervals of each sequential method."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.sequential import METHODS
from assay.sequential.asymptotic import BURN_IN, mixture_scale
from assay.sequential.group import critical_values, looks, spent
from assay.sequential.method import Observed, running_moments

# Of the field's reference: d_i = (((37 i) mod 23) - 9) / 20, alpha 0.05, tuned for 60 queries.
DIFFERENCES = np.array([((37 * i % 23) - 9) / 20 for i in range(1, 61)])
REFERENCE = {
    15: (0.09000000000000001, 0.3323079466828493, 0.27685303467301375),
    20: (0.11499999999999999, 0.3317021492084031, 0.23306055965433548),
    30: (0.08833333333333332, 0.3297552209550691, 0.18482359099363904),
    45: (0.11222222222222224, 0.3285912692422338, 0.14885787560051092),
    60: (0.10416666666666667, 0.3305480383389342, 0.12953332898701014),
}
Floats = npt.NDArray[np.float64]
BOUNDED = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=40)


def observed(differences: Floats, *, weights: Floats | None = None, planned: int | None = None) -> Observed:
    return Observed(differences, np.ones(len(differences)) if weights is None else weights, 0.05, planned)


@pytest.mark.parametrize("n", REFERENCE)
def test_the_asymptotic_sequence_matches_the_reference(n: int) -> None:
    mean, deviation, half = REFERENCE[n]
    means, deviations = running_moments(observed(DIFFERENCES))
    low, high = METHODS["asymptotic"].bounds(observed(DIFFERENCES))
    got = (means[n - 1], deviations[n - 1], (high - low)[n - 1] / 2)
    assert got == pytest.approx((mean, deviation, half), rel=1e-13)


def test_the_scale_of_the_mixture_matches_the_reference() -> None:
    assert mixture_scale(0.05) == pytest.approx(0.3825746207829455, rel=1e-14)


def test_there_is_no_asymptotic_interval_before_the_burn_in() -> None:
    low, _ = METHODS["asymptotic"].bounds(observed(DIFFERENCES))
    assert np.isnan(low[: BURN_IN - 1]).all()
    assert np.isfinite(low[BURN_IN - 1 :]).all()


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 9)), min_size=2, max_size=30))
def test_moments_match_their_definition(rows: list[tuple[float, float]]) -> None:
    d, w = np.array(rows).T
    mean = (w * d).sum() / w.sum()
    residuals = len(d) * w * (d - mean) / w.sum()
    means, deviations = running_moments(observed(d, weights=w))
    assert means[-1] == pytest.approx(mean, abs=1e-12)
    assert deviations[-1] == pytest.approx(residuals.std(ddof=1), abs=1e-6)


def test_equal_differences_have_a_deviation_of_zero() -> None:
    d = np.full(50, 0.1)
    assert running_moments(observed(d, weights=np.linspace(0.1, 3, 50)))[1].tolist() == [0.0] * 50
    assert np.isnan(METHODS["asymptotic"].bounds(observed(d))[0]).all()


def test_critical_values_match_the_published_table() -> None:
    # Five equal looks, each side spending 0.025 by the O'Brien-Fleming-type function; the tables of ldbounds.
    shares = (0.2, 0.4, 0.6, 0.8, 1.0)
    quantile = 2.241402727604947  # of the normal distribution at 1 - 0.025 / 2
    each = tuple(2 * math.erfc(quantile / math.sqrt(2 * share)) for share in shares)
    published = (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)
    assert critical_values(shares, each) == pytest.approx(published, abs=1.5e-4)


def test_the_first_look_and_a_single_look_have_closed_forms() -> None:
    assert critical_values((1.0,), spent((1.0,), 0.05)) == pytest.approx((1.959963984540054,))
    first = critical_values((0.25, 1.0), spent((0.25, 1.0), 0.05))[0]
    assert first == pytest.approx(1.959963984540054 / 0.5)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_two_looks_match_the_bivariate_normal_distribution(alpha: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    shares = (0.4, 1.0)
    first, second = critical_values(shares, spent(shares, alpha))
    correlation = math.sqrt(shares[0] / shares[1])
    normal = stats.multivariate_normal(cov=[[1, correlation], [correlation, 1]])
    inside = normal.cdf([first, second], lower_limit=[-first, -second])
    assert 1 - inside == pytest.approx(alpha, abs=1e-6)


def test_all_looks_of_a_plan_together_spend_alpha() -> None:
    plan = looks(200)
    critical = critical_values(tuple(n / 200 for n in plan), spent([n / 200 for n in plan], 0.05))
    walks = np.random.default_rng(1).standard_normal((40_000, 200)).cumsum(axis=1)
    crossed = np.zeros(len(walks), dtype=bool)
    for n, value in zip(plan, critical, strict=True):
        crossed |= np.abs(walks[:, n - 1]) >= value * math.sqrt(n)
    assert crossed.mean() == pytest.approx(0.05, abs=0.0033)


def test_a_plan_of_thousands_of_queries_has_finite_or_infinite_values() -> None:
    plan = looks(20_000)[:40]
    critical = critical_values(tuple(n / 20_000 for n in plan), spent([n / 20_000 for n in plan], 0.05))
    assert critical[0] == math.inf
    assert all(value > 3 for value in critical)


@pytest.mark.parametrize("planned", [20, 21, 45, 200])
def test_a_plan_looks_every_ten_queries_and_at_its_end(planned: int) -> None:
    assert looks(planned)[0] == 20
    assert looks(planned)[-1] == planned
    low, _ = METHODS["group"].bounds(observed(np.resize(DIFFERENCES, planned), planned=planned))
    assert (np.flatnonzero(np.isfinite(low)) + 1).tolist() == looks(planned)


def test_a_plan_needs_twenty_queries() -> None:
    with pytest.raises(NotValid):
        looks(19)


def capital(mean: float, differences: list[float], alpha: float) -> float:
    """The hedged capital of Waudby-Smith and Ramdas 2024 for one mean, one query at a time."""
    m = (mean + 1) / 2
    above = below = 1.0
    total, squares = 0.5, 0.25
    for t, difference in enumerate(differences, 1):
        x = (difference + 1) / 2
        bet = math.sqrt(2 * math.log(2 / alpha) / ((squares / t) * t * math.log(t + 1)))
        above *= 1 + min(bet, 0.5 / m) * (x - m)
        below *= 1 - min(bet, 0.5 / (1 - m)) * (x - m)
        total += x
        squares += (x - total / (t + 1)) ** 2
    return max(above, below) / 2


@given(BOUNDED)
def test_the_betting_interval_contains_the_means_whose_capital_is_small(differences: list[float]) -> None:
    low, high = METHODS["betting"].bounds(observed(np.array(differences)))
    for mean in np.linspace(-0.99, 0.99, 23):
        # Of the intersection: rejected at any query, a mean stays outside.
        most = max(capital(mean, differences[:n], 0.05) for n in range(1, len(differences) + 1))
        inside = low[-1] <= mean <= high[-1]
        near = min(abs(mean - low[-1]), abs(mean - high[-1])) < 0.0021
        assert inside == (most < 20) or near


@given(BOUNDED)
def test_betting_intervals_only_shrink(differences: list[float]) -> None:
    low, high = METHODS["betting"].bounds(observed(np.array(differences)))
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) <= 0).all()
    assert (low >= -1).all()
    assert (high <= 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_betting_intervals_cover_the_mean_at_every_query(skewed: bool, weighted: bool) -> None:
    random = np.random.default_rng(7)
    missed = 0
    for _ in range(300):
        weights = random.choice([0.2, 1.0, 5.0], 150) if weighted else np.ones(150)
        rare = np.where(random.random(150) < 0.05, 0.95, -0.05)
        differences = rare if skewed else random.uniform(-0.5, 0.5, 150)
        low, high = METHODS["betting"].bounds(observed(differences, weights=weights))
        missed += bool((low > 0).any() or (high < 0).any())
    # 5% of 300 and three standard errors.
    assert missed <= 26


@pytest.mark.parametrize("method", list(METHODS))
def test_equal_weights_change_nothing(method: str) -> None:
    planned = 60 if METHODS[method].needs_planned else None
    plain = METHODS[method].bounds(observed(DIFFERENCES, planned=planned))
    weighted = METHODS[method].bounds(observed(DIFFERENCES, weights=np.full(60, 0.25), planned=planned))
    np.testing.assert_allclose(weighted, plain, rtol=1e-12)


@pytest.mark.parametrize("method", list(METHODS))
def test_exchanged_systems_mirror_the_interval(method: str) -> None:
    planned = 60 if METHODS[method].needs_planned else None
    low, high = METHODS[method].bounds(observed(DIFFERENCES, planned=planned))
    mirrored = METHODS[method].bounds(observed(-DIFFERENCES, planned=planned))
    np.testing.assert_allclose(mirrored, (-high, -low), atol=1e-9)


@pytest.mark.parametrize("method", list(METHODS))
def test_an_interval_depends_only_on_the_queries_so_far(method: str) -> None:
    planned = 60 if METHODS[method].needs_planned else None
    whole = METHODS[method].bounds(observed(DIFFERENCES, planned=planned))
    part = METHODS[method].bounds(observed(DIFFERENCES[:40], planned=planned))
    np.testing.assert_allclose(part, [side[:40] for side in whole], rtol=1e-12)
