"""Tests of budgets: hours and pairs convert into each other."""

from __future__ import annotations

import pytest

from assay.core.errors import NotValid
from assay.strategies.rating_budget import Budget, Effort


def test_hours_of_raters_are_pairs_and_back() -> None:
    # By hand: 3 raters x 2 h = 21,600 s; at 20 s a rating 1,080 ratings; two a pair are 540 pairs.
    assert Budget(2, 3, 2, 20).pairs == 540
    assert Effort(540, 3, 2, 20).minutes_each == 120
    assert Budget(0.1, 1, 1, 0.36).pairs == 1000


@pytest.mark.parametrize("seconds", [7.0, 12.5, 20.0, 33.3])
@pytest.mark.parametrize("hours", [0.5, 1.1, 40.0])
def test_a_budget_is_used_up_but_never_overdrawn(hours: float, seconds: float) -> None:
    pairs = Budget(hours, 3, 2, seconds).pairs
    assert Effort(pairs, 3, 2, seconds).minutes_each <= hours * 60 + 1e-6
    assert Effort(pairs + 1, 3, 2, seconds).minutes_each > hours * 60


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hours": 0}, "hours is 0"),
        ({"hours": float("nan")}, "hours is nan"),
        ({"raters": 0}, "raters is 0"),
        ({"ratings_per_pair": 0}, "ratings_per_pair"),
        ({"seconds": 0}, "seconds is 0"),
        ({"hours": 0.001}, "not enough for one pair"),
        ({"hours": 1e308}, "at most 1,000,000"),
        ({"raters": 10**400}, "at most 1,000,000"),
        ({"seconds": 1e-320}, "more than 0"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(NotValid, match=message):
        Budget(**{"hours": 1, **wrong})  # type: ignore[arg-type]
