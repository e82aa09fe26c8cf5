"""Tests of Bradley-Terry scores: posterior, standard errors, zbench scores, choice of the next pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import kendalltau

from assay.core.errors import NotValid
from assay.llm.pairwise.battles import Battles, share_of_scores, share_of_votes
from assay.llm.pairwise.bradley_terry import fit, fit_as_zbench, next_pairs, standard_errors
from assay.llm.pairwise.score_fitting import draw_pairs

# (first, second, share of the second); the scores are those of the field's reference for these four battles.
FOUR = Battles.of(3, [(0, 1, 2 / 3), (1, 2, 1 / 3), (2, 0, 1.0), (0, 2, 1 / 3)])
# 0 beats 1 and 2, 1 beats 2: without a prior there is no finite answer.
SEPARATED = Battles.of(3, [(0, 1, 0.0), (0, 2, 0.0), (1, 2, 0.0)])


@st.composite
def battles(draw: st.DrawFn) -> Battles:
    documents = draw(st.integers(2, 12))
    place = st.integers(0, documents - 1)
    met = draw(st.lists(st.tuples(place, place, st.floats(0, 1)), min_size=1, max_size=40))
    rows = [row for row in met if row[0] != row[1]]
    return Battles.of(documents, rows or [(0, 1, 0.5)])


@pytest.mark.parametrize(
    ("prior", "scores"), [(1.0, [0.204699, 0.192843, -0.397542]), (0.1, [0.325943, 0.427639, -0.753582])]
)
def test_most_probable_scores(prior: float, scores: list[float]) -> None:
    result = fit(FOUR, prior=prior)
    assert result.converged
    assert result.scores == pytest.approx(scores, abs=1.5e-6)


def test_separated_documents_have_finite_scores_under_the_prior() -> None:
    assert fit(SEPARATED).scores == pytest.approx([0.5911, 0, -0.5911], abs=1e-4)


def test_zbench_scores_and_where_it_stops() -> None:
    result = fit_as_zbench(FOUR)
    assert result.scores == pytest.approx([0.351055, 0.500229, -0.851284], abs=1.5e-6)
    assert result.steps == 3
    closer = fit_as_zbench(FOUR, tolerance=1e-15, most=100_000)
    assert closer.scores == pytest.approx([0.35005, 0.50309, -0.85314], abs=5e-6)


def test_zbench_scores_of_separated_documents_depend_on_the_stop() -> None:
    result = fit_as_zbench(SEPARATED)
    assert (result.steps, result.scores[0]) == (83, pytest.approx(5.377, abs=1e-3))
    assert fit_as_zbench(SEPARATED, tolerance=1e-8, most=10**6).scores[0] == pytest.approx(9.668, abs=1e-3)


@given(battles(), st.floats(0.05, 5))
def test_scores_maximize_the_posterior(met: Battles, prior: float) -> None:
    def loss(scores: np.ndarray) -> float:
        apart = scores[met.second] - scores[met.first]
        losses = met.share * np.logaddexp(0, -apart) + (1 - met.share) * np.logaddexp(0, apart)
        return float(losses.sum() + prior * (scores**2).sum() / 2)

    best = minimize(loss, np.zeros(met.documents), method="BFGS", options={"gtol": 1e-8}).x
    assert fit(met, prior=prior).scores == pytest.approx(best - best.mean(), abs=2e-4)


@given(battles())
def test_swapping_every_battle_changes_nothing(met: Battles) -> None:
    other = Battles(met.documents, met.second, met.first, 1 - met.share, met.weight)
    assert fit(other).scores == pytest.approx(fit(met).scores, abs=1e-9)


@given(battles(), st.randoms(use_true_random=False))
def test_the_order_of_the_battles_changes_nothing(met: Battles, random: object) -> None:
    order = list(range(len(met)))
    random.shuffle(order)  # type: ignore[attr-defined]
    other = Battles(met.documents, *(part[order] for part in (met.first, met.second, met.share, met.weight)))
    assert fit(other).scores == pytest.approx(fit(met).scores, abs=1e-9)


def test_one_battle_of_weight_two_is_two_battles() -> None:
    twice = Battles.of(2, [(0, 1, 0.8), (0, 1, 0.8)])
    once = Battles(2, np.array([0]), np.array([1]), np.array([0.8]), np.array([2.0]))
    assert fit(once).scores == pytest.approx(fit(twice).scores, abs=1e-12)


def test_a_large_query_is_solved_as_a_small_one() -> None:
    # 300 documents are solved sparsely; the same problem as one of 150 documents, twice, is not.
    rng = np.random.default_rng(3)
    pairs = np.array(draw_pairs(150, 4, seed=4))
    share = rng.random(len(pairs))
    one = Battles(150, pairs[:, 0], pairs[:, 1], share, np.ones(len(pairs)))
    two = Battles(
        300,
        np.concatenate([one.first, one.first + 150]),
        np.concatenate([one.second, one.second + 150]),
        np.concatenate([share, share]),
        np.ones(2 * len(pairs)),
    )
    alone, both = fit(one).scores, fit(two).scores
    assert both[:150] == pytest.approx(alone, abs=1e-7)
    assert both[150:] == pytest.approx(alone, abs=1e-7)


def test_standard_errors_are_those_of_the_posterior() -> None:
    # Two documents, one battle, prior 1: curvature [[1 + h, -h], [-h, 1 + h]] with h = p (1 - p).
    met = Battles.of(2, [(0, 1, 1.0)])
    result = fit(met)
    p = 1 / (1 + np.exp(-(result.scores[1] - result.scores[0])))
    h = p * (1 - p)
    assert standard_errors(met, result) == pytest.approx([((1 + h) / (1 + 2 * h)) ** 0.5] * 2)


def test_more_cycles_order_the_documents_better() -> None:
    truth = np.random.default_rng(1).normal(0, 2, 40)

    def order(cycles: int) -> float:
        taus = []
        for seed in range(8):
            pairs = np.array(draw_pairs(40, cycles, seed=seed))
            p = 1 / (1 + np.exp(truth[pairs[:, 0]] - truth[pairs[:, 1]]))
            won = np.random.default_rng(seed).random(len(pairs)) < p
            met = Battles(40, pairs[:, 0], pairs[:, 1], won.astype(float), np.ones(len(pairs)))
            taus.append(kendalltau(fit(met).scores, truth).statistic)
        return float(np.mean(taus))

    assert order(2) < order(8)


def test_the_next_pair_is_the_one_that_tells_most() -> None:
    # 2 has met nobody, and 0 and 1 often: any battle of 2 tells more than one between those.
    met = Battles.of(3, [(0, 1, 0.5)] * 20)
    chosen = next_pairs(met, fit(met), 5)
    assert {(a, b) for a, b, _ in chosen} == {(0, 2), (1, 2)}
    assert next_pairs(met, fit(met), 0) == []


def test_no_document_and_one_document() -> None:
    assert fit(Battles.of(0, [])).scores.tolist() == []
    assert fit(Battles.of(1, [])).scores.tolist() == [0.0]


def test_scores_of_models_are_cut_and_failures_dropped() -> None:
    assert share_of_scores([1.0, 3.0, -1.0]) == pytest.approx((1 / 3 + 1) / 2)
    assert share_of_scores([]) is None
    assert share_of_votes([0.2, 0.0, -1.0]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("rows", "message"),
    [([(0, 0, 0.5)], "compared with itself"), ([(0, 5, 0.5)], "document 5"), ([(0, 1, 1.2)], "between 0 and 1")],
)
def test_invalid_battles_are_refused(rows: list[tuple[int, int, float]], message: str) -> None:
    with pytest.raises(NotValid, match=message):
        Battles.of(3, rows)
    with pytest.raises(NotValid, match="above 0"):
        fit(FOUR, prior=0)
