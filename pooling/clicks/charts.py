"""Charts of clicks: the click rate by rank, and the distribution of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgments.charts.charts import MOST_BARS, WIDEST_BAR, WIDTH, Bar, Chart, Stroke, Words

TOP, FLOOR = 20.0, 120.0
BINS = 20
# Labels above the 99th percentile share the last bar, because a single extreme label would flatten all other bars.
LAST = 0.99


@dataclass(frozen=True, slots=True)
class Bin:
    """A range of labels with its number of pairs; the last range may have no upper end."""

    low: float
    high: float
    pairs: int
    open: bool = False

    @property
    def words(self) -> str:
        if self.low == self.high:
            return f"{self.low:g}"
        return f"{self.low:.3g} or more" if self.open else f"{self.low:.3g} to {self.high:.3g}"


def rate_bars(rates: Sequence[tuple[int, float]]) -> Chart:
    """Return clicks per impression by rank."""
    shown = [(rank, rate) for rank, rate in rates if rank][:MOST_BARS]
    if not shown:
        return Chart(24, "No row has a position", words=(Words(0, 16, "no row has a position", kind="mute"),))
    captions = [f"rank {rank}: {rate:.1%}" for rank, rate in shown]
    ends = (f"rank {shown[0][0]}", f"rank {shown[-1][0]}")
    most = f"{max(rate for _, rate in shown):.1%}"
    label = f"Clicks per impression by rank: {'; '.join(captions[:10])}"
    return _columns([rate for _, rate in shown], captions, label, ends, most, "clicks per impression")


def bins_of(labels: Sequence[float], *, grades: bool) -> tuple[Bin, ...]:
    """Count pairs by label: each grade separately, fractions in 20 ranges from 0 on."""
    if not labels:
        return ()
    if grades:
        whole = [int(value) for value in labels]
        return tuple(Bin(grade, grade, whole.count(grade)) for grade in range(max(whole) + 1))
    ordered = sorted(labels)
    last = ordered[min(len(ordered) - 1, int(LAST * len(ordered)))] or ordered[-1] or 1.0
    counts = [0] * BINS
    for value in ordered:
        counts[min(BINS - 1, int(BINS * value / last))] += 1
    width = last / BINS
    return tuple(
        Bin(place * width, (place + 1) * width, count, place == BINS - 1) for place, count in enumerate(counts)
    )


def label_bars(bins: Sequence[Bin], usual: float | None) -> Chart:
    """Draw the number of pairs by label, with a line at the label of an average pair."""
    texts = [f"{one.words}: {one.pairs:,} pair{'' if one.pairs == 1 else 's'}" for one in bins]
    label = f"Pairs by label: {'; '.join(text for text, one in zip(texts, bins, strict=True) if one.pairs)}"
    most = max((one.pairs for one in bins), default=0)
    chart = _columns([one.pairs for one in bins], texts, label, (bins[0].words, bins[-1].words), f"{most:,}", "pairs")
    if usual is None or bins[0].low == bins[0].high:
        return chart
    step = min(WIDTH / len(bins), WIDEST_BAR)
    x = round(step * min(len(bins), usual / bins[0].high), 1)
    line = Stroke(f"M{x},{TOP - 6}V{FLOOR}", "cut")
    right = x > WIDTH - 90
    word = Words(x - 4 if right else x + 4, TOP - 4, f"{usual:.3g} is average", "end" if right else "start", "mute")
    return Chart(chart.height, label, (*chart.strokes, line), chart.bars, (*chart.words, word))


def _columns(
    heights: Sequence[float], captions: Sequence[str], label: str, ends: tuple[str, str], most: str, unit: str
) -> Chart:
    step, top = min(WIDTH / len(heights), WIDEST_BAR), max(heights) or 1
    gap = min(4.0, step * 0.15)
    bars = tuple(
        Bar(
            round(place * step, 1),
            round(FLOOR - (FLOOR - TOP) * height / top, 1),
            round(step - gap, 1),
            round((FLOOR - TOP) * height / top, 1),
            "mark",
            text,
        )
        for place, (height, text) in enumerate(zip(heights, captions, strict=True))
    )
    words = (
        Words(0, FLOOR + 16, ends[0]),
        Words(round(max(step * len(heights), 150), 1), FLOOR + 16, ends[1] if len(heights) > 1 else "", "end"),
        Words(0, FLOOR + 32, f"{unit}, at most {most}", kind="mute"),
    )
    return Chart(FLOOR + 36, label, (Stroke(f"M0,{FLOOR}H{WIDTH}", "axis"),), bars, words)
