"""Tests of cut points: they recover the grades of the anchors, and too few anchors are refused."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import NotValid
from assay.llm.pairwise.cut_points import learn


def test_cut_points_of_a_known_model_are_recovered() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(0, 2, 4_000)
    below = 1 / (1 + np.exp(-1.5 * (np.array([-1.0, 0.5, 2.0])[None, :] - scores[:, None])))
    grades = (rng.random(4_000)[:, None] > below).sum(axis=1)
    points = learn(scores, grades.tolist())
    assert points.cuts == pytest.approx((-1.0, 0.5, 2.0), abs=0.12)
    assert points.steepness == pytest.approx(1.5, abs=0.12)
    assert points.probabilities(scores[:50]).sum(axis=1) == pytest.approx(np.ones(50))


def test_grades_never_fall_as_scores_rise_and_none_is_made_up() -> None:
    points = learn([-2, -1, -0.5, 0.1, 0.4, 1.0, 2.5, 3.0], [0, 0, 1, 0, 1, 3, 3, 3])
    given = points.grades(np.linspace(-5, 5, 200))
    assert (np.diff(given) >= 0).all()
    assert set(given.tolist()) <= {0, 1, 3}


def test_too_few_anchors_are_refused() -> None:
    with pytest.raises(NotValid, match="3 anchors with 2 grades"):
        learn([0, 1, 2], [0, 1, 1])
    with pytest.raises(NotValid, match="with 1 grade"):
        learn(range(9), [2] * 9)
    with pytest.raises(NotValid, match="2 scores and 1 grade"):
        learn([0, 1], [0])
