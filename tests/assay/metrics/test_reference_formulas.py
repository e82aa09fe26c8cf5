"""Tests of metrics that pytrec_eval lacks against their formulas, rank by rank."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.metrics.judged_rankings import JudgedRankings
from assay.metrics.metric import mean, parse_metric

# One query: the grade at each rank (None is unjudged), and the grades of what was not returned.
Query = tuple[list[float | None], list[float]]
Form = Callable[[list[float | None], list[float]], float]

grade = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
queries = st.lists(
    st.tuples(st.lists(st.one_of(st.none(), grade), max_size=12), st.lists(grade, max_size=6)), min_size=1, max_size=4
)


def gain(expected: float | None) -> float:
    return max(expected or 0.0, 0.0)


def dcg(k: int, of: Callable[[float], float]) -> Form:
    return lambda ranked, _: sum(of(gain(expected)) / math.log2(i + 1) for i, expected in enumerate(ranked[:k], 1))


def ndcg(k: int, of: Callable[[float], float]) -> Form:
    def form(ranked: list[float | None], rest: list[float]) -> float:
        ideal = sorted((of(gain(expected)) for expected in [*ranked, *rest]), reverse=True)
        best = sum(value / math.log2(i + 1) for i, value in enumerate(ideal[:k], 1))
        return dcg(k, of)(ranked, rest) / best if best > 0 else 0.0

    return form


def rbp(p: float, k: int, of: Callable[[float | None], float]) -> Form:
    return lambda ranked, _: (1 - p) * sum(p ** (i - 1) * of(expected) for i, expected in enumerate(ranked[:k], 1))


def residual(p: float, k: int) -> Form:
    def form(ranked: list[float | None], _: list[float]) -> float:
        top = ranked[:k]
        unknown = [i for i, expected in enumerate(top, 1) if expected is None or expected < 0]
        return (1 - p) * sum(p ** (i - 1) for i in unknown) + p ** len(top)

    return form


def f(k: int, beta: float, rel: float) -> Form:
    def form(ranked: list[float | None], rest: list[float]) -> float:
        hits = sum(expected is not None and expected >= rel for expected in ranked[:k])
        total = sum(expected is not None and expected >= rel for expected in [*ranked, *rest])
        if hits == 0:
            return 0.0
        precision, recall = hits / k, hits / total
        return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)

    return form


def iprec_nearest(level: float) -> Form:
    def form(ranked: list[float | None], rest: list[float]) -> float:
        relevant = [expected is not None and expected >= 1 for expected in ranked]
        total = sum(relevant) + sum(expected >= 1 for expected in rest)
        rows = [sum(relevant[:i]) for i in range(1, len(ranked) + 1)]
        return max((hits / i for i, hits in enumerate(rows, 1) if hits >= math.floor(level * total + 0.5)), default=0.0)

    return form


FORMS: dict[str, Form] = {
    "DCG@5": dcg(5, float),
    "DCG(gain=exp)": dcg(99, lambda message: 2.0**message - 1),
    "nDCG(gain=exp)@5": ndcg(5, lambda message: 2.0**message - 1),
    "nDCG(gains={0.5:0,1:7,3:2})@4": ndcg(4, lambda message: {0.5: 0.0, 1.0: 7.0, 3.0: 2.0}.get(message, message)),
    "nDCG(gain=exp,gains={2:0.5})": ndcg(99, lambda message: 0.5 if message == 2 else 2.0**message - 1),
    "RBP(p=0.8)": rbp(0.8, 99, lambda message: float(message is not None and message >= 1)),
    "RBP(p=0.95,rel=2)@5": rbp(0.95, 5, lambda message: float(message is not None and message >= 2)),
    "RBP(p=0.5,max_rel=3)": rbp(0.5, 99, lambda message: gain(message) / 3),
    "RBPresid(p=0.8)": residual(0.8, 99),
    "RBPresid(p=0.5)@3": residual(0.5, 3),
    "F@5": f(5, 1, 1),
    "F(rel=2,beta=0.5)@3": f(3, 0.5, 2),
    "IPrec(cut=nearest)@0.4": iprec_nearest(0.4),
    "IPrec(cut=nearest)@0.05": iprec_nearest(0.05),
}


@settings(max_examples=30, deadline=None)
@given(drawn=queries)
def test_each_equals_its_formula(drawn: list[Query]) -> None:
    rankings = JudgedRankings.of(
        *(
            (
                len(ranked),
                {i: message for i, message in enumerate(ranked, 1) if message is not None},
                [message for message in ranked if message is not None] + rest,
            )
            for ranked, rest in drawn
        )
    )
    for name, form in FORMS.items():
        expected = [form(ranked, rest) for ranked, rest in drawn]
        metric = parse_metric(name)
        assert metric.name == name
        assert metric(rankings) == pytest.approx(np.array(expected), abs=1e-12), name


def test_the_geometric_mean_takes_a_query_below_a_hundred_thousandth_as_that() -> None:
    assert mean([0.25, 0.0], "geometric") == pytest.approx(math.sqrt(0.25 * 1e-5))
    assert mean([0.25, 1.0], "geometric") == pytest.approx(0.5)
