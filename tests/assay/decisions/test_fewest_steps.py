"""Tests of the smallest number of steps that exceeds a sum."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.decisions.decision_critical import fewest

ROWS = st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]), min_size=3, max_size=3), min_size=1, max_size=4)


@settings(max_examples=50, deadline=None)
@given(rises=ROWS, need=st.sampled_from([0.0, 0.7, 2.0, 4.0, 6.3, 12.0]))
def test_fewest_of_all_choices(rises, need):
    reached = np.concatenate((np.zeros((len(rises), 1)), np.cumsum(rises, axis=1)), axis=1)
    choices = np.array(list(product(range(4), repeat=len(rises))))
    sums = sum(reached[place, choices[:, place]] for place in range(len(rises)))
    enough = choices[sums > need].sum(axis=1)
    result = fewest(reached, need)
    if not len(enough):
        assert result is None
        return
    assert result.total == result.at_least == enough.min()
    assert sum(reached[place, step] for place, step in enumerate(result.taken)) > need


def test_too_much_work_gives_a_lower_bound(monkeypatch):
    monkeypatch.setattr("assay.decisions.decision_critical.MOST_WORK", 0)
    result = fewest(np.array([[0.0, 0.0, 0.0, 6.0], [0.0, 2.0, 2.0, 2.0], [0.0, 1.9, 1.9, 1.9]]), 3.8)
    assert result.at_least <= 2 <= result.total


@pytest.mark.parametrize("need", [0.0, 9.99, 99.5])
def test_many_places_with_falling_steps(need):
    reached = np.tile(np.array([0.0, 0.6, 0.9, 1.0]), (100, 1))
    result = fewest(reached, need)
    assert result.total == result.at_least
    assert float(np.take_along_axis(reached, result.taken[:, np.newaxis], axis=1).sum()) > need
