"""Where do the curve of what judging found, and the one of depth k beside it, stand? Geometry only, as in `charts`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pooling.charts import Bar, Chart, Stroke, Words

if TYPE_CHECKING:
    from pooling.strategies.discovery import Found

WIDE, HIGH = 900.0, 320.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 150.0, 30.0, 44.0
# More points than there are pixels only make the file longer.
MOST_POINTS = 300


def found_curve(found: Found, strategy: str) -> Chart:
    """Draw relevant documents over judged pairs, and what depth k of the same runs is known to have found.

    Parameters
    ----------
    found : Found
        The counts.
    strategy : str
        What the pairs were chosen by, in words.

    Examples
    --------
    >>> from pooling.strategies.discovery import discovery
    >>> found_curve(discovery([(True, 1), (False, 2)], [1, 3]), "hedge").label
    '1 relevant among 2 judged pairs, in the order of judging; depth 1 is known to hold 1 among 1'
    """
    depths = [one for one in found.depths if one.pairs <= max(found.judged, 1)]
    beyond = next((one for one in found.depths if one.pairs > found.judged), None)
    right = max(found.judged, 1)
    ticks = _ticks(max(found.total, 1))
    top = max(found.total, ticks[-1], 1)

    def x(pairs: float) -> float:
        return round(LEFT + (WIDE - LEFT - RIGHT) * min(pairs, right) / right, 1)

    def y(relevant: float) -> float:
        return round(HIGH - BOTTOM - (HIGH - BOTTOM - TOP) * relevant / top, 1)

    places = _thinned(found.judged)
    line = " ".join(f"{x(at)},{y(found.relevant[at - 1])}" for at in places)
    strokes = [Stroke(f"M{LEFT},{y(tick)}H{WIDE - RIGHT}", "grid") for tick in ticks]
    words = [Words(LEFT - 8, y(tick) + 4, f"{tick:,}", "end", "mute") for tick in ticks]
    if depths:
        # Where the next depth lies beyond the edge, the line is carried to the edge in its direction.
        steps = [(0.0, 0.0), *((one.pairs, one.relevant) for one in depths)]
        if beyond is not None and steps[-1][0] < right:
            before, after = steps[-1], (beyond.pairs, beyond.relevant)
            share = (right - before[0]) / (after[0] - before[0])
            steps.append((right, before[1] + share * (after[1] - before[1])))
        strokes.append(Stroke("M" + " ".join(f"{x(pairs)},{y(good)}" for pairs, good in steps), "line"))
    strokes.append(Stroke(f"M{x(0)},{y(0)} {line}".rstrip(), "here-line"))
    words += [Words(x(at), HIGH - BOTTOM + 18, f"{at:,}", "middle", "mute") for at in _ticks(right)[1:]]
    words.append(Words(LEFT, HIGH - 6, "pairs judged, in the order in which they were", kind="mute"))
    words.append(Words(WIDE - RIGHT + 10, y(found.total) + 4, f"{found.total:,} found"))
    if depths:
        # Under the corner of its line that it speaks of: what follows there belongs to the next depth.
        last = depths[-1]
        at = (x(last.pairs) + 10, y(last.relevant) + 20)
        words.append(Words(*at, f"depth {last.depth}: {last.relevant:,}+", kind="mute"))
    bars, legend = _legend(strategy, bool(depths))
    told = f"{found.total:,} relevant among {found.judged:,} judged pairs, in the order of judging"
    if depths:
        told += f"; depth {depths[-1].depth} is known to hold {depths[-1].relevant:,} among {depths[-1].pairs:,}"
    return Chart(HIGH, told, tuple(strokes), bars, (*words, *legend), WIDE)


def _thinned(judged: int) -> list[int]:
    """The places at which the curve is drawn, the first and the last among them."""
    if judged <= MOST_POINTS:
        return list(range(1, judged + 1))
    return sorted({round(1 + at * (judged - 1) / (MOST_POINTS - 1)) for at in range(MOST_POINTS)})


def _legend(strategy: str, with_depth: bool) -> tuple[tuple[Bar, ...], Sequence[Words]]:
    bars = [Bar(LEFT, 6, 14, 3, "here")]
    words = [Words(LEFT + 20, 12, f"found by {strategy}", kind="mute")]
    if with_depth:
        at = LEFT + 20 + 6.2 * len(words[0].text) + 24
        bars.append(Bar(round(at, 1), 6, 14, 3, "mark"))
        words.append(Words(round(at + 20, 1), 12, "at least found by depth k of the same runs", kind="mute"))
    return tuple(bars), words


def _ticks(top: float) -> list[int]:
    """Some round numbers from 0 on, the last at or below the top."""
    raw = top / 4
    size = 10 ** math.floor(math.log10(raw)) if raw >= 1 else 1
    step = next(int(size * times) for times in (1, 2, 5, 10) if size * times >= raw)
    return [step * at for at in range(int(top // step) + 1)] if top >= step else [0, step]
