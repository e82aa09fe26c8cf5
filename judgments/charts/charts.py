"""Chart geometry: lines, bars and text. Colors are classes of the stylesheet.

Every function returns a `Chart`, which a template renders as inline SVG. Coordinates refer to a
view box 320 wide, so that text stays between 11 and 14 px at every width that a card can have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.text import slugify

from assay.core.text_rules import amount
from judgments.charts.plots import EMPTY, Axis, Layer, Names, Plot
from judgments.web.downloads import attachment, json_file

WIDTH = 320
# The width of a chart on a phone at which its text is still readable; text that does not fit is placed elsewhere.
PHONE = 340.0
NAME = 88  # room for the names of bars
MOST_BARS = 60
WIDEST_BAR = 32.0


@dataclass(frozen=True)
class Stroke:
    """A path: its ``d`` and its class."""

    d: str
    kind: str


@dataclass(frozen=True)
class Bar:
    """A rectangle with the text of its tooltip."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str = ""


@dataclass(frozen=True)
class Words:
    """A text; ``anchor`` is start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    kind: str = ""


@dataclass(frozen=True)
class Chart:
    """One chart; ``label`` is its text alternative, and ``plot`` its contents as data, for a download."""

    height: float
    label: str
    strokes: tuple[Stroke, ...] = ()
    bars: tuple[Bar, ...] = ()
    words: tuple[Words, ...] = ()
    width: float = WIDTH
    plot: Plot = EMPTY


def traffic_line(
    points: Sequence[Sequence[float]], counts: Sequence[int], width: float, top: float, floor: float
) -> tuple[tuple[Stroke, ...], list[float]]:
    """Draw the cumulative traffic over queries by rank on a logarithmic axis; also return the ends of the tiers."""
    last = max((rank for rank, _ in points), default=0)

    def x(rank: float) -> float:
        return _round(width * math.log1p(rank) / math.log1p(last)) if last else 0.0

    line = " ".join(f"{x(rank)},{_round(floor - (floor - top) * share)}" for rank, share in points)
    ends = [x(rank) for rank in accumulate(counts)]
    strokes = (
        Stroke(f"M0,{floor} L{line} L{width},{floor}Z", "soft"),
        Stroke("".join(f"M{end},{top - 4}V{floor}" for end in ends[:-1]), "cut"),
        Stroke(f"M{line}", "line"),
        Stroke(f"M0,{floor}H{width}", "axis"),
    )
    return strokes if points else strokes[-1:], ends


def traffic_curve(
    points: Sequence[Sequence[float]], cuts: Sequence[tuple[str, int]], shares: Sequence[float] = (0.5, 0.8)
) -> Chart:
    """Return the cumulative traffic over queries by rank, cut into tiers."""
    floor = 128.0
    strokes, ends = traffic_line(points, [queries for _, queries in cuts], WIDTH, 8.0, floor)
    names = ", ".join(f"{name} {queries:,}" for name, queries in cuts)
    return Chart(
        floor + 34,
        f"Cumulative share of traffic by query rank; queries per tier: {names}",
        strokes,
        words=(*_tier_names(cuts, ends, floor), *_shares(shares, ends[:-1])),
    )


def _tier_names(cuts: Sequence[tuple[str, int]], ends: Sequence[float], floor: float) -> list[Words]:
    """Return tier names below the axis: head at the start, torso around its middle, tail at the end."""
    anchors = ("start", "middle", "end")
    middle = (ends[0] + ends[1]) / 2 if len(ends) > 1 else WIDTH / 2
    places = (0.0, min(max(middle, 120.0), 205.0), float(WIDTH))
    return [
        Words(_round(place), floor + 16, f"{name} {queries:,}", anchor)
        for (name, queries), place, anchor in zip(cuts, places, anchors, strict=False)
    ] + [Words(0, floor + 32, "queries, most frequent first (log scale)", kind="mute")]


def _shares(shares: Sequence[float], ends: Sequence[float]) -> list[Words]:
    """Return the share of the traffic before each cut, on the side where there is room."""
    words = []
    for number, (share, end) in enumerate(zip(shares, ends, strict=False)):
        left = end > WIDTH - 40 or (number == 0 and end > 40)
        y = 16 if number == 0 else 112
        words.append(Words(end - 5 if left else end + 5, y, f"{share:.0%}", "end" if left else "start"))
    return words


def shared_bars(
    rows: Sequence[tuple[str, Sequence[int]]], parts: Sequence[tuple[str, str]], label: str, plot: Plot = EMPTY
) -> Chart:
    """Return one bar per row, divided into parts with counts."""
    most = max((sum(counts) for _, counts in rows), default=0) or 1
    unit = (WIDTH - NAME) / most
    bars: list[Bar] = []
    words: list[Words] = []
    shown = short_names([name for name, _ in rows])
    for number, (name, counts) in enumerate(rows):
        y, x = 4 + 18 * number, float(NAME)
        words.append(Words(0, y + 10, shown[number]))
        for (words_of, kind), count in zip(parts, counts, strict=True):
            bars.append(Bar(_round(x), y, _round(count * unit), 12, kind, f"{name}: {count:,} {words_of}"))
            x += count * unit
    y = 4 + 18 * len(rows) + 12
    words += _legend(parts, y, bars)
    return Chart(y + 8, label, bars=tuple(bars), words=tuple(words), plot=plot)


def _legend(parts: Sequence[tuple[str, str]], y: float, bars: list[Bar]) -> list[Words]:
    """Return the names of the parts on one line, each after a small square in its color."""
    words, x = [], 0.0
    for caption, kind in parts:
        bars.append(Bar(_round(x), y - 8, 9, 9, kind))
        words.append(Words(_round(x + 13), y, caption, kind="mute"))
        x += 13 + 5.9 * len(caption) + 14
    return words


def rank_bars(counts: Sequence[tuple[int | None, int]], label: str) -> Chart:
    """Return pairs by the best rank that any run gives them."""
    ranked = {rank: pairs for rank, pairs in counts if rank is not None}
    last = max(ranked, default=0)
    if not last:
        return Chart(24, label, words=(Words(0, 16, "no run contains these pairs", kind="mute"),))
    size = -(-last // MOST_BARS)
    groups = [(start, min(start + size - 1, last)) for start in range(1, last + 1, size)]
    heights = [sum(ranked.get(rank, 0) for rank in range(first, end + 1)) for first, end in groups]
    shown = [f"{first}" if first == end else f"{first}–{end}" for first, end in groups]
    rows = [{"rank": ranks, "pairs": pairs} for ranks, pairs in zip(shown, heights, strict=True)]
    x, y = Names("best rank of a pair"), Axis(0, max(heights), title="pairs")
    names = [f"rank{'s' * ('–' in ranks)} {ranks}" for ranks in shown]
    return columns(
        [
            (pairs, "mark" if first <= 10 else "same", f"{name}: {amount(pairs, 'pair')}")
            for name, (first, _), pairs in zip(names, groups, heights, strict=True)
        ],
        label,
        (names[0], names[-1]),
        x.title,
        plot=Plot(x, y, rows, [Layer("bar", {"x": "rank", "y": "pairs"})]),
    )


def depth_bars(ranges: Sequence[tuple[int, int, int]]) -> Chart:
    """Return the number of queries by number of documents: one bar for each depth or range of depths."""
    names = [f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high, _ in ranges]
    rows = [(name, queries) for name, (_, _, queries) in zip(names, ranges, strict=True)]
    counts = "; ".join(f"{name} documents: {queries:,}" for name, queries in rows)
    return columns(
        [(queries, "mark", f"{name} documents: {amount(queries, 'query', 'queries')}") for name, queries in rows],
        f"Queries by number of documents. {counts}",
        (names[0], names[-1]) if names else ("", ""),
        "documents per query",
        widest=2 * WIDEST_BAR,
    )


def columns(
    bars: Sequence[tuple[float, str, str]],
    label: str,
    ends: tuple[str, str],
    caption: str,
    *,
    top: float = 8.0,
    floor: float = 108.0,
    widest: float = WIDEST_BAR,
    room: int = 80,
    plot: Plot = EMPTY,
) -> Chart:
    """Draw columns, each given as height, kind and title, with the names of the first and the last one below."""
    step, most = min(WIDTH / max(len(bars), 1), widest), max((height for height, _, _ in bars), default=0) or 1
    gap = min(4.0, step * 0.15)
    scaled = [(floor - top) * height / most for height, _, _ in bars]
    drawn = tuple(
        Bar(_round(place * step), _round(floor - height), _round(step - gap), _round(height), kind, title)
        for place, (height, (_, kind, title)) in enumerate(zip(scaled, bars, strict=True))
    )
    words = (
        Words(0, floor + 16, ends[0]),
        Words(_round(max(step * len(bars), room)), floor + 16, ends[1] if len(bars) > 1 else "", "end"),
        Words(0, floor + 32, caption, kind="mute"),
    )
    return Chart(floor + 36, label, (Stroke(f"M0,{floor}H{WIDTH}", "axis"),), drawn, words, plot=plot)


def share_bars(rows: Sequence[tuple[str, float]]) -> Chart:
    """Return one bar per row on a track from 0 to 1."""
    room = WIDTH - NAME
    bars: list[Bar] = []
    words: list[Words] = []
    shown = short_names([name for name, _ in rows])
    for number, (name, share) in enumerate(rows):
        y = 4 + 18 * number
        words.append(Words(0, y + 10, shown[number]))
        bars.append(Bar(NAME, y, room, 12, "soft"))
        bars.append(Bar(NAME, y, _round(room * share), 12, "mark", f"{name}: {share:.2f}"))
    y = 4 + 18 * len(rows) + 12
    words += [Words(NAME, y, "0", kind="mute"), Words(WIDTH, y, "1", "end", "mute")]
    values = "; ".join(f"{name} {share:.2f}" for name, share in rows)
    label = f"Share of top 10 documents in common with each other run. {values}"
    return Chart(y + 8, label, (), tuple(bars), tuple(words))


def whole_ticks(top: float) -> list[int]:
    """Return round numbers from 0, the last one at or below the top if there are several."""
    raw = top / 4
    size = 10 ** math.floor(math.log10(raw)) if raw >= 1 else 1
    step = next(int(size * times) for times in (1, 2, 5, 10) if size * times >= raw)
    return [step * at for at in range(int(top // step) + 1)] if top >= step else [0, step]


def _round(value: float) -> float:
    return round(value, 1)


def shade(grade: int, top: int) -> int:
    """Return which of the four shades a grade has on a scale up to ``top``."""
    return round(3 * grade / max(top, 3 if top > 1 else 1)) if grade > 0 else 0


LONGEST_NAME = 13


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Cut a name in its middle so that it fits next to its bar; run names often differ only at the end."""
    tail = max(1, (longest - 1) * 5 // 12)
    return name if len(name) <= longest else f"{name[: longest - 1 - tail]}…{name[-tail:]}"


def short_names(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Cut the names of one chart so that they fit; where they would become equal, drop their common beginning and
    end."""
    cut = [short_name(name, longest) for name in names]
    if len(set(cut)) == len(set(names)):
        return cut
    begin = _alike(names)
    end = _alike([name[begin:][::-1] for name in names])
    shortened = [f"{'…' * bool(begin)}{name[begin : len(name) - end]}{'…' * bool(end)}" for name in names]
    return [short_name(name, longest) for name in shortened]


def _alike(names: Sequence[str]) -> int:
    """Return the length of the common beginning, in whole words."""
    place = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False)))
    while place and names[0][place - 1].isalnum():
        place -= 1
    return place


# Values of the parameter ``format``; a page with several charts puts the name of the chart before them.
VEGA_LITE = "vl.json"
FORMS = ("svg", VEGA_LITE)
# Characters that XML cannot contain, even escaped; names are user input.
FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def picture(chart: Chart, name: str, form: str = "svg") -> HttpResponse:
    """Return the chart as a Vega-Lite specification if the form is one, otherwise as SVG in one color for print."""
    if form.endswith(VEGA_LITE):
        return json_file(f"{slugify(name)}.vl", chart.plot.vega_lite(chart.label))
    body = render_to_string("judgments/charts/picture.svg", {"chart": chart})
    return attachment(f"{slugify(name)}.svg", FORBIDDEN.sub("\ufffd", body))
