"""Small charts on the cards of the overview page.

Charts are 240 wide, like the cards. This module computes geometry only: colors are classes of the stylesheet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.text_rules import amount
from judgments.charts.charts import (
    LONGEST_NAME,
    Bar,
    Chart,
    Stroke,
    Words,
    shade,
    short_name,
    short_names,
    traffic_line,
)
from judgments.charts.intervals import MOST_ROWS, NAME, ROW, WIDTH, more
from judgments.charts.plots import Axis

FLOOR = 56


def traffic(curve: Sequence[Sequence[float]], cuts: Sequence[tuple[str, int, int]]) -> Chart:
    """Draw the cumulative traffic over queries by rank on a logarithmic axis, cut into tiers."""
    strokes, _ = traffic_line(curve, [queries for _, queries, _ in cuts], WIDTH, 4, FLOOR)
    places = zip(cuts, (0, WIDTH / 2, WIDTH), ("start", "middle", "end"), strict=False)
    words = tuple(Words(place, 70, f"{tier} {drawn:,}", anchor) for (tier, _, drawn), place, anchor in places)
    label = "Cumulative traffic over queries by rank; queries drawn: " + ", ".join(
        f"{drawn} {tier}" for tier, _, drawn in cuts
    )
    return Chart(74, label, strokes, words=words, width=WIDTH)


def overlap(systems: Sequence[tuple[str, int, int]], in_all: int) -> Chart:
    """Draw each system's share of a pool, with the pairs that all systems return and those that only it returns."""
    unit = (WIDTH - NAME - 2) / max((pairs for _, pairs, _ in systems), default=1)
    bars: list[Bar] = []
    words: list[Words] = []
    names = short_names([name for name, _, _ in systems[:MOST_ROWS]], LONGEST_NAME)
    for number, (_, pairs, unique) in enumerate(systems[:MOST_ROWS]):
        y, x = 1 + ROW * number, float(NAME)
        words.append(Words(0, y + 9, names[number]))
        for count, kind in ((in_all, "mark"), (pairs - in_all - unique, "same"), (unique, "here")):
            width = round(max(count, 0) * unit, 1)
            bars.append(Bar(round(x, 1), y, width, 10, kind))
            x += width
    foot = 1 + ROW * min(len(systems), MOST_ROWS) + 12
    words += [
        Words(NAME, foot, "in all", kind="mute"),
        Words(WIDTH, foot, "only here", "end", "mute"),
    ]
    shares = "; ".join(f"{name} alone returns {unique:,} of its {pairs:,}" for name, pairs, unique in systems)
    label = f"Overlap of {amount(len(systems), 'system')}, {amount(in_all, 'pair')} returned by all: {shares}"
    return Chart(foot + 4, label, bars=tuple(bars), words=(*words, *more(systems, foot)), width=WIDTH)


def best_ranks(counts: Sequence[tuple[int | None, int]]) -> Chart:
    """Draw the number of pairs by the best rank that any system gives them, up to rank ten and beyond."""
    ranked = [(rank, pairs) for rank, pairs in counts if rank is not None]
    label = "Pairs by best rank: " + ", ".join(f"{pairs:,} at {rank}" for rank, pairs in ranked[:10])
    if not ranked:
        return Chart(20, "List of pairs without ranks", words=(Words(0, 13, "list of pairs, no ranks", kind="mute"),))
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
    """Draw the ratings of each rater, by pseudonym, compared with the maximum for one rater."""
    shown = raters[:MOST_ROWS]
    bars: list[Bar] = []
    words: list[Words] = []
    for number, (name, graded) in enumerate(shown):
        y = 1 + 12 * number
        words.append(Words(0, y + 8, short_name(name, 5)))
        bars.append(Bar(34, y, WIDTH - 34, 7, "soft"))
        bars.append(
            Bar(34, y, round((WIDTH - 34) * min(graded / most, 1) if most else 0, 1), 7, "here", f"{name}: {graded:,}")
        )
    foot = 1 + 12 * len(shown) + 12
    words.append(Words(34, foot, f"ratings by rater, of {amount(most, 'pair')}", kind="mute"))
    label = "Ratings by rater: " + ", ".join(f"{name} {graded:,}" for name, graded in raters)
    return Chart(foot + 4, label, bars=tuple(bars), words=tuple(words), width=WIDTH)


def grades(by_grade: Mapping[str, int], note: str) -> Chart:
    """Draw the labels by grade as one bar, with the grade above and the count below each part."""
    counts = sorted((int(grade), count) for grade, count in by_grade.items())
    total, top = sum(count for _, count in counts), max((grade for grade, _ in counts), default=0)
    room = WIDTH - 2 * len(counts)
    bars: list[Bar] = []
    words: list[Words] = [Words(0, 66, note, kind="mute")]
    x = 0.0
    for grade, count in counts:
        width = round(room * count / total, 1) if total else 0.0
        bars.append(
            Bar(round(x, 1), 16, width, 22, f"g{shade(grade, top)}", f"grade {grade}: {amount(count, 'label')}")
        )
        if width >= 22:
            middle = round(x + width / 2, 1)
            words += [Words(middle, 11, str(grade), "middle"), Words(middle, 51, f"{count:,}", "middle", "mute")]
        x += width + 2
    label = "Labels by grade: " + ", ".join(f"{count:,} of grade {grade}" for grade, count in counts)
    return Chart(70, label, bars=tuple(bars), words=tuple(words), width=WIDTH)


def judged(runs: Sequence[tuple[str, float]], floor: float) -> Chart:
    """Draw the judged share of each run's first ten, with the threshold below which scores are unreliable."""
    axis = Axis(0.0, 1.0, NAME, WIDTH - 2)
    bars: list[Bar] = []
    words: list[Words] = []
    names = short_names([name for name, _ in runs[:MOST_ROWS]], LONGEST_NAME)
    for number, (name, share) in enumerate(runs[:MOST_ROWS]):
        y = 1 + ROW * number
        words.append(Words(0, y + 9, names[number]))
        bars.append(Bar(NAME, y, WIDTH - 2 - NAME, 10, "soft"))
        bars.append(Bar(NAME, y, round(axis.at(share) - NAME, 1), 10, "mark", f"{name}: {share:.2f}"))
    depth = ROW * min(len(runs), MOST_ROWS)
    words += [
        Words(NAME, depth + 12, "Judged@10", kind="mute"),
        Words(axis.at(floor), depth + 12, f"{floor:.2f}", "middle", "mute"),
    ]
    label = "Judged@10: " + ", ".join(f"{name} {share:.2f}" for name, share in runs)
    strokes = (Stroke(f"M{axis.at(floor)},0V{depth}", "cut"),)
    return Chart(depth + 16, label, strokes, tuple(bars), (*words, *more(runs, depth + 12)), WIDTH)
