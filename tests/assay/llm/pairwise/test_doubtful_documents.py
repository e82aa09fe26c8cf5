"""Tests of doubtful documents: order-dependent winners and the chance of another grade."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import NotValid
from assay.formats.battles_jsonl import Battle
from assay.llm.pairwise.battles import first_place
from assay.llm.pairwise.cut_points import other_grade, turned


def test_an_order_dependent_winner_counts_for_both_documents() -> None:
    rows = [
        # a against b: a wins when it is first, b when it is: the place decides.
        Battle("q", "a", "b", -1.0, model="m"),
        Battle("q", "a", "b", 0.5, model="m", swapped=True),
        # a against c: c wins either way, whichever way the file writes it.
        Battle("q", "a", "c", 0.7, model="m"),
        Battle("q", "c", "a", -0.2, model="m"),
        # b against c in one order alone, and by two models in one order each: nothing is known.
        Battle("q", "b", "c", 1.0, model="m"),
        Battle("q", "b", "d", 1.0, model="m"),
        Battle("q", "d", "b", 1.0, model="other"),
        # A failed call is no meeting, an even one hangs on nothing.
        Battle("q", "c", "d", None, model="m"),
        Battle("q", "d", "c", 1.0, model="m"),
        Battle("r", "a", "b", 0.0, model="m"),
        Battle("r", "b", "a", 1.0, model="m"),
    ]
    shares = turned(rows)
    assert shares == {("q", "a"): 0.5, ("q", "b"): 1.0, ("q", "c"): 0.0, ("r", "a"): 0.0, ("r", "b"): 0.0}


def test_it_counts_what_position_bias_counts() -> None:
    rng = np.random.default_rng(5)
    rows = []
    for number in range(60):
        for swapped in (False, True):
            rows.append(Battle(f"q{number}", "a", "b", float(rng.choice([-1.0, 1.0])), model="m", swapped=swapped))
    assert sum(share for (_, doc), share in turned(rows).items() if doc == "a") == first_place(rows).turned


def test_the_chance_of_another_grade_is_that_of_a_normal_error() -> None:
    rng, cuts = np.random.default_rng(7), [-0.8, 0.1, 1.2]
    for score, error in ((0.0, 0.3), (0.15, 0.5), (-2.0, 0.4), (1.2, 0.1), (3.0, 0.2)):
        drawn = score + error * rng.standard_normal(200_000)
        own = np.searchsorted(cuts, score, side="right")
        assert other_grade(score, error, cuts) == pytest.approx(
            float((np.searchsorted(cuts, drawn, side="right") != own).mean()), abs=0.005
        )


def test_without_cuts_or_error_nothing_is_in_doubt() -> None:
    assert (other_grade(0.0, 1.0, []), other_grade(0.0, 0.0, [0.0])) == (0.0, 0.0)
    with pytest.raises(NotValid):
        other_grade(0.0, -1.0, [0.0])
