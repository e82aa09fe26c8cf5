"""Tests of means: equal to their definitions, also for equal, zero and few values."""

from __future__ import annotations

import math
import statistics

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.metrics.metric import effective_queries, hajek_mean, mean

UNIT = st.floats(0, 1)
COLUMNS = st.lists(UNIT, min_size=1, max_size=40)


@settings(max_examples=50)
@given(COLUMNS)
def test_the_plain_mean_is_the_exact_one_rounded_once(values: list[float]) -> None:
    result = mean(values)
    assert result == pytest.approx(float(statistics.mean(values)), rel=1e-15, abs=0)
    assert min(values) <= result <= max(values)


@settings(max_examples=50)
@given(UNIT, st.integers(1, 50), st.sampled_from(["arithmetic", "geometric"]))
def test_the_mean_of_equal_values_is_the_value(value: float, times: int, kind: str) -> None:
    result = mean([value] * times, kind)  # type: ignore[arg-type]
    weighted = hajek_mean([value] * times, [0.1] * times, kind)  # type: ignore[arg-type]
    floored = max(value, 1e-5) if kind == "geometric" else value
    assert result == weighted == pytest.approx(floored, rel=0 if kind == "arithmetic" else 1e-14, abs=0)


@settings(max_examples=50)
@given(st.lists(st.tuples(UNIT, st.integers(1, 6)), min_size=1, max_size=20))
def test_a_whole_weight_is_a_query_counted_so_often(pairs: list[tuple[float, int]]) -> None:
    values, weights = [value for value, _ in pairs], [float(weight) for _, weight in pairs]
    repeated = [value for value, weight in pairs for _ in range(weight)]
    assert hajek_mean(values, weights) == pytest.approx(mean(repeated), rel=1e-14, abs=1e-300)
    assert hajek_mean(values, weights, "geometric") == pytest.approx(mean(repeated, "geometric"), rel=1e-12)


def test_the_geometric_mean_is_trec_evals_gm_map() -> None:
    qrels = {f"q{n}": {"a": 1, "b": n % 2, "c": 0} for n in range(7)}
    orders = ["abc", "cab", "cba", "bca", "acb", "bac", "c"]
    run = {f"q{n}": {doc: 9.0 - at for at, doc in enumerate(order)} for n, order in enumerate(orders)}
    evaluation = pytrec_eval.RelevanceEvaluator(qrels, {"map", "gm_map"}).evaluate(run)
    precision = [one["map"] for one in evaluation.values()]
    logs = [one["gm_map"] for one in evaluation.values()]
    assert precision[-1] == 0.0
    assert mean(precision, "geometric") == pytest.approx(
        pytrec_eval.compute_aggregated_measure("gm_map", logs), rel=1e-12
    )


def test_a_sum_is_a_sum_and_has_no_weighted_form() -> None:
    assert mean([3.0, 4.0, 0.0], "sum") == 7.0
    assert hajek_mean([3.0, 4.0], [1.0, 1.0], "sum") is None


def test_nothing_has_no_mean() -> None:
    assert mean([]) is None
    assert hajek_mean([], []) is None
    assert hajek_mean([0.5, 0.7], [0.0, 0.0]) is None
    assert effective_queries([0.0, 0.0]) is None


def test_a_query_without_weight_says_nothing() -> None:
    assert hajek_mean([0.25, 0.25, 1.0], [0.1, 0.7, 0.0]) == 0.25


@settings(max_examples=50)
@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30), st.floats(1e-3, 1e3))
def test_effective_queries_are_between_one_and_all_in_any_unit(weights: list[float], unit: float) -> None:
    result = effective_queries(weights)
    assert result is not None
    assert 1 - 1e-9 <= result <= len(weights) + 1e-9
    assert effective_queries([weight * unit for weight in weights]) == pytest.approx(result)
    assert math.isclose(effective_queries([unit] * len(weights)) or 0.0, len(weights))
