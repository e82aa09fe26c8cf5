"""Tests of rank correlations: equal to their authors, scipy and hand calculations."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.core.errors import NotValid
from assay.significance.rank_correlation import rank_correlation

GRADES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=12)


def order(systems: str) -> dict[str, float]:
    return {system: -float(rank) for rank, system in enumerate(systems)}


@given(GRADES)
@settings(deadline=None, max_examples=50)
def test_tau_b_is_scipys(scores: list[tuple[int, int]]) -> None:
    a, b = ({f"s{at}": float(pair[side]) for at, pair in enumerate(scores)} for side in (0, 1))
    result, expected = rank_correlation(a, b).tau_b, stats.kendalltau(list(a.values()), list(b.values())).statistic
    if math.isnan(expected):
        assert result is None
    else:
        assert result == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("wxyz", "wxyz", 1.0),
        ("wxyz", "zyxw", -1.0),
        # At the bottom: rank 4 has two of three rightly above it, so 2 (1 + 1 + 2/3) / 3 - 1.
        ("wxyz", "wxzy", 7 / 9),
        # At the top: rank 2 has none of one, so 2 (0 + 1 + 1) / 3 - 1.
        ("wxyz", "xwyz", 1 / 3),
        # Down b: w 0 of 1, x 1 of 2, z 3 of 3. Down a: x 1 of 1, y 0 of 2, z 3 of 3. Both directions are averaged.
        ("wxyz", "ywxz", ((0 + 1 / 2 + 1) / 3 * 2 - 1 + (1 + 0 + 1) / 3 * 2 - 1) / 2),
    ],
)
def test_tau_ap_by_hand(a: str, b: str, expected: float) -> None:
    assert rank_correlation(order(a), order(b)).tau_ap == pytest.approx(expected, abs=1e-12)


def test_tau_ap_with_ties_by_hand() -> None:
    # Walked down a (x = y > z): z has both above in b too: 1. Walked down b (x > y > z): y has x above, tied in a: 0;
    # z has both: 1; so 2 (1/2) - 1 = 0. Variant b is the mean.
    a, b = {"x": 0.5, "y": 0.5, "z": 0.3}, {"x": 0.5, "y": 0.4, "z": 0.3}
    assert rank_correlation(a, b).tau_ap == rank_correlation(b, a).tau_ap == 0.5


@given(GRADES)
@settings(deadline=None, max_examples=50)
def test_both_directions_and_any_scale_give_the_same(scores: list[tuple[int, int]]) -> None:
    a, b = ({f"s{at}": pair[side] / 7 for at, pair in enumerate(scores)} for side in (0, 1))
    result, mirrored = rank_correlation(a, b), rank_correlation(b, a)
    assert (result.tau_b, result.tau_ap) == pytest.approx((mirrored.tau_b, mirrored.tau_ap), abs=1e-12)
    assert result == rank_correlation({name: 3 * score + 1 for name, score in a.items()}, b)
    assert result.rbo == pytest.approx(mirrored.rbo, abs=1e-12)
    assert all(value is None or -1 - 1e-12 <= value <= 1 + 1e-12 for value in (result.tau_b, result.tau_ap, result.rbo))


@pytest.mark.parametrize(
    ("a", "b", "p", "expected"),
    [
        # rbo 0.1.3 (PyPI), RankingSimilarity(list(a), list(b)).rbo_ext(p).
        ("abcde", "abcde", 0.9, 1.0),
        ("abcde", "edcba", 0.9, 0.737775),
        ("abcdef", "bacdfe", 0.9, 0.886878),
        ("abcdef", "bacdfe", 0.8, 0.783616),
    ],
)
def test_rbo_is_that_of_the_package(a: str, b: str, p: float, expected: float) -> None:
    assert rank_correlation(order(a), order(b), p).rbo == pytest.approx(expected, abs=1e-12)


def test_rbo_with_ties_by_hand() -> None:
    # a has x and y on rank 1: depth 1 shares x, 2 * 1 / (2 + 1); depth 2 shares both, 1.
    a, b = {"x": 1.0, "y": 1.0}, {"x": 1.0, "y": 0.0}
    assert rank_correlation(a, b, 0.5).rbo == pytest.approx(1 * 0.25 + (0.5 * 2 / 3 + 0.25 * 1), abs=1e-12)


def test_scores_that_differ_by_rounding_are_tied() -> None:
    a, b = {"x": 0.3, "y": 0.1 + 0.2, "z": 0.0}, {"x": 0.3, "y": 0.3, "z": 0.0}
    assert rank_correlation(a, b).tau_b == 1.0


def test_undefined_is_stated() -> None:
    tied = rank_correlation({"x": 0.5, "y": 0.5}, {"x": 0.5, "y": 0.4})
    assert (tied.tau_b, tied.tau_ap) == (None, None)
    assert tied.reasons["tau_b"] == tied.reasons["tau_ap"] == "all systems are tied in one of the orders"
    assert tied.rbo is not None
    assert (
        rank_correlation({"x": 0.5}, {"x": 0.4}).as_json()["reasons"]["rbo"]
        == "at least two systems are needed for an order"
    )


def test_wrong_input_is_refused() -> None:
    with pytest.raises(NotValid, match="'y' is in only one order"):
        rank_correlation({"x": 1.0}, {"x": 1.0, "y": 2.0})
    with pytest.raises(NotValid, match="not a number"):
        rank_correlation({"x": math.nan, "y": 1.0}, {"x": 1.0, "y": 2.0})
    with pytest.raises(NotValid, match="between 0 and 1"):
        rank_correlation({"x": 1.0, "y": 2.0}, {"x": 1.0, "y": 2.0}, p=1.0)
