"""Does the picture of the discovery curve stand inside its frame, and say what was counted?"""

from __future__ import annotations

import re

import numpy as np
import pytest

from evaluation.discovery_chart import HIGH, WIDE, discovery_curve
from evaluation.estimators.discovery import Discovery
from evaluation.estimators.missed import CURVE, Missed
from pooling.charts import PHONE


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
    found = [re.findall(r"(-?[\d.]+),(-?[\d.]+)", line) for line in lines]
    return [(float(x), float(y)) for one in found for x, y in one]


@pytest.mark.parametrize("width", [WIDE, PHONE])
@pytest.mark.parametrize("high", [None, 0.0, 30.0, 4_000.0])
@pytest.mark.parametrize("relevant", [[0, 0, 0], [1, 0, 0], [3, 2, 1], [900, 300, 20]])
def test_everything_stands_inside_the_frame(relevant, high, width):
    told = (None, None, None) if high is None else (high / 2, 0.0, high)
    missed = Missed(*told, CURVE, sum(relevant), 90, 1, reason=None if told[0] is not None else "too few")
    chart = discovery_curve(curve(relevant, [1000, 1000, 0], [0, 0, 1000], 2), missed, width)
    assert all(0 <= x <= width and 0 <= y <= HIGH for x, y in points(chart))
    assert all(
        begin >= 0 and end <= width and 0 < word.y <= HIGH for word in chart.words for begin, end in [reach(word)]
    )
    assert f"{sum(relevant):,} found" in [word.text for word in chart.words]
    assert chart.label.startswith(f"{sum(relevant):,} relevant among 2,000 judged pairs of 3,000")


def test_ranks_that_were_not_judged_whole_are_drawn_thin():
    missed = Missed(2.0, 0.0, 9.0, CURVE, 5, 10, 1)
    kinds = [stroke.kind for stroke in discovery_curve(curve([3, 2, 0], [5, 5, 1], [0, 0, 9], 2), missed).strokes]
    assert kinds.count("cut") == 1
    assert "axis" in kinds
    whole = Missed(0.0, 0.0, 0.0, CURVE, 5, 0, 1)
    kinds = [stroke.kind for stroke in discovery_curve(curve([3, 2], [5, 5], [0, 0], 2), whole).strokes]
    assert set(kinds) == {"grid", "here-line", "here"}
