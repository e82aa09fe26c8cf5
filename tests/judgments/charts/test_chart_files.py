"""Tests of charts as files: every chart has both forms, also without data and with any names."""

from __future__ import annotations

import pytest

from judgments.charts.chart_files import picture
from judgments.charts.charts import Chart, rank_bars
from judgments.charts.intervals import Estimate, leaders
from tests.judgments.charts.vega_lite import layers_of


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
    _, points = layers_of(picture(leaders([Estimate(name, 1 / 3) for name in names], "AP", "AP"), "x", "tiers.vl.json"))
    assert [(row["run"], row["value"], row["low"]) for row in points] == [(name, 1 / 3, None) for name in names]
