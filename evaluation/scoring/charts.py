"""Chart geometry for scores by tier and over time.

As in `judgments.charts.charts`, whose `Chart` this module uses, colors are classes of the stylesheet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgments.charts.charts import Chart, Stroke, Words, short_name, short_names
from judgments.charts.intervals import MOST_ROWS, NamedInterval, axis_over, dot, levels, more, whisker
from judgments.charts.plots import Axis, Layer, Names, Plot, ranges

WIDTH = 320.0
NAME = 96.0
ROW = 15
# Margins of the chart over time: numbers on the left, names of runs on the right, snapshots below.
WIDE, HIGH = 900.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 150.0, 14.0, 34.0
# A few snapshots are drawn close together at the left, so that a phone shows them without scrolling.
MOST_STEP = 140.0
LINE_OF_WORDS = 14.0
MOST_NAMES = 10
LONGEST_SNAPSHOT = 60


def tier_rows(
    tiers: Sequence[tuple[str, Sequence[NamedInterval]]], label: str, metric: str = "", most: int = MOST_ROWS
) -> Chart:
    """Draw the runs with their intervals under each tier's name, all on one axis."""
    shown = [(words, estimates[:most]) for words, estimates in tiers]
    axis = axis_over([one for _, estimates in shown for one in estimates], NAME, WIDTH - 8, metric)
    rows = [{"tier": tier, **one.row()} for tier, estimates in shown for one in estimates]
    under = {"y": "tier", "yOffset": "run", "color": "run"}
    plot = Plot(axis, Names("tier"), rows, ranges("x", "value", "low", "high", under))
    strokes: list[Stroke] = []
    words: list[Words] = []
    y = 10.0
    for name, estimates in shown:
        words.append(Words(0, y + 2, name, kind="mute"))
        runs = short_names([one.name for one in estimates])
        for place, one in enumerate(estimates):
            y += ROW
            words.append(Words(0, y + 4, runs[place]))
            strokes += [*whisker(axis, one.low, one.high, y), dot(axis.at(one.value), y, _kind(place == 0))]
        y += ROW + 7
    words += [Words(axis.at(tick), y + 4, axis.written(tick), "middle", "mute") for tick in axis.ticks()]
    grid = "".join(f"M{axis.at(tick)},4V{y - 8:g}" for tick in axis.ticks())
    left = more(max((estimates for _, estimates in tiers), key=len, default=[]), y + 18, most)
    height = y + (22 if left else 8)
    return Chart(height, label, (Stroke(grid, "grid"), *strokes), words=(*words, *left), width=WIDTH, plot=plot)


def over_time(
    snapshots: Sequence[str],
    runs: Mapping[str, Sequence[NamedInterval | None]],
    label: str,
    here: str = "",
    metric: str = "",
) -> Chart:
    """Draw each run's mean with its interval on one snapshot after another."""
    axis = axis_over([one for series in runs.values() for one in series if one], HIGH - BOTTOM, TOP, metric)
    # An empty row is a gap in the line.
    rows = [
        {"snapshot": snapshot, **(one.row("mean") if one else {}), "run": name}
        for name, series in runs.items()
        for snapshot, one in zip(snapshots, series, strict=True)
    ]
    across = {"x": "snapshot", "xOffset": "run", "color": "run"}
    marks = (Layer("line", {"y": "mean", **across}), *ranges("y", "mean", "low", "high", across))
    step = min((WIDE - LEFT - RIGHT) / max(len(snapshots), 1), MOST_STEP)
    end = LEFT + step * max(len(snapshots), 1)
    strokes, words = levels(axis, LEFT, end, gap=6)
    words += _snapshot_names(snapshots, step)
    ends: list[tuple[float, str]] = []
    for place, (name, series) in enumerate(sorted(runs.items(), key=lambda run: run[0] == here)):
        # Intervals of several runs are drawn side by side so that they do not overlap.
        shift = (place - (len(runs) - 1) / 2) * min(9.0, step / (len(runs) + 1))
        points = [
            None if one is None else (round(LEFT + step * (at + 0.5) + shift, 1), one) for at, one in enumerate(series)
        ]
        strokes += _line(axis, points, name == here)
        last = next((point for point in reversed(points) if point), None)
        ends += [(axis.at(last[1].value), name)] if last else []
    words += _names(ends, here, end)
    plot = Plot(Names("snapshot"), axis, rows, marks)
    return Chart(HIGH, label, tuple(strokes), words=tuple(words), width=WIDE, plot=plot)


def _line(axis: Axis, points: Sequence[tuple[float, NamedInterval] | None], here: bool) -> list[Stroke]:
    """Draw a run's line with dots and whiskers, with gaps where the run has no scores."""
    path, strokes = "", []
    before = None
    for point in points:
        if point is not None:
            x, one = point
            path += f"{'L' if before else 'M'}{x:g},{axis.at(one.value)}"
            if one.low is not None and one.high is not None:
                strokes.append(
                    Stroke(f"M{x:g},{axis.at(one.low)}V{axis.at(one.high)}", "here-line" if here else "axis")
                )
            strokes.append(dot(x, axis.at(one.value), _kind(here), 4.5 if here else 3.5))
        before = point
    return [Stroke(path, "here-line" if here else "axis"), *strokes]


def _names(ends: Sequence[tuple[float, str]], here: str, end: float) -> list[Words]:
    """Write each run's name at the end of its line, moved down if two names would overlap."""
    words: list[Words] = []
    lowest = -LINE_OF_WORDS
    shown = dict(zip((name for _, name in ends), short_names([name for _, name in ends], 22), strict=True))
    for y, name in sorted(ends):
        lowest = max(y + 4, lowest + LINE_OF_WORDS)
        kind = "" if name == here or not here else "mute"
        words.append(Words(end + 8, round(lowest, 1), shown[name], kind=kind))
    return words


def _snapshot_names(names: Sequence[str], step: float) -> list[Words]:
    """Write as many snapshot names below the chart as fit, always including the last."""
    every = -(-len(names) // MOST_NAMES)
    room = max(4, min(int(step * every / 7.5), LONGEST_SNAPSHOT))
    return [
        Words(round(LEFT + step * (at + 0.5), 1), HIGH - BOTTOM + 22, short_name(name, room), "middle")
        for at, name in enumerate(names)
        if (len(names) - 1 - at) % every == 0
    ]


def _kind(here: bool) -> str:
    return "here" if here else "mark"
