"""Chart of a decision: the mean difference with its confidence sequence over the judged queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgments.charts.charts import Chart, Stroke, Words
from judgments.charts.intervals import Axis, dot

if TYPE_CHECKING:
    from assay.sequential.decide import Decision as Outcome

WIDTH, NARROW, HEIGHT, LEFT, TOP, FOOT = 900.0, 340.0, 260.0, 44.0, 10.0, 34.0
# A step function with more points is thinned out, because a screen cannot show them.
MOST_POINTS = 300
LARGEST = 0.6


def sequence(outcome: Outcome, label: str, width: float = WIDTH) -> Chart:
    """Draw the interval as a band around the mean, with lines at 0 and at the smallest relevant difference."""
    trace = outcome.trace
    step = max(1, len(trace) // MOST_POINTS)
    shown = [one for at, one in enumerate(trace) if at % step == 0 or at == len(trace) - 1]
    bounded = [one for one in shown if one.low is not None and one.high is not None]
    if not shown:
        return Chart(24, label, words=(Words(0, 16, "no query is judged yet", kind="mute"),), width=width)
    delta = outcome.delta
    ends = [abs(end) for one in bounded for end in (one.low, one.high) if end is not None]
    # Early intervals are wide; the axis shows the part that decides.
    half = min(max([2 * delta, *sorted(ends)[: max(1, len(ends) * 3 // 4)]], default=0.2), LARGEST)
    half = max(half, *(abs(one.mean) for one in shown[-1:]), 2 * delta) * 1.08
    across = Axis(1, max(shown[-1].n, 2), LEFT, width - 8)
    up = Axis(-half, half, -(HEIGHT - FOOT), -TOP)

    def y(value: float) -> float:
        return -up.at(value)

    strokes = [Stroke(f"M{LEFT},{y(tick):g}H{width - 8:g}", "grid") for tick in up.ticks(7)]
    if bounded:
        above = " ".join(f"{across.at(one.n)},{y(one.high or 0):g}" for one in bounded)
        below = " ".join(f"{across.at(one.n)},{y(one.low or 0):g}" for one in reversed(bounded))
        strokes.append(Stroke(f"M{above} L{below}Z", "soft"))
    strokes += [
        Stroke(f"M{LEFT},{y(delta):g}H{width - 8:g}M{LEFT},{y(-delta):g}H{width - 8:g}", "cut"),
        Stroke(f"M{LEFT},{y(0):g}H{width - 8:g}", "axis"),
        Stroke("M" + " ".join(f"{across.at(one.n)},{y(one.mean):g}" for one in shown), "line"),
    ]
    words = [
        Words(LEFT - 6, y(tick) + 4, f"{tick:+.2f}".replace("-", "−") if tick else "0", "end", "mute")
        for tick in up.ticks(7)
    ]
    words += [Words(across.at(tick), HEIGHT - FOOT + 16, f"{tick:.0f}", "middle", "mute") for tick in _whole(across)]
    words.append(Words(width - 8, HEIGHT - 4, "judged queries", "end", "mute"))
    decided = next((one for one in trace if one.verdict != "undecided"), None)
    if decided is not None:
        x = across.at(decided.n)
        strokes += [Stroke(f"M{x},{TOP:g}V{HEIGHT - FOOT:g}", "here-line"), dot(x, y(decided.mean), "here", 5)]
        anchor = "end" if x > width / 2 else "start"
        words.append(Words(x + (-8 if anchor == "end" else 8), TOP + 8, f"{decided.verdict} at {decided.n:,}", anchor))
    return Chart(HEIGHT, label, tuple(strokes), words=tuple(words), width=width)


def _whole(axis: Axis) -> list[float]:
    return sorted({float(round(tick)) for tick in axis.ticks(8) if tick >= 1})
