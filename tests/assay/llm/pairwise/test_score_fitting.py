"""Tests of fitting scores from comparison rows: zbench scores, repeats, ties and failed calls.

The oracle is zbench's formula as the field's reference states it: a matrix of votes with one half on its diagonal, and
a damped fixed-point iteration over it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.llm.pairwise.score_fitting import fit_queries

MODELS = ("openai", "gemini", "anthropic")
Draw = tuple[int, int, tuple[float, float, float]]


def by_formula(documents: int, draws: Sequence[Draw]) -> np.ndarray:
    w = np.eye(documents) / 2
    for a, b, scores in draws:
        vote = sum(score > 0 for score in scores) / 3
        w[b, a] += vote
        w[a, b] += 1 - vote
    theta = np.zeros(documents)
    losses: list[float] = []
    for t in range(1_000):
        s = 1 / (1 + np.exp(theta[:, None] - theta[None, :]))  # s[i, j]: that j is preferred
        theta = theta + (np.log((w * s).sum(axis=1)) - np.log((w * s).T.sum(axis=1))) * (1 + t) ** (-1 / 8)
        theta -= theta.mean()
        losses.append(-float((w * (theta[:, None] - np.logaddexp(theta[:, None], theta[None, :]))).sum()))
        if len(losses) > 2 and abs(losses[-2] - losses[-1]) < 1e-4:
            break
    return theta


def rows(draws: Sequence[Draw]) -> list[tuple[str, str, str, float | None, str]]:
    """As zbench's file is read: an answer of exactly 0 stands for a call that failed too."""
    return [
        ("q", f"d{a}", f"d{b}", None if score == 0 else score, model)
        for a, b, scores in draws
        for model, score in zip(MODELS, scores, strict=True)
    ]


def scores_of(given_rows: list[tuple[str, str, str, float | None, str]], documents: int) -> list[float]:
    result = fit_queries(given_rows, method="zbench", documents={"q": [f"d{at}" for at in range(documents)]})
    named = {doc: score for _, doc, score, _ in result.scores}
    return [named[f"d{at}"] for at in range(documents)]


@st.composite
def drawn(draw: st.DrawFn) -> tuple[int, list[Draw]]:
    documents = draw(st.integers(2, 7))
    score = st.sampled_from([-1.0, -0.4, 0.0, 0.2, 1.0])
    place = st.integers(0, documents - 1)
    draws = draw(st.lists(st.tuples(place, place, st.tuples(score, score, score)), min_size=1, max_size=30))
    return documents, [one for one in draws if one[0] != one[1]] or [(0, 1, (1.0, 1.0, 1.0))]


@given(drawn())
@settings(max_examples=60)
def test_zbenchs_scores_are_those_of_its_formula(made: tuple[int, list[Draw]]) -> None:
    documents, draws = made
    assert scores_of(rows(draws), documents) == pytest.approx(by_formula(documents, draws), abs=1e-9)


def test_a_pair_that_was_drawn_twice_counts_twice() -> None:
    # Four cycles over 25 documents repeat a pair or two; here two documents, which meet twice in each cycle.
    draws = [(0, 1, (1.0, 1.0, -1.0)), (1, 0, (1.0, -1.0, -1.0)), (1, 2, (1.0, 1.0, 1.0)), (1, 2, (1.0, 1.0, -0.5))]
    assert scores_of(rows(draws), 3) == pytest.approx(by_formula(3, draws), abs=1e-12)
    once = [draws[0], draws[2]]
    assert scores_of(rows(once), 3) != pytest.approx(scores_of(rows(draws), 3), abs=0.01)


def test_the_four_battles_of_the_reference() -> None:
    draws = [(0, 1, (1, 1, -1)), (1, 2, (-1, 1, -1)), (2, 0, (1, 1, 1)), (0, 2, (-1, -1, 1))]
    scores = scores_of(rows(draws), 3)  # type: ignore[arg-type]
    assert scores == pytest.approx([0.351055, 0.500229, -0.851284], abs=1.5e-6)


def test_a_failed_call_is_a_vote_as_zbench_has_it_and_none_elsewhere() -> None:
    battles: list[tuple[str, str, str, float | None, str]] = [("q", "x", "y", 1.0, "m"), ("q", "x", "y", None, "n")]
    zbench, own = fit_queries(battles, method="zbench"), fit_queries(battles)
    assert (zbench.battles, zbench.voted, zbench.failed) == (1, 1, 0)
    assert [score for _, _, score, _ in zbench.scores] == pytest.approx([0, 0], abs=1e-12)
    assert (own.battles, own.voted, own.failed) == (1, 0, 1)
    # A battle that nobody was asked about is no failure: zbench has none of these.
    waiting = fit_queries([*battles, ("q", "x", "y", None, "")], method="zbench")
    assert (waiting.voted, waiting.failed) == (1, 1)


def test_documents_without_comparisons_get_the_mean_of_zbench() -> None:
    draws: list[Draw] = [(0, 1, (1.0, 1.0, 1.0)), (1, 2, (1.0, -1.0, 1.0)), (0, 2, (1.0, 1.0, 1.0))]
    assert scores_of(rows(draws), 6) == pytest.approx(by_formula(6, draws), abs=1e-9)
