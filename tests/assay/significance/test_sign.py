"""Tests of the sign test: equal to the binomial test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.significance.paired_differences import paired_p_values


def p_of(*differences: float) -> float:
    (result,) = paired_p_values(np.column_stack([np.zeros(len(differences)), differences]), test="sign").values
    assert result is not None
    return result


@given(st.integers(0, 60), st.integers(0, 60), st.integers(6, 20))
@settings(deadline=None, max_examples=50)
def test_it_is_scipys(wins: int, losses: int, ties: int) -> None:
    result = p_of(*[0.2] * wins, *[-0.1] * losses, *[0.0] * ties)
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert result == pytest.approx(expected, abs=1e-12)


def test_five_of_six_by_hand() -> None:
    # (1 + 6) of 64 patterns have at most one loss; both sides count.
    assert p_of(0.1, 0.1, 0.1, 0.1, 0.1, -0.9) == pytest.approx(14 / 64, abs=1e-12)


def test_differences_of_rounding_are_ties() -> None:
    assert p_of(*[1e-10] * 20, 0.5, 0.5) == p_of(*[0.0] * 20, 0.5, 0.5) == 0.5
