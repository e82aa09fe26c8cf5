"""Tests of the discovery chart: marks inside the frame and correct labels."""

from __future__ import annotations

import re

import numpy as np
import pytest

from assay.estimators.discovery_curve import Discovery
from assay.estimators.residual_sample import CURVE, Missed
from evaluation.reuse.views import HIGH, WIDE, discovery_curve
from judgments.charts.charts import PHONE


def curve(relevant, judged, unjudged, whole):
    return Discovery(*(np.array([part]) for part in (judged, relevant, unjudged)), whole)


def reach(word):
    """From where to where a text goes, a letter being six wide."""
    long = 6 * len(word.text)
    begin = word.x - {"start": 0, "middle": long / 2, "end": long}[word.anchor]
    return begin, begin + long


def points(chart):
    """Where lines go; dots are arcs, which are told by how far they go."""
    lines = [stroke.d for stroke in chart.strokes if stroke.kind not in ("here", "mark")]
    results = [re.findall(r"(-?[\d.]+),(-?[\d.]+)", line) for line in lines]
    return [(float(x), float(y)) for one in results for x, y in one]


@pytest.mark.parametrize("width", [WIDE, PHONE])
@pytest.mark.parametrize("high", [None, 0.0, 30.0, 4_000.0])
@pytest.mark.parametrize("relevant", [[0, 0, 0], [1, 0, 0], [3, 2, 1], [900, 300, 20]])
def test_every_mark_is_inside_the_frame(relevant, high, width):
    estimate = (None, None, None) if high is None else (high / 2, 0.0, high)
    missed = Missed(*estimate, CURVE, sum(relevant), 90, 1, reason=None if estimate[0] is not None else "too few")
    chart = discovery_curve(curve(relevant, [1000, 1000, 0], [0, 0, 1000], 2), missed, width)
    assert all(0 <= x <= width and 0 <= y <= HIGH for x, y in points(chart))
    assert all(
        begin >= 0 and end <= width and 0 < word.y <= HIGH for word in chart.words for begin, end in [reach(word)]
    )
    assert f"{sum(relevant):,} found" in [word.text for word in chart.words]
    assert chart.label.startswith(f"{sum(relevant):,} relevant in 2,000 judged pairs of 3,000")


def test_ranks_that_were_not_judged_whole_are_drawn_thin():
    missed = Missed(2.0, 0.0, 9.0, CURVE, 5, 10, 1)
    kinds = [stroke.kind for stroke in discovery_curve(curve([3, 2, 0], [5, 5, 1], [0, 0, 9], 2), missed).strokes]
    assert kinds.count("cut") == 1
    assert "axis" in kinds
    whole = Missed(0.0, 0.0, 0.0, CURVE, 5, 0, 1)
    kinds = [stroke.kind for stroke in discovery_curve(curve([3, 2], [5, 5], [0, 0], 2), whole).strokes]
    assert set(kinds) == {"grid", "here-line", "here"}
