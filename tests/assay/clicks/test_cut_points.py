"""Tests of cut points of click labels: given ones, and ones fitted to people's shares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.clicks.grade_cuts import fitted_cuts, grades_of, parse_cuts
from assay.core.errors import NotValid


@pytest.mark.parametrize("text", ["1, 1", "2, 1", "x", "nan", "1, inf", ",".join(map(str, range(30)))])
def test_invalid_cut_points(text: str) -> None:
    with pytest.raises(NotValid, match=r"such as 0\.5, 1, 2"):
        parse_cuts(text)


def test_no_cuts_at_all() -> None:
    assert parse_cuts(" ") == ()


@given(values=st.lists(st.integers(0, 10**6), min_size=4, max_size=40, unique=True), data=st.data())
def test_fitted_cuts_give_as_many_of_each_grade(values: list[int], data: st.DataObject) -> None:
    grades = [0, 1, 2, *data.draw(st.lists(st.integers(0, 2), min_size=len(values) - 3, max_size=len(values) - 3))]
    labels = np.array(values, dtype=np.float64)
    cuts = fitted_cuts(labels, np.array(grades), (0, 1, 2))
    assert sorted(grades_of(labels, cuts).tolist()) == sorted(grades)


def test_nothing_is_fitted_where_nothing_can_be() -> None:
    assert fitted_cuts(np.array([1.0, 2.0]), np.array([0, 0]), (0, 1)) == ()
    assert fitted_cuts(np.array([1.0, 1.0, 1.0]), np.array([0, 1, 2]), (0, 1, 2)) == ()
