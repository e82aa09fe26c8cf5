"""Where do the dots, whiskers and bars of scores, agreement and progress stand?

Geometry only, as in `pooling.charts`, whose `Chart` and template fragment serve here too: colors are classes of the
stylesheet. The small pictures of the overview are 240 wide, since their cards are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pooling.charts import Bar, Chart, Stroke, Words, short

WIDTH = 240
NAME = 88
LONGEST_NAME = 13
MOST_ROWS = 5
ROW = 15
FLOOR = 56
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


class Estimate(NamedTuple):
    """A named value with its interval, where it has one."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


class Axis(NamedTuple):
    """A stretch of numbers laid over a stretch of the picture."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value; one beyond the axis stands at its end."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.start + min(max(share, 0.0), 1.0) * (self.end - self.start), 1)

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers on the axis, at most so many.

        Examples
        --------
        >>> Axis(0.48, 0.66, 0, 100).ticks()
        [0.5, 0.55, 0.6, 0.65]
        """
        step = next((step for step in STEPS if (self.high - self.low) / step <= most), 1.0)
        first = math.ceil(round(self.low / step, 6))
        last = math.floor(round(self.high / step, 6))
        return [round(number * step, 2) for number in range(first, last + 1)]


def axis_over(estimates: Iterable[Estimate], start: float, end: float) -> Axis:
    """An axis on which all values and intervals have room.

    Examples
    --------
    >>> axis_over([Estimate("bm25", 0.5, 0.4, 0.6)], 0, 100)
    Axis(low=0.38, high=0.62, start=0, end=100)
    """
    ends = [end for one in estimates for end in (one.value, one.low, one.high) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = max((high - low) * 0.08, 0.02)
    return Axis(round(low - room, 2), round(high + room, 2), start, end)


def dot(x: float, y: float, kind: str = "mark", radius: float = 4.0) -> Stroke:
    """A filled circle as a path."""
    return Stroke(
        f"M{x - radius:g},{y:g}a{radius},{radius} 0 1 0 {2 * radius:g},0a{radius},{radius} 0 1 0 {-2 * radius:g},0Z",
        kind,
    )


def whisker(axis: Axis, low: float | None, high: float | None, y: float, cap: float = 0) -> list[Stroke]:
    """An interval as a line, with caps where there is room for them."""
    if low is None or high is None:
        return []
    ends = [axis.at(low), axis.at(high)]
    caps = "".join(f" M{end},{y - cap:g}v{2 * cap:g}" for end in ends) if cap else ""
    return [Stroke(f"M{ends[0]},{y:g}H{ends[1]}{caps}", "line")]


def leaders(estimates: Sequence[Estimate], label: str, unit: str, most: int = MOST_ROWS) -> Chart:
    """Means with their intervals, the first one marked; so many of them at most."""
    shown = estimates[:most]
    axis = axis_over(shown, NAME + 4, WIDTH - 6)
    strokes: list[Stroke] = []
    words: list[Words] = []
    for number, one in enumerate(shown):
        y = 8 + ROW * number
        words.append(Words(0, y + 4, short(one.name, LONGEST_NAME)))
        strokes += [*whisker(axis, one.low, one.high, y), dot(axis.at(one.value), y, "mark" if number else "here")]
    foot = 8 + ROW * len(shown) + 8
    words += [
        Words(NAME + 4, foot, f"{axis.low:.2f}", kind="mute"),
        Words(WIDTH, foot, f"{unit} {axis.high:.2f}", "end", "mute"),
    ]
    return Chart(foot + 4, label, tuple(strokes), words=(*words, *_more(estimates, foot, most)), width=WIDTH)


def _more(rows: Sequence[object], y: float, most: int = MOST_ROWS) -> list[Words]:
    left = len(rows) - most
    return [Words(0, y, f"and {left} more", kind="mute")] if left > 0 else []


def row_dot(axis: Axis, one: Estimate, best: bool, baseline: float | None = None) -> Chart:
    """One row of a leaderboard: grid, interval, mean, and a dashed line at the value compared with."""
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
    """The numbers above such rows."""
    words = tuple(Words(axis.at(tick), 11, f"{tick:.2f}", "middle", "mute") for tick in axis.ticks())
    return Chart(14, "", words=words, width=axis.end)


def gate(value: float, low: float | None, high: float | None, threshold: float) -> Chart:
    """A coefficient with its interval against the threshold that it has to pass."""
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


def traffic(curve: Sequence[Sequence[float]], cuts: Sequence[tuple[str, int, int]]) -> Chart:
    """The cumulative traffic over queries by rank on a logarithmic axis, cut into tiers.

    Parameters
    ----------
    curve : sequence of (rank, share)
        As `pooling.sampling.tiers` gives it.
    cuts : sequence of (tier, queries in the log, queries drawn)
        From the head on.
    """
    last = max((rank for rank, _ in curve), default=0)

    def x(rank: float) -> float:
        return round(WIDTH * math.log1p(rank) / math.log1p(last), 1) if last else 0.0

    points = " ".join(f"{x(rank)},{round(FLOOR - (FLOOR - 4) * share, 1)}" for rank, share in curve)
    ends = [x(sum(queries for _, queries, _ in cuts[: number + 1])) for number in range(len(cuts))]
    lines = "".join(f"M{end},0V{FLOOR}" for end in ends[:-1])
    strokes = (
        Stroke(f"M0,{FLOOR} L{points} L{WIDTH},{FLOOR}Z", "soft"),
        Stroke(lines, "cut"),
        Stroke(f"M{points}", "line"),
        Stroke(f"M0,{FLOOR}H{WIDTH}", "axis"),
    )
    places = zip(cuts, (0, WIDTH / 2, WIDTH), ("start", "middle", "end"), strict=False)
    words = tuple(Words(place, 70, f"{tier} {drawn:,}", anchor) for (tier, _, drawn), place, anchor in places)
    label = "Cumulative traffic over queries by rank; drawn: " + ", ".join(f"{drawn} {tier}" for tier, _, drawn in cuts)
    return Chart(74, label, strokes if points else strokes[-1:], words=words, width=WIDTH)


def overlap(systems: Sequence[tuple[str, int, int]], in_all: int) -> Chart:
    """What of each system's part of a pool all systems share, and what it brings alone.

    Parameters
    ----------
    systems : sequence of (name, pairs, unique)
        Each system's part.
    in_all : int
        Pairs that every system brings.
    """
    unit = (WIDTH - NAME - 2) / max((pairs for _, pairs, _ in systems), default=1)
    bars: list[Bar] = []
    words: list[Words] = []
    for number, (name, pairs, unique) in enumerate(systems[:MOST_ROWS]):
        y, x = 1 + ROW * number, float(NAME)
        words.append(Words(0, y + 9, short(name, LONGEST_NAME)))
        for count, kind in ((in_all, "mark"), (pairs - in_all - unique, "same"), (unique, "here")):
            width = round(max(count, 0) * unit, 1)
            bars.append(Bar(round(x, 1), y, width, 10, kind))
            x += width
    foot = 1 + ROW * min(len(systems), MOST_ROWS) + 12
    words += [Words(NAME, foot, "in all", kind="mute"), Words(WIDTH, foot, "only here", "end", "mute")]
    said = "; ".join(f"{name} brings {unique:,} of its {pairs:,} alone" for name, pairs, unique in systems)
    label = f"Overlap of {len(systems)} systems, {in_all:,} pairs in all of them: {said}"
    return Chart(foot + 4, label, bars=tuple(bars), words=(*words, *_more(systems, foot)), width=WIDTH)


def best_ranks(counts: Sequence[tuple[int | None, int]]) -> Chart:
    """Pairs by the best rank that any system gives them, ten or more ranks."""
    ranked = [(rank, pairs) for rank, pairs in counts if rank is not None]
    label = "Pairs by best rank: " + ", ".join(f"{pairs:,} at {rank}" for rank, pairs in ranked[:10])
    if not ranked:
        return Chart(
            20, "Given pairs: no system ranks them", words=(Words(0, 13, "a given list, no ranks", kind="mute"),)
        )
    step, most = WIDTH / len(ranked), max(pairs for _, pairs in ranked)
    bars = tuple(
        Bar(
            round(number * step, 1),
            round(FLOOR - 50 * pairs / most, 1),
            round(step * 0.85, 1),
            round(50 * pairs / most, 1),
            "mark",
        )
        for number, (_, pairs) in enumerate(ranked)
    )
    words = (
        Words(0, 70, f"rank {ranked[0][0]}"),
        Words(WIDTH / 2, 70, "best rank of a pair", "middle", "mute"),
        Words(WIDTH, 70, f"rank {ranked[-1][0]}" if len(ranked) > 1 else "", "end"),
    )
    return Chart(74, label, (Stroke(f"M0,{FLOOR}H{WIDTH}", "axis"),), bars, words, WIDTH)


def progress(raters: Sequence[tuple[str, int]], most: int) -> Chart:
    """What each rater has done, by pseudonym, against the most that one of them could get."""
    shown = raters[:MOST_ROWS]
    bars: list[Bar] = []
    words: list[Words] = []
    for number, (name, graded) in enumerate(shown):
        y = 1 + 12 * number
        words.append(Words(0, y + 8, short(name, 5)))
        bars.append(Bar(34, y, WIDTH - 34, 7, "soft"))
        bars.append(
            Bar(34, y, round((WIDTH - 34) * min(graded / most, 1) if most else 0, 1), 7, "here", f"{name}: {graded:,}")
        )
    foot = 1 + 12 * len(shown) + 12
    words.append(Words(34, foot, f"ratings by rater, of {most:,} pairs", kind="mute"))
    label = "Ratings by rater: " + ", ".join(f"{name} {graded:,}" for name, graded in raters)
    return Chart(foot + 4, label, bars=tuple(bars), words=tuple(words), width=WIDTH)


def grades(by_grade: Mapping[str, int], note: str) -> Chart:
    """Labels by grade as one bar, each part with its digit above and its count below."""
    counts = sorted((int(grade), count) for grade, count in by_grade.items())
    total, top = sum(count for _, count in counts), max((grade for grade, _ in counts), default=0)
    room = WIDTH - 2 * len(counts)
    bars: list[Bar] = []
    words: list[Words] = [Words(0, 66, note, kind="mute")]
    x = 0.0
    for grade, count in counts:
        width = round(room * count / total, 1) if total else 0.0
        bars.append(Bar(round(x, 1), 16, width, 22, f"g{shade(grade, top)}", f"grade {grade}: {count:,} labels"))
        if width >= 22:
            middle = round(x + width / 2, 1)
            words += [Words(middle, 11, str(grade), "middle"), Words(middle, 51, f"{count:,}", "middle", "mute")]
        x += width + 2
    label = "Labels by grade: " + ", ".join(f"{count:,} of grade {grade}" for grade, count in counts)
    return Chart(70, label, bars=tuple(bars), words=tuple(words), width=WIDTH)


def shade(grade: int, top: int) -> int:
    """Which of the four shades a grade has on a scale up to ``top``.

    Examples
    --------
    >>> shade(3, 3), shade(2, 4), shade(0, 1), shade(1, 1)
    (3, 2, 0, 3)
    """
    return round(3 * grade / max(top, 3 if top > 1 else 1)) if grade > 0 else 0


def judged(runs: Sequence[tuple[str, float]], floor: float) -> Chart:
    """How much of each run's first ten was judged, against the share below which numbers should not be trusted."""
    axis = Axis(0.0, 1.0, NAME, WIDTH - 2)
    bars: list[Bar] = []
    words: list[Words] = []
    for number, (name, share) in enumerate(runs[:MOST_ROWS]):
        y = 1 + ROW * number
        words.append(Words(0, y + 9, short(name, LONGEST_NAME)))
        bars.append(Bar(NAME, y, WIDTH - 2 - NAME, 10, "soft"))
        bars.append(Bar(NAME, y, round(axis.at(share) - NAME, 1), 10, "mark", f"{name}: {share:.2f}"))
    depth = ROW * min(len(runs), MOST_ROWS)
    words += [
        Words(NAME, depth + 12, "Judged@10", kind="mute"),
        Words(axis.at(floor), depth + 12, f"{floor:.2f}", "middle", "mute"),
    ]
    label = "Judged@10: " + ", ".join(f"{name} {share:.2f}" for name, share in runs)
    strokes = (Stroke(f"M{axis.at(floor)},0V{depth}", "cut"),)
    return Chart(depth + 16, label, strokes, tuple(bars), (*words, *_more(runs, depth + 12)), WIDTH)


def differences(values: Sequence[float], label: str, opened: int | None = None) -> Chart:
    """Per-query differences, sorted from the largest gain to the largest loss, as bars up and down from zero.

    Parameters
    ----------
    values : sequence of float
        In the order in which they are to stand.
    label : str
        The sentence for the picture.
    opened : int, optional
        Which of them is framed.
    """
    width, height, zero_room = 800.0, 280.0, 12.0
    highest, lowest = max([*values, 0.0]), min([*values, 0.0])
    axis = Axis(-highest, -lowest, zero_room, height - zero_room) if highest > lowest else Axis(-1, 1, 12, 268)
    zero, step = axis.at(0.0), width / max(len(values), 1)
    bars = []
    for number, value in enumerate(values):
        top, bottom = sorted((axis.at(-value), zero))
        kind = "better" if value > 0 else "worse" if value < 0 else "same"
        bars.append(
            Bar(
                round(number * step, 2),
                top if value else zero - 1,
                round(step * 0.8, 2),
                round(max(bottom - top, 2), 1),
                kind,
            )
        )
    strokes = [Stroke(f"M0,{axis.at(-tick)}H{width:g}", "grid") for tick in axis_ticks(lowest, highest)]
    strokes.append(Stroke(f"M0,{zero}H{width:g}", "axis"))
    words = [
        Words(806, axis.at(-tick) + 4, f"{tick:+.2f}".replace("-", "−") if tick else "0", kind="mute")
        for tick in axis_ticks(lowest, highest)
    ]
    if opened is not None:
        bar = bars[opened]
        frame = f"M{bar.x - 3:g},{bar.y - 3:g}h{bar.width + 6:g}v{bar.height + 6:g}h{-bar.width - 6:g}Z"
        strokes.append(Stroke(frame, "here-line"))
    return Chart(height, label, tuple(strokes), tuple(bars), tuple(words), width=846)


def axis_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two differences, zero among them."""
    return sorted({0.0, *Axis(low, high, 0, 1).ticks(9)})
