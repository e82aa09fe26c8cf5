"""Chart geometry for scores and agreement: dots, whiskers and bars.

As in `judgments.charts.charts`, whose `Chart` is used here too, colors are classes of the stylesheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from judgments.charts.charts import LONGEST_NAME, Bar, Chart, Stroke, Words, short_names
from judgments.charts.plots import Axis, Layer, Names, Plot, ranges

WIDTH = 240
NAME = 88
MOST_ROWS = 5
ROW = 15


class NamedInterval(NamedTuple):
    """A named value with an optional interval."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None

    def row(self, value: str = "value") -> dict[str, Any]:
        return {"run": self.name, value: self.value, "low": self.low, "high": self.high}


def axis_over(estimates: Iterable[NamedInterval], start: float, end: float, title: str = "") -> Axis:
    """Return an axis that covers all values and intervals."""
    ends = [end for one in estimates for end in (one.value, one.low, one.high) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = max((high - low) * 0.08, 0.02)
    return Axis(round(low - room, 2), round(high + room, 2), start, end, title)


def dot(x: float, y: float, kind: str = "mark", radius: float = 4.0) -> Stroke:
    """Return a filled circle as a path."""
    return Stroke(
        f"M{x - radius:g},{y:g}a{radius},{radius} 0 1 0 {2 * radius:g},0a{radius},{radius} 0 1 0 {-2 * radius:g},0Z",
        kind,
    )


def whisker(axis: Axis, low: float | None, high: float | None, y: float, cap: float = 0) -> list[Stroke]:
    """Return an interval as a line, with caps if they fit."""
    if low is None or high is None:
        return []
    ends = [axis.at(low), axis.at(high)]
    caps = "".join(f" M{end},{y - cap:g}v{2 * cap:g}" for end in ends) if cap else ""
    return [Stroke(f"M{ends[0]},{y:g}H{ends[1]}{caps}", "line")]


def leaders(estimates: Sequence[NamedInterval], label: str, unit: str, most: int = MOST_ROWS) -> Chart:
    """Return the means with their intervals, at most this many, with the first one marked."""
    shown = estimates[:most]
    axis = axis_over(shown, NAME + 4, WIDTH - 6, unit)
    plot = Plot(axis, Names("run"), [one.row() for one in shown], ranges("x", "value", "low", "high", {"y": "run"}))
    strokes: list[Stroke] = []
    words: list[Words] = []
    names = short_names([one.name for one in shown], LONGEST_NAME)
    for number, one in enumerate(shown):
        y = 8 + ROW * number
        words.append(Words(0, y + 4, names[number]))
        strokes += [*whisker(axis, one.low, one.high, y), dot(axis.at(one.value), y, "mark" if number else "here")]
    foot = 8 + ROW * len(shown) + 8
    words += [
        Words(NAME + 4, foot, axis.written(axis.low), kind="mute"),
        Words(WIDTH, foot, f"{unit} {axis.written(axis.high)}", "end", "mute"),
    ]
    words += more(estimates, foot, most)
    return Chart(foot + 4, label, tuple(strokes), words=tuple(words), width=WIDTH, plot=plot)


def levels(
    axis: Axis, left: float, right: float, ticks: Sequence[float] = (), gap: int = 8
) -> tuple[list[Stroke], list[Words]]:
    """Return the horizontal grid lines of an axis, with their numbers on the left."""
    ticks = ticks or axis.ticks()
    strokes = [Stroke(f"M{left},{axis.at(tick)}H{right}", "grid") for tick in ticks]
    return strokes, [Words(left - gap, axis.at(tick) + 4, axis.written(tick), "end", "mute") for tick in ticks]


def line_of(x: Axis, y: Axis, layer: Layer) -> Stroke:
    """Return the line through the rows of a layer."""
    points = [(x.at(row[layer.fields["x"]]), y.at(row[layer.fields["y"]])) for row in layer.rows or ()]
    return Stroke("M" + " ".join(f"{left},{up}" for left, up in points), layer.kind)


def more(rows: Sequence[object], y: float, most: int = MOST_ROWS) -> list[Words]:
    """Return the number of rows that did not fit."""
    left = len(rows) - most
    return [Words(0, y, f"and {left} more", kind="mute")] if left > 0 else []


def row_dot(axis: Axis, one: NamedInterval, best: bool, baseline: float | None = None) -> Chart:
    """Return one row of a leaderboard: grid, interval, mean, and a dashed line at the reference value."""
    grid = "".join(f"M{axis.at(tick)},0v20" for tick in axis.ticks())
    strokes = [Stroke(grid, "grid")] if grid else []
    if baseline is not None:
        strokes.append(Stroke(f"M{axis.at(baseline)},0v20", "cut"))
    strokes += [
        *whisker(axis, one.low, one.high, 10, cap=4),
        dot(axis.at(one.value), 10, "here" if best else "mark", 4.5),
    ]
    interval = f", interval {one.low:.3f} to {one.high:.3f}" if one.low is not None and one.high is not None else ""
    return Chart(20, f"{one.name}: {one.value:.3f}{interval}", tuple(strokes), width=axis.end)


def axis_head(axis: Axis) -> Chart:
    """Return the numbers above these rows."""
    words = tuple(Words(axis.at(tick), 11, axis.written(tick), "middle", "mute") for tick in axis.ticks())
    return Chart(14, "", words=words, width=axis.end)


def gate(value: float, low: float | None, high: float | None, threshold: float) -> Chart:
    """Return a coefficient with its interval and the threshold of its gate."""
    least = min(0.4, math.floor((low if low is not None else value) * 10) / 10)
    axis = Axis(max(least, -1.0), 1.0, 0, WIDTH)
    at = axis.at(threshold)
    strokes = [*whisker(axis, low, high, 30, cap=5), dot(axis.at(value), 30, radius=4.5), Stroke(f"M{at},18V44", "cut")]
    ticks = axis.ticks(7)
    words = [Words(at, 13, f"gate {threshold:.2f}", "middle"), Words(0, 13, "failed", kind="mute")]
    words += [Words(WIDTH, 13, "passed", "end", "mute")]
    for tick in ticks:
        place = axis.at(tick)
        anchor = "start" if place < 10 else "end" if place > WIDTH - 10 else "middle"
        words.append(Words(place, 58, f"{tick:.1f}".replace("-", "−"), anchor))
    interval = f" with interval {low:.3f} to {high:.3f}" if low is not None and high is not None else ""
    label = f"Alpha {value:.3f}{interval}; the gate is at {threshold:.2f}"
    bars = (Bar(0, 20, at, 20, "soft"), Bar(at, 20, round(WIDTH - at, 1), 20, "g1"))
    return Chart(64, label, tuple(strokes), bars, tuple(words), width=WIDTH)
