"""Geometry of the comparison charts: bars of per-query differences, and lines of documents that changed rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.scoring.rankings import Answers, RankedDocument
from judgments.charts.charts import Bar, Chart, Stroke, Words, shade, short_name
from judgments.charts.plots import WHOLE, Axis, Layer, Names, Plot

WIDTH, HEIGHT, ROOM = 800.0, 280.0, 18.0
# More queries than this are drawn as one shape, and several of them share one link.
MOST_BARS = 400
MOST_LINKS = 200
TIER_ROW = 13
# A query with its difference, outcome and tier.
Row = Mapping[str, Any]
# Maps the position of a query to the URL and the text of its bar.
Linked = Callable[[int], tuple[str, str]]


@dataclass(frozen=True)
class Link:
    """A clickable region of the chart that opens a query; ``words`` name the query."""

    x: float
    width: float
    url: str
    words: str
    here: bool = False


def differences(
    queries: Sequence[Row], label: str, opened: int | None = None, link: Linked | None = None
) -> tuple[Chart, list[Link]]:
    """Draw per-query differences, sorted from the largest gain to the largest loss, as bars above and below zero."""
    values = [query["difference"] for query in queries]
    highest, lowest = max([*values, 0.0]), min([*values, 0.0])
    axis = Axis(lowest, highest, HEIGHT - ROOM, ROOM, "difference")
    marks = Layer("bar", {"x": "query_id", "y": "difference", "color": "outcome"})
    plot = Plot(Names("queries, from the largest gain to the largest loss", labeled=False), axis, queries, [marks])
    zero, step = axis.at(0.0), WIDTH / max(len(values), 1)
    bars = [_bar(axis, number, step, value) for number, value in enumerate(values)]
    ticks = sorted({0.0, *axis.ticks(9)})
    strokes = [Stroke(f"M0,{axis.at(tick)}H{WIDTH:g}", "grid") for tick in ticks]
    strokes += _shapes(bars, step) if len(bars) > MOST_BARS else []
    strokes.append(Stroke(f"M0,{zero}H{WIDTH:g}", "axis"))
    words = [Words(WIDTH + 6, axis.at(tick) + 4, _tick(tick, highest - lowest), kind="mute") for tick in ticks]
    rows, names, foot = _tiers(queries, step)
    strokes += rows
    if opened is not None:
        bar = bars[opened]
        frame = f"M{bar.x - 3:g},{bar.y - 3:g}h{bar.width + 6:g}v{bar.height + 6:g}h{-bar.width - 6:g}Z"
        strokes.append(Stroke(frame, "here-line"))
        words.append(_opened(bar, zero, queries[opened]["query"]))
    words += [*names, *_sides(values, foot)]
    shown = () if len(bars) > MOST_BARS else tuple(bars)
    chart = Chart(foot + 4, label, tuple(strokes), shown, tuple(words), WIDTH + 46, plot)
    return chart, _links(len(queries), step, opened, link) if link else []


def _bar(axis: Axis, number: int, step: float, value: float) -> Bar:
    zero = axis.at(0.0)
    top, bottom = sorted((axis.at(value), zero))
    kind = "better" if value > 0 else "worse" if value < 0 else "same"
    height = round(max(bottom - top, 2), 1)
    return Bar(round(number * step, 2), top if value else zero - 1, round(step * 0.8, 2), height, kind)


def _shapes(bars: Sequence[Bar], step: float) -> list[Stroke]:
    """Draw all bars of a kind as one path without gaps, because single rectangles would be invisible at this
    density."""
    strokes = []
    for kind in ("better", "same", "worse"):
        of = [bar for bar in bars if bar.kind == kind]
        parts = [f"M{bar.x:g},{bar.y:g}h{step * 1.2:.2f}v{bar.height:g}h{-step * 1.2:.2f}Z" for bar in of]
        strokes += [Stroke("".join(parts), kind)] if parts else []
    return strokes


def _tiers(queries: Sequence[Row], step: float) -> tuple[list[Stroke], list[Words], float]:
    """Draw a row of marks for each tier under the bars, and set where the chart continues."""
    names = [tier for tier in ("head", "torso", "tail") if any(query["tier"] == tier for query in queries)]
    strokes, words = [], []
    for row, tier in enumerate(names):
        y = HEIGHT + 4 + TIER_ROW * row
        marks = [
            f"M{number * step:.2f},{y:g}h{step * 0.8:.2f}v5h{-step * 0.8:.2f}Z"
            for number, query in enumerate(queries)
            if query["tier"] == tier
        ]
        strokes.append(Stroke("".join(marks), "tier"))
        words.append(Words(WIDTH + 6, y + 6, tier, kind="mute"))
    return strokes, words, HEIGHT + TIER_ROW * len(names) + 16


def _sides(values: Sequence[float], foot: float) -> list[Words]:
    """Write the number of bars on each side under them."""
    counts = [
        sum(value > 0 for value in values),
        sum(value == 0 for value in values),
        sum(value < 0 for value in values),
    ]
    better, equal, worse = counts
    words = [Words(0, foot, f"{better:,} better")] if better else []
    words += [Words(WIDTH, foot, f"{worse:,} worse", "end")] if worse else []
    share = (better + equal / 2) / max(len(values), 1)
    middle = min(max(share * WIDTH, 90.0 if better else 30.0), WIDTH - (90.0 if worse else 30.0))
    return [*words, Words(round(middle, 1), foot, f"{equal:,} equal", "middle")] if equal else words


def _opened(bar: Bar, zero: float, name: str) -> Words:
    """Place the name of the framed query next to the end of its bar, where no taller bar follows."""
    name = short_name(f"opened below: {name}", 44)
    right, left = round(bar.x + bar.width + 8, 1), round(bar.x - 8, 1)
    if bar.kind == "better":
        start = round(min(bar.y + 9, zero - 6), 1)
        return Words(right, start, name) if bar.x < 520 else Words(right, zero + 14, name, "end")
    if bar.kind == "worse":
        end = round(max(bar.y + bar.height - 1, zero + 14), 1)
        return Words(left, end, name, "end") if bar.x > 280 else Words(left, zero - 6, name)
    return Words(left, zero + 16, name, "end") if bar.x > 280 else Words(right, zero - 8, name)


def _links(queries: int, step: float, opened: int | None, link: Linked) -> list[Link]:
    """Return one link per query, or per group of queries."""
    stretches = min(queries, MOST_LINKS) if queries > MOST_BARS else queries
    links = []
    for number in range(stretches):
        first, last = (queries * end // stretches for end in (number, number + 1))
        here = opened is not None and first <= opened < last
        url, words = link(opened if here and opened is not None else (first + last) // 2)
        links.append(Link(round(first * step, 2), round((last - first) * step, 2), url, words, here))
    return links


def _tick(tick: float, span: float) -> str:
    return f"{tick:+,.{0 if span >= WHOLE else 2}f}".replace("-", "−") if tick else "0"


def moves(answers: Answers) -> tuple[list[Stroke], int]:
    """Draw lines between the positions of documents in two lists, in units of a table row, 100 wide.

    The kind of a line is the shade of its document's grade, or ``unknown``.
    """
    rows = max(len(ranking.places) for ranking in answers.rankings)
    places = {place.doc_id: place for ranking in answers.rankings for place in ranking.places}
    ordered = sorted(places.values(), key=lambda place: (place.grade is not None, place.grade or 0))
    lines = [Stroke(d, _shade(place, answers.top)) for place in ordered if (d := _way(place, rows))]
    return lines, rows + 1


def _way(place: RankedDocument, rows: int) -> str:
    """Draw a curve from left to right; a document outside a list starts or ends at its lower edge."""
    if place.move is None:
        return ""
    ranks = (place.move.before, place.move.after)
    before, after = (None if rank is None else min(rank, rows + 0.5) + 0.5 for rank in ranks)
    if before is None:
        return f"M82,{after:g}H100"
    if after is None:
        return f"M0,{before:g}H18"
    return f"M0,{before:g}C50,{before:g} 50,{after:g} 100,{after:g}"


def _shade(place: RankedDocument, top: int) -> str:
    return "unknown" if place.grade is None else f"s{shade(place.grade, top)}"
