"""Tests of charts: marks stay inside the frame for any numbers, and every chart is a file in both forms."""

from __future__ import annotations

import pytest

from judgments.charts.charts import (
    WIDTH,
    Chart,
    depth_bars,
    picture,
    rank_bars,
    share_bars,
    shared_bars,
    short_names,
    traffic_curve,
)
from judgments.charts.intervals import NamedInterval, leaders
from tests.judgments.charts.vega_lite import layers_of

PARTS = [("in all", "mark"), ("only here", "here")]


def _inside(chart: Chart) -> bool:
    bars = all(bar.x >= 0 and bar.x + bar.width <= WIDTH + 0.2 and bar.height >= 0 for bar in chart.bars)
    return bars and all(0 <= word.x <= WIDTH and 0 <= word.y <= chart.height for word in chart.words)


@pytest.mark.parametrize("counts", [(1, 2, 6), (0, 0, 9), (1, 0, 0), (500, 1, 1), (1, 40_000, 900_000)])
def test_the_curve_stays_inside_its_frame(counts: tuple[int, int, int]) -> None:
    last = sum(counts)
    chart = traffic_curve([(0, 0.0), (last, 1.0)], list(zip(("head", "torso", "tail"), counts, strict=True)))
    assert _inside(chart)


def test_a_log_without_searches_has_an_axis_and_no_curve() -> None:
    chart = traffic_curve([], [("head", 0), ("torso", 0), ("tail", 0)])
    assert [stroke.kind for stroke in chart.strokes] == ["axis"]


def test_bars_share_one_scale() -> None:
    chart = shared_bars([("one", (10, 0)), ("two", (2, 3))], PARTS, "Overlap")
    widths = [bar.width for bar in chart.bars[:4]]
    assert widths[0] == pytest.approx(5 * widths[2], abs=0.1)
    assert _inside(chart)


def test_bars_of_nothing_are_no_error() -> None:
    assert _inside(shared_bars([("one", (0, 0))], PARTS, "Overlap"))
    assert _inside(shared_bars([], PARTS, "Overlap"))


def test_many_ranks_are_put_together() -> None:
    chart = rank_bars([(rank, 2) for rank in range(1, 1001)], "Ranks")
    assert len(chart.bars) <= 60
    assert chart.bars[0].title == "ranks 1–17: 34 pairs"
    assert _inside(chart)


def test_pairs_that_no_run_returns_have_no_bar() -> None:
    assert rank_bars([(None, 7)], "Ranks").bars == ()


def test_names_of_one_picture_can_be_distinguished() -> None:
    ends = [f"system-{number:02}-with-a-long-name" for number in (20, 21, 41)]
    assert short_names(ends) == ["…20…", "…21…", "…41…"]
    begins = [f"{word}-with-quite-a-long-name-of-the-team" for word in ("neural", "lexical")]
    assert len(set(short_names(begins))) == 2
    for names in (ends, begins, ["bm25"], [], ["the very same and very long name"] * 2):
        assert all(len(name) <= 13 for name in short_names(names))


@pytest.mark.parametrize("ranges", [[], [(1, 1, 1)], [(n, n, n**3) for n in range(1, 13)], [(1, 90, 4), (91, 99, 0)]])
def test_depths_and_shares_stay_inside_their_frame(ranges: list[tuple[int, int, int]]) -> None:
    assert _inside(depth_bars(ranges))
    assert _inside(share_bars([(f"run {low}", queries / 2000) for low, _, queries in ranges]))


@pytest.mark.parametrize("chart", [rank_bars([(None, 7)], "Ranks"), leaders([], "No runs", "AP"), Chart(24, "Nothing")])
def test_a_chart_without_data_is_a_file(chart: Chart) -> None:
    assert not any(layers_of(picture(chart, "none", "vl.json")))
    assert picture(chart, "none", "svg").headers["Content-Type"] == "image/svg+xml"


def test_ranks_that_share_a_bar_share_a_row() -> None:
    (rows,) = layers_of(picture(rank_bars([(rank, 2) for rank in range(1, 1001)], "Ranks"), "ranks", "vl.json"))
    assert rows[0] == {"rank": "1–17", "pairs": 34}
    assert sum(row["pairs"] for row in rows) == 2000


def test_names_are_data_however_long_or_odd() -> None:
    names = ["a" * 300, "</script>", '"; datum.x', "=1+1", "a\u0001b"]
    _, points = layers_of(
        picture(leaders([NamedInterval(name, 1 / 3) for name in names], "AP", "AP"), "x", "tiers.vl.json")
    )
    assert [(row["run"], row["value"], row["low"]) for row in points] == [(name, 1 / 3, None) for name in names]
