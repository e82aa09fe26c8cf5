"""Geometry of the discovery curve: relevant documents found over documents pooled, by depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from assay.core.counted_nouns import amount
from judgments.charts.charts import PHONE, Chart, Stroke, Words, whole_ticks
from judgments.charts.intervals import dot

if TYPE_CHECKING:
    from assay.estimators.discovery_curve import Discovery
    from assay.estimators.residual_sample import Missed

WIDE, HIGH = 900.0, 300.0
LEFT, TOP, BOTTOM = 64.0, 28.0, 44.0
# Depths that are labeled along the curve if there is room.
NAMED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
ROOM = 56.0


def discovery_curve(curve: Discovery, missed: Missed, width: float = WIDE) -> Chart:
    """Draw relevant documents found over documents pooled, by depth, with the estimated total."""
    steps = curve.steps()
    pooled, judged_relevant = steps[-1]["pooled"], steps[-1]["relevant"]
    top = max(judged_relevant, 1, judged_relevant + (missed.high or 0.0))
    ticks = whole_ticks(top)
    top = max(top, ticks[-1])
    right = width - (28.0 if width <= PHONE else 150.0)

    def x(pairs: float) -> float:
        return round(LEFT + (right - LEFT) * pairs / max(pooled, 1), 1)

    def y(relevant: float) -> float:
        return round(HIGH - BOTTOM - (HIGH - BOTTOM - TOP) * relevant / top, 1)

    points = [f"{x(0)},{y(0)}", *(f"{x(step['pooled'])},{y(step['relevant'])}" for step in steps)]
    strokes = [Stroke(f"M{LEFT},{y(tick)}H{right}", "grid") for tick in ticks]
    strokes += _whole(curve, x)
    # Below the completely judged ranks a flat line means nothing, so it is drawn in a muted style.
    strokes += [Stroke(f"M{' '.join(points[curve.whole :])}", "axis")] if curve.whole < curve.depth else []
    strokes += [Stroke(f"M{' '.join(points[: curve.whole + 1])}", "here-line")] if curve.whole else []
    strokes.append(dot(x(pooled), y(judged_relevant), "here"))
    words = [Words(LEFT - 8, y(tick) + 4, f"{tick:,}", "end", "mute") for tick in ticks]
    words += _depths(steps, x)
    words.append(Words(LEFT, HIGH - 6, "documents returned down to this rank", kind="mute"))
    words += _ends(strokes, missed, judged_relevant, y, right, beside=width > PHONE)
    label = (
        f"{judged_relevant:,} relevant in {amount(steps[-1]['judged'], 'judged pair')} "
        f"of {pooled:,} returned by the runs, by depth"
    )
    return Chart(HIGH, label, tuple(strokes), words=tuple(words), width=width)


def _whole(curve: Discovery, x: Callable[[float], float]) -> list[Stroke]:
    """Mark the depth down to which everything is judged, if deeper ranks follow."""
    if not 0 < curve.whole < curve.depth:
        return []
    at = x(curve.steps()[curve.whole - 1]["pooled"])
    return [Stroke(f"M{at},{TOP}V{HIGH - BOTTOM}", "cut")]


def _depths(steps: Sequence[dict[str, int]], x: Callable[[float], float]) -> list[Words]:
    words: list[Words] = []
    last = -ROOM
    for step in steps:
        at = x(step["pooled"])
        if step["depth"] in NAMED and at - last >= ROOM:
            words.append(Words(at, HIGH - BOTTOM + 16, f"rank {step['depth']:,}", "middle", "mute"))
            last = at
    return words


def _ends(
    strokes: list[Stroke], missed: Missed, relevant: int, y: Callable[[float], float], right: float, *, beside: bool
) -> list[Words]:
    """Write at the right how many were found, and the interval of the estimated total."""

    def words_at(height: float, text: str, kind: str = "") -> Words:
        if beside:
            return Words(right + 26, height + 4, text, kind=kind)
        return Words(right + 4, height - 8, text, "end", kind)

    words = [words_at(y(relevant), f"{relevant:,} found")]
    if missed.value is None or missed.low is None or missed.high is None or not missed.unjudged:
        return words
    at = right + 14
    low, middle, high = (y(relevant + value) for value in (missed.low, missed.value, missed.high))
    strokes += [Stroke(f"M{at},{low}V{high}", "axis"), dot(at, middle, "mark")]
    if y(relevant) - middle > 16:
        words.append(words_at(middle, f"about {relevant + missed.value:,.0f} in total", "mute"))
    return words
