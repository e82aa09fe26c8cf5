"""Tests of properties of all paired tests: level, symmetry, seeds and refused input."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import NotValid, UnknownName
from assay.significance import TESTS
from assay.significance.paired_differences import paired_p_values, scaled_weights, strata_rows
from tests.assay.significance.synthetic import alike, runs

# The tests whose p is that of the pair alone.
ONE_PAIR = [name for name, test in TESTS.items() if not test.corrects_itself]
WEIGHTED = [name for name, test in TESTS.items() if test.has_weighted_form]
UNWEIGHTED = [name for name, test in TESTS.items() if not test.has_weighted_form]
DRAWING = [name for name, test in TESTS.items() if test.draws]


def test_the_names_are_the_contract() -> None:
    assert list(TESTS) == ["randomization", "t", "bootstrap", "wilcoxon", "sign", "tukey"]
    assert UNWEIGHTED == ["wilcoxon", "sign"]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("queries", [6, 20])
def test_identical_runs_have_p_1(test: str, queries: int) -> None:
    scores = np.repeat(runs(queries, 1), 3, axis=1)
    assert paired_p_values(scores, test=test, permutations=500).values == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("test", TESTS)
def test_the_order_of_two_runs_does_not_matter(test: str) -> None:
    scores = runs(30, 3)
    one = paired_p_values(scores, [(0, 1), (0, 2)], test=test, permutations=2000)
    other = paired_p_values(scores, [(1, 0), (2, 0)], test=test, permutations=2000)
    assert one.values == pytest.approx(other.values, abs=1e-12)


@pytest.mark.parametrize("test", ONE_PAIR)
def test_the_p_value_of_a_pair_does_not_depend_on_other_runs(test: str) -> None:
    scores = runs(30, 5)
    together = paired_p_values(scores, test=test, permutations=2000).values
    alone = paired_p_values(scores[:, :2], test=test, permutations=2000).values
    assert together[0] == pytest.approx(alone[0], abs=1e-12)


@pytest.mark.parametrize("test", TESTS)
def test_a_shared_gain_on_a_query_does_not_matter(test: str) -> None:
    scores = np.round(runs(25, 3), 3)
    shifted = scores + np.linspace(-0.4, 0.4, 25)[:, None]
    one = paired_p_values(scores, test=test, permutations=1000, seed=3).values
    assert paired_p_values(shifted, test=test, permutations=1000, seed=3).values == pytest.approx(one, abs=1e-9)


@pytest.mark.parametrize("test", DRAWING)
def test_the_seed_decides(test: str) -> None:
    scores = runs(30, 4)
    one = paired_p_values(scores, test=test, permutations=3000, seed=7)
    assert one == paired_p_values(scores, test=test, permutations=3000, seed=7)
    assert one != paired_p_values(scores, test=test, permutations=3000, seed=8)


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_a_constant_difference_has_no_spread(test: str) -> None:
    scores = np.column_stack([np.linspace(0, 0.5, 12), np.linspace(0, 0.5, 12) + 0.1])
    result = paired_p_values(scores, test=test, permutations=100)
    assert result.values == (None,)
    assert "no variance" in str(result.reasons[0])
    assert paired_p_values(scores).values == (2 / 2**12,)


@pytest.mark.parametrize("test", TESTS)
def test_below_six_queries_there_is_no_p(test: str) -> None:
    result = paired_p_values(runs(5, 3), test=test)
    assert result.values == (None, None, None)
    assert all("fewer than 6 queries" in str(reason) for reason in result.reasons)
    assert paired_p_values(runs(6, 2), test=test, permutations=100).values[0] is not None


@pytest.mark.parametrize("test", ONE_PAIR)
def test_true_nulls_are_rejected_as_often_as_alpha_says(test: str) -> None:
    pairs = [(at, at + 1) for at in range(0, 600, 2)]
    result = paired_p_values(alike(), pairs, test=test, permutations=999).values
    rejected = sum(value is not None and value < 0.05 for value in result)
    # Of 300 at .05 a binomial falls outside 4 to 28 once in 500; the sign test can only reach .041, the shifted
    # bootstrap is a little free with 20 queries (it uses n, not n - 1, in its spread).
    least, most = {"sign": (2, 28), "bootstrap": (4, 34)}.get(test, (4, 28))
    assert least <= rejected <= most


@pytest.mark.parametrize("test", ONE_PAIR)
def test_half_of_the_true_nulls_are_above_one_half(test: str) -> None:
    pairs = [(at, at + 1) for at in range(0, 600, 2)]
    result = paired_p_values(alike(), pairs, test=test, permutations=999).values
    share = float(np.mean([value > 0.5 for value in result if value is not None]))
    # A sign test of 20 queries has p above one half for 8 to 12 wins: .74 of the time.
    least, most = (0.64, 0.84) if test == "sign" else (0.4, 0.6)
    assert least < share < most


@pytest.mark.parametrize("test", WEIGHTED)
def test_equal_weights_are_no_weights(test: str) -> None:
    scores = runs(30, 3)
    plain = paired_p_values(scores, test=test, permutations=2000)
    assert paired_p_values(scores, test=test, permutations=2000, weights=[0.1] * 30) == plain


@pytest.mark.parametrize("test", WEIGHTED)
def test_only_the_proportion_of_weights_matters(test: str) -> None:
    scores, weights = runs(30, 3), np.linspace(0.5, 3, 30)
    one = paired_p_values(scores, test=test, permutations=2000, weights=weights.tolist())
    other = paired_p_values(scores, test=test, permutations=2000, weights=(weights * 4096).tolist())
    assert one.values == pytest.approx(other.values, abs=1e-12)


@pytest.mark.parametrize("test", WEIGHTED)
def test_weights_move_p_to_where_the_traffic_is(test: str) -> None:
    # Better on the ten frequent queries, as much worse on the ten rare ones.
    noise = np.random.default_rng(2).normal(scale=0.02, size=20)
    scores = np.column_stack([np.full(20, 0.5), np.repeat([0.6, 0.4], 10) + noise])
    (plain,) = paired_p_values(scores, test=test, permutations=2000).values
    (weighted,) = paired_p_values(scores, test=test, permutations=2000, weights=[9.0] * 10 + [1.0] * 10).values
    assert plain is not None
    assert weighted is not None
    assert weighted < 0.05 < plain


@pytest.mark.parametrize("test", UNWEIGHTED)
def test_without_a_weighted_form_weights_are_refused(test: str) -> None:
    with pytest.raises(NotValid, match=f"the test {test} has no weighted form; use randomization, t, bootstrap, tukey"):
        paired_p_values(runs(10, 2), test=test, weights=[1.0] * 10)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(NotValid, match="missing"):
        paired_p_values(np.array([[0.1, np.nan]] * 8))
    with pytest.raises(NotValid, match="at least 1"):
        paired_p_values(runs(8, 2), permutations=0)
    with pytest.raises(UnknownName, match="randomization, t, bootstrap"):
        paired_p_values(runs(8, 2), test="anova")
    with pytest.raises(NotValid, match="8 queries and 7 weights"):
        scaled_weights([1.0] * 7, 8)
    with pytest.raises(NotValid, match="not above 0"):
        scaled_weights([1.0, 0.0], 2)
    with pytest.raises(NotValid, match="8 queries and 1 stratum"):
        strata_rows(["head"], 8)
