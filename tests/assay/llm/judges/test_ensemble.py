"""Tests of judge ensembles: rules, failures, order of disagreement."""

from __future__ import annotations

import pytest

from assay.core.errors import NotValid
from assay.llm.judge import Outcome
from assay.llm.judges.ensemble import RULES, all_together, together

SCALE = (0, 1, 2, 3)


def graded(*grades: int) -> list[Outcome]:
    return [Outcome("graded", grade) for grade in grades]


@pytest.mark.parametrize(
    ("grades", "rule", "decided"),
    [
        ((0, 1, 3), "median", 1),
        ((0, 1), "median", 0),
        ((1, 1, 3), "vote", 1),
        ((1, 1, 3, 3), "vote", None),
        ((1, 2), "mean", 1),
        ((1, 2, 2), "mean", 2),
        ((2, 2, 2), "unanimity", 2),
        ((2, 2, 3), "unanimity", None),
        ((2,), "median", None),
        ((), "mean", None),
    ],
)
def test_rules(grades: tuple[int, ...], rule: str, decided: int | None) -> None:
    assert together(graded(*grades), SCALE, rule).grade == decided  # type: ignore[arg-type]


def test_a_failure_is_no_vote_and_breaks_unanimity() -> None:
    result = together([*graded(2, 2), Outcome("refused")], SCALE, "unanimity")
    assert (result.grade, result.grades, result.failed, result.agree) == (None, 2, 1, 1.0)
    assert together([*graded(2, 2), Outcome("refused")], SCALE, "vote").grade == 2
    assert together(graded(2), SCALE, least=1).grade == 2


def test_disagreement_orders_pairs_for_people() -> None:
    same, near, far = (together(graded(*grades), SCALE) for grades in ((1, 1, 1), (1, 1, 2), (0, 1, 3)))
    assert same.disagreement < near.disagreement < far.disagreement
    assert (far.spread, far.mean) == (3, pytest.approx(4 / 3))
    assert together(graded(1), SCALE).disagreement == 1.0


def test_pairs_that_only_some_judged_are_there() -> None:
    results = all_together(
        {"a": {("q", "d1"): graded(1)[0], ("q", "d2"): graded(0)[0]}, "b": {("q", "d1"): graded(1)[0]}}, SCALE
    )
    assert (results["q", "d1"].grade, results["q", "d2"].grade) == (1, None)


def test_an_unknown_rule_is_answered_with_the_known_ones() -> None:
    with pytest.raises(NotValid, match=", ".join(RULES)):
        together(graded(1, 1), SCALE, "best")  # type: ignore[arg-type]
