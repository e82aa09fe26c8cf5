"""Tests of the agreement gate: decision by the interval, minimum overlap, number of further pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.coefficients import COEFFICIENTS, agreement_report, krippendorff_alpha
from assay.coefficients.coefficient import GradeTable
from assay.coefficients.gate import decide
from assay.core.errors import NotValid

PAIRS_A_QUERY = 5


def report_json(
    value: float | None, low: float | None, high: float | None, n: int = 400, queries: int = 40
) -> dict[str, Any]:
    leaf = {"value": value, "low": low, "high": high, "n": n, "reason": None if value is not None else "no_overlap"}
    return {"coefficients": {"alpha-ordinal": leaf}, "overlap_queries": queries}


@pytest.mark.parametrize(
    ("report", "state"),
    [
        (report_json(0.65, 0.60, 0.70), "passed"),
        (report_json(0.65, 0.599, 0.70), "undecided"),
        (report_json(0.55, 0.50, 0.60), "undecided"),
        (report_json(0.55, 0.50, 0.599), "failed"),
        (report_json(0.90, 0.85, 0.95, n=199), "undecided"),
        (report_json(0.90, 0.85, 0.95, queries=29), "undecided"),
        (report_json(0.10, 0.05, 0.15, n=199), "undecided"),
        (report_json(0.90, None, None), "undecided"),
        (report_json(None, None, None, n=0, queries=0), "undefined"),
    ],
)
def test_the_whole_interval_decides_and_little_overlap_nothing(report: dict[str, Any], state: str) -> None:
    answer = decide(report)
    assert answer.state == state
    assert answer.advice
    assert answer.more_pairs is None or state == "undecided"


def test_too_little_overlap_asks_for_the_least_at_least() -> None:
    assert decide(report_json(0.90, 0.85, 0.95, n=120)).more_pairs == 80
    # Forty pairs a query: thirty queries of them are 1,200.
    assert decide(report_json(0.90, 0.85, 0.95, n=400, queries=10)).more_pairs == 800


def test_on_the_threshold_more_overlap_is_no_advice() -> None:
    answer = decide(report_json(0.601, 0.55, 0.65))
    assert (answer.state, answer.more_pairs) == ("undecided", None)
    assert "Improve the agreement" in answer.advice


def test_an_unknown_coefficient_is_answered_with_the_known_ones() -> None:
    with pytest.raises(NotValid, match="unknown coefficient 'kappa'; known: alpha-ordinal"):
        decide(report_json(0.6, 0.5, 0.7), "kappa")


def drawn(random: np.random.Generator, pairs: int) -> GradeTable:
    """Two raters who agree in some queries more than in others."""
    queries = pairs // PAIRS_A_QUERY
    pairs = queries * PAIRS_A_QUERY
    query = np.repeat(np.arange(queries), PAIRS_A_QUERY)
    guessing = np.clip(random.normal(0.35, 0.2, queries), 0, 1)[query]
    truth = random.integers(0, 4, pairs)
    grades = [np.where(random.random(pairs) < guessing, random.integers(0, 4, pairs), truth) for _ in range(2)]
    return GradeTable(
        ("r1", "r2"),
        tuple(f"{code:06}" for code in range(queries)),
        np.repeat(np.arange(pairs), 2),
        np.tile([0, 1], pairs),
        np.column_stack(grades).reshape(-1),
        query,
    )


def test_every_coefficient_can_be_the_gate() -> None:
    report = agreement_report(drawn(np.random.default_rng(1), 400), bootstrap=100).as_json()
    assert {decide(report, name, 0.1).state for name in COEFFICIENTS} == {"passed"}
    assert {decide(report, name, 0.95).state for name in COEFFICIENTS} == {"failed"}


@pytest.mark.slow
def test_as_many_further_pairs_decide_in_four_of_five_cases() -> None:
    random = np.random.default_rng(20)
    big = drawn(random, 200_000)
    truth = krippendorff_alpha(big.unit, big.grade).value
    assert truth is not None
    threshold = truth - 0.04

    def answer(pairs: int) -> Any:
        table = drawn(random, pairs)
        alpha = krippendorff_alpha(table.unit, table.grade, clusters=table.query[table.unit], resamples=200)
        leaf = {"value": alpha.value, "low": alpha.low, "high": alpha.high, "n": alpha.n, "reason": None}
        report = {"coefficients": {"alpha-ordinal": leaf}, "overlap_queries": len(table.query_ids)}
        return decide(report, threshold=threshold)

    # The assumption: the coefficient stays where it is. So the first look is one that happens to see it where it is.
    looks = [answer(1000) for _ in range(120)]
    needed = [look.more_pairs + 1000 for look in looks if abs(look.value - truth) < 0.005 and look.more_pairs]
    assert len(needed) > 5
    enough = int(np.median(needed))
    decided = np.mean([answer(enough).state == "passed" for _ in range(100)])
    assert 0.65 < decided < 0.92
    assert np.mean([answer(enough // 2).state == "passed" for _ in range(60)]) < decided - 0.1
