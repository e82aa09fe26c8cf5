"""Tests of score charts: positions of dots, lines and names."""

from __future__ import annotations

import itertools
import re

import pytest

from evaluation.scoring.charts import HIGH, LEFT, RIGHT, WIDE, over_time, tier_rows
from judgments.charts.intervals import Axis, NamedInterval, axis_over, leaders

A, B = NamedInterval("a", 0.4, 0.3, 0.5), NamedInterval("b", 0.6)


def places(chart, kind: str) -> list[tuple[float, float]]:
    """The middles of the dots of one kind."""
    result = (re.match(r"M([\d.]+),([\d.]+)a([\d.]+)", stroke.d) for stroke in chart.strokes if stroke.kind == kind)
    return [(float(dot[1]) + float(dot[3]), float(dot[2])) for dot in result if dot]


def test_tiers_share_one_axis() -> None:
    chart = tier_rows([("head", [A, B]), ("tail", [B, A])], "by tier")
    (first, _), (second, _) = places(chart, "here")
    assert first < second  # 0.4 to the left of 0.6, although in another tier
    heights = [y for _, y in [*places(chart, "here"), *places(chart, "mark")]]
    assert len(set(heights)) == 4
    assert sum(stroke.kind == "line" for stroke in chart.strokes) == 2  # b has no interval


def test_only_so_many_runs_are_drawn_and_the_others_counted() -> None:
    many = [NamedInterval(f"run{n}", n / 60) for n in range(60)]
    chart = tier_rows([("head", many)], "by tier")
    assert "and 55 more" in [word.text for word in chart.words]
    assert len(places(chart, "mark")) == 4


def test_a_gap_breaks_the_line() -> None:
    chart = over_time(["one", "two", "three"], {"a": [A, None, B]}, "over time", here="a")
    (line,) = (stroke.d for stroke in chart.strokes if stroke.kind == "here-line" and stroke.d.count("M") == 2)
    assert "L" not in line
    xs = [x for x, _ in places(chart, "here")]
    assert xs == sorted(xs)
    assert LEFT < xs[0] < xs[1] < WIDE - RIGHT


def test_higher_is_up_and_names_do_not_overlap() -> None:
    runs = {f"run{n}": [NamedInterval(f"run{n}", 0.5 + n / 10_000)] for n in range(6)}
    chart = over_time(["one"], runs, "over time")
    names = sorted(word.y for word in chart.words if word.text.startswith("run"))
    assert all(below - above >= 14 for above, below in itertools.pairwise(names))
    up = over_time(["one"], {"a": [A], "b": [B]}, "over time", here="b")
    assert places(up, "here")[0][1] < places(up, "mark")[0][1] < HIGH


def test_many_snapshots_keep_their_names_apart() -> None:
    names = [f"a-snapshot-with-a-long-name-{n}" for n in range(40)]
    chart = over_time(names, {"a": [A] * 40}, "over time")
    below = [word for word in chart.words if word.anchor == "middle"]
    assert len(below) <= 10
    assert below[-1].text.endswith("39")


def test_few_snapshots_are_seen_on_a_phone() -> None:
    chart = over_time(["one"], {"a": [A], "b": [B]}, "over time")
    assert all(LEFT < x < 200 for x, _ in places(chart, "mark"))
    assert all(word.x < 200 for word in chart.words if word.text in ("a", "b"))


def test_nothing_to_draw() -> None:
    assert over_time([], {}, "over time").strokes
    assert tier_rows([], "by tier").label == "by tier"


def test_counts_in_the_millions_have_as_few_ticks_as_shares() -> None:
    """NumRet is a sum over the queries: a tick for each whole number would be a picture of megabytes."""
    runs = [NamedInterval("shallow", 70_000.0, 69_000.0, 71_000.0), NamedInterval("deep", 6_980_000.0)]
    axis = axis_over(runs, 0, 100)
    assert 2 <= len(axis.ticks()) <= 5
    assert "2,000,000" in [axis.written(tick) for tick in axis.ticks()]
    assert len(leaders(runs, "NumRet", "NumRet").strokes) < 10
    assert len(over_time(["one"], {one.name: [one] for one in runs}, "over time").strokes) < 20


@pytest.mark.parametrize("span", [0.04, 0.3, 1.0, 4.9, 5.0, 37.0, 1e4, 3e9])
@pytest.mark.parametrize("low", [-2.0, 0.0, 0.31, 12_345.0])
def test_ticks_are_few_round_and_tell_themselves_apart(low: float, span: float) -> None:
    axis = Axis(low, low + span, 0, 100)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 6
    assert all(low - span / 1e6 <= tick <= low + span * (1 + 1e-6) for tick in ticks)
    assert len({axis.written(tick) for tick in ticks}) == len(ticks)
