"""Tests of the verdict of a comparison and its warnings."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.comparison.comparison import Comparison
from evaluation.comparison.verdict import draws, remarks
from evaluation.models import Scoring
from evaluation.scoring.metric_values import chance, signed
from pooling.models import Run

PAIR = {
    "metric": "nDCG@10",
    "a": "old",
    "b": "new",
    "difference": 0.041,
    "low": 0.019,
    "high": 0.062,
    "p": 0.001,
    "p_corrected": 0.004,
    "effect": 0.37,
    "wins": 52,
    "ties": 20,
    "losses": 24,
    "queries": 96,
    "detectable": 0.031,
}
SETTINGS = {"family": 3, "smallest_p": 1e-5, "permutations": 100_000, "resamples": 10_000, "seed": 0}


def comparison(metric: str = "nDCG@10", **pair: Any) -> Comparison:
    report = {"pairs": [{**PAIR, "metric": metric, **pair}], "settings": SETTINGS, "runs": {}}
    return Comparison(metric, Scoring(run=Run(name="old")), Scoring(run=Run(name="new")), [], report)


def remarks_on(made: Comparison, judged: tuple[float | None, float | None] = (1.0, 0.98)) -> dict[str, tuple[str, str]]:
    return {one.question: (one.answer, one.why) for one in remarks(made, "nDCG@10", judged)}


def test_a_clear_difference() -> None:
    answers = remarks_on(comparison())
    assert {question: answer for question, (answer, _) in answers.items()} == {
        "Significant": "yes",
        "Enough queries": "yes",
        "Equally judged": "yes",
        "Primary metric": "yes",
    }
    assert answers["Significant"][1].startswith("new is better than old")


def test_the_better_run_is_named_whichever_way_the_difference_goes() -> None:
    assert remarks_on(comparison(difference=-0.041))["Significant"][1].startswith("old is better than new")


@pytest.mark.parametrize(
    ("p", "corrected", "answer"),
    [
        (0.049, 0.049, "yes"),
        (0.049, 0.147, "not after correction"),
        (0.05, 0.05, "no"),
        (0.3, 0.9, "no"),
        (0.03, None, "yes"),
    ],
)
def test_the_corrected_p_decides(p: float, corrected: float | None, answer: str) -> None:
    assert remarks_on(comparison(p=p, p_corrected=corrected))["Significant"][0] == answer


def test_too_few_queries_are_reported_with_the_reason() -> None:
    reason = (
        "fewer than 6 queries: the p-value of a sign-flip test cannot reach .05; no interval with fewer than 10 queries"
    )
    answer, why = remarks_on(comparison(p=None, p_corrected=None, low=None, high=None, reason=reason))["Significant"]
    assert answer == "not tested"
    assert "the p-value of a sign-flip test cannot reach .05" in why


def test_a_difference_too_small_for_so_many_queries() -> None:
    answer, why = remarks_on(comparison(difference=0.009, p=0.5, p_corrected=1.0, detectable=0.06, queries=50))[
        "Enough queries"
    ]
    assert answer == "no"
    assert (
        why
        == "With 50 queries, a true difference of 0.060 is detected with 80% probability. The difference here is 0.009."
    )


def test_how_many_queries_would_be_needed_where_it_is_known() -> None:
    outcome = comparison(difference=0.009, p=0.5, p_corrected=1.0, detectable=0.06, queries_needed=2223)
    assert remarks_on(outcome)["Enough queries"][1].endswith("Detecting it takes about 2,223 queries.")


def test_a_difference_that_showed_had_queries_enough() -> None:
    answer, why = remarks_on(comparison(difference=0.041, detectable=0.05))["Enough queries"]
    assert (answer, "0.041" in why) == ("yes", True)


def test_without_spread_no_power_is_reported() -> None:
    assert "Enough queries" not in remarks_on(comparison(detectable=None, effect=None))


@pytest.mark.parametrize(
    ("judged", "answer", "part"),
    [
        ((1.0, 0.951), "yes", "1.00 for old and 0.95 for new"),
        ((1.0, 0.90), "no", "Judged@10 of new is only 0.90"),
        ((0.8, 1.0), "no", "Judged@10 of old is only 0.80"),
        ((None, 1.0), "unknown", "Judged@10"),
    ],
)
def test_holes_that_differ_are_not_quality(judged: tuple[Any, Any], answer: str, part: str) -> None:
    result = remarks_on(comparison(), judged)["Equally judged"]
    assert result[0] == answer
    assert part in result[1]


def test_a_metric_chosen_after_looking() -> None:
    answer, why = remarks_on(comparison(metric="RR@10"))["Primary metric"]
    assert answer == "no"
    assert "RR@10 is exploratory" in why


@pytest.mark.parametrize(
    ("traffic", "answer"),
    [
        ({"difference": 0.03, "low": 0.01, "high": 0.05}, "yes"),
        ({"difference": 0.012, "low": -0.009, "high": 0.034}, "no"),
        ({"difference": -0.01, "low": None, "high": None}, "no"),
    ],
)
def test_traffic_that_says_something_else(traffic: dict[str, Any], answer: str) -> None:
    (result,) = [one for one in remarks(comparison(), "nDCG@10", (1.0, 1.0), traffic) if "traffic" in one.question]
    assert result.answer == answer
    assert signed(traffic["difference"]) in result.why


def test_signs_and_floors() -> None:
    assert (signed(-0.0004), signed(None), signed(0.0)) == ("−0.000", "", "0.000")
    assert (chance(1e-5, 1e-5), chance(0.0312), chance(0.0002)) == ("≤ 0.00001", "= 0.031", "= 0.00020")


def test_dependencies_of_the_numbers() -> None:
    text = draws(comparison())
    assert "10,000 draws, seed 0" in text
    assert "100,000 draws, seed 0; Holm’s correction over all 3 pairs" in text


def test_too_few_queries_for_the_test_are_never_called_enough() -> None:
    reason = "fewer than 6 queries: the p-value of a sign-flip test cannot reach .05"
    answers = remarks_on(comparison(p=None, p_corrected=None, low=None, high=None, queries=4, wins=4, reason=reason))
    assert answers["Significant"][0] == "not tested"
    assert "Enough queries" not in answers
