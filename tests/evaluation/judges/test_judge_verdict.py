"""Tests of the verdict about a judge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from assay.coefficients.human_machine import Calibrated, Share, against_people
from evaluation.judges.views.judge import verdict
from judgments.machines.calibration.calibration import Flip

SCALE = (0, 1, 2, 3)


def held(machine: Callable[[int, np.random.Generator], int], *, queries: int = 40, each: int = 10) -> Calibrated:
    """People's grades at random, and what a machine makes of each."""
    rng = np.random.default_rng(11)
    people = {(f"q{q}", f"d{d}"): int(rng.integers(4)) for q in range(queries) for d in range(each)}
    grades = {key: machine(grade, rng) for key, grade in people.items()}
    return against_people(people, grades, SCALE, resamples=200)


def flips(flipped: int, planted: int) -> list[Flip]:
    return [Flip("instruction", flipped, Share(flipped / planted, 0.0, 1.0, planted))]


def same(grade: int, rng: np.random.Generator) -> int:
    return grade


def near(grade: int, rng: np.random.Generator) -> int:
    """A step off every third time."""
    return int(np.clip(grade + (rng.choice([-1, 1]) if rng.random() < 0.34 else 0), 0, 3))


def far(grade: int, rng: np.random.Generator) -> int:
    return grade if rng.random() < 0.55 else int(rng.integers(4))


def guess(grade: int, rng: np.random.Generator) -> int:
    return int(rng.integers(4))


@pytest.mark.parametrize(
    ("machine", "state", "head"),
    [
        (same, "done", "Agrees closely with people"),
        (near, "warn", "Good enough for a first pass, but not as the only source of labels"),
        (far, "warn", "Good enough for filtering, but not for grading"),
        (guess, "fail", "Not reliable enough"),
    ],
)
def test_the_bands(machine: Callable[[int, np.random.Generator], int], state: str, head: str) -> None:
    result = verdict(held(machine), flips(0, 30))
    assert (result.state, head.lower() in result.head.lower()) == (state, True)
    assert "None of 30 prompt-injection probes changed a grade." in result.why


def test_weak_grades_are_named_with_their_shares() -> None:
    result = held(lambda grade, rng: 2 if grade == 1 and rng.random() < 0.6 else grade)
    two = next(one for one in result.worth if one.grade == 2).same.value
    assert two is not None
    assert f"Grade 2 is correct for {100 * two:.0f}%" in verdict(result, flips(0, 30)).why


def test_planted_text_that_moves_grades_is_a_but() -> None:
    result = verdict(held(same), flips(4, 60))
    assert (result.state, result.head) == (
        "warn",
        "Good enough for a first pass, but not as the only source of labels.",
    )
    assert "Prompt-injection probes changed 4 grades of 60." in result.why
    assert "No prompt-injection probe" in verdict(held(same), []).why
    assert "No prompt-injection probe" not in verdict(held(same), [], asks_a_model=False).why


def test_a_biased_judge_is_reported() -> None:
    result = verdict(held(lambda grade, rng: min(grade + 1, 3)), flips(0, 30))
    assert "above people on average" in result.why
    assert "never gives grade 0" in result.why


def test_an_interval_that_straddles_decides_nothing() -> None:
    result = held(lambda grade, rng: grade if rng.random() < 0.5 else int(rng.integers(4)), queries=5, each=10)
    low, value = result.kappa["quadratic"].low, result.kappa["quadratic"].value
    assert low is not None
    assert value is not None
    assert low < 0.6 <= value
    assert "interval is too wide" in verdict(result, []).head


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (held(same, queries=2, each=5), "30 are needed"),
        (held(same, queries=1, each=60), "one query"),
        (
            against_people({("q", f"{n}"): 0 for n in range(50)}, {("q", f"{n}"): 0 for n in range(50)}, SCALE),
            "same grade",
        ),
        (against_people({}, {}, SCALE), "0 pairs"),
    ],
)
def test_too_little_is_called_so(found: Calibrated, words: str) -> None:
    outcome = verdict(found, [])
    assert (outcome.state, outcome.head) == ("todo", "Not enough pairs.")
    assert words in outcome.why


def test_answers_that_are_no_grades_come_first() -> None:
    """A judge whose answers nobody could read has no other verdict; one that lost some has its own."""
    result = verdict(held(same), flips(0, 30), outcomes={"graded": 20, "out_of_scale": 60, "refused": 40})
    assert (result.state, result.head) == ("fail", "Too few of the judge's answers are grades.")
    assert result.why.startswith("Of 120 answers: 60 out of scale, 40 refused.")
    assert "choose another model" in result.why
    assert "model" not in verdict(held(same), [], asks_a_model=False, outcomes={"undecided": 3}).why
    assert verdict(held(same), flips(0, 30), outcomes={"graded": 60, "refused": 60}).state == "done"
    assert verdict(held(same), flips(0, 30), outcomes={}).state == "done"
