"""Charts of clicks: the click rate by rank, and the distribution of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.core.text_rules import amount
from judgments.charts.charts import MOST_BARS, WIDEST_BAR, WIDTH, Chart, Stroke, Words, columns

TOP, FLOOR = 20.0, 120.0
FRAME: dict[str, Any] = {"top": TOP, "floor": FLOOR, "room": 150}
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
    bars = [(rate, "mark", f"rank {rank}: {rate:.1%}") for rank, rate in shown]
    ends = (f"rank {shown[0][0]}", f"rank {shown[-1][0]}")
    label = f"Clicks per impression by rank: {'; '.join(title for _, _, title in bars[:10])}"
    caption = f"clicks per impression, at most {max(rate for _, rate in shown):.1%}"
    return columns(bars, label, ends, caption, **FRAME)


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
    bars = [(one.pairs, "mark", f"{one.words}: {amount(one.pairs, 'pair')}") for one in bins]
    label = f"Pairs by label: {'; '.join(title for pairs, _, title in bars if pairs)}"
    caption = f"pairs, at most {max((one.pairs for one in bins), default=0):,}"
    chart = columns(bars, label, (bins[0].words, bins[-1].words), caption, **FRAME)
    if usual is None or bins[0].low == bins[0].high:
        return chart
    step = min(WIDTH / len(bins), WIDEST_BAR)
    x = round(step * min(len(bins), usual / bins[0].high), 1)
    line = Stroke(f"M{x},{TOP - 6}V{FLOOR}", "cut")
    right = x > WIDTH - 90
    word = Words(x - 4 if right else x + 4, TOP - 4, f"{usual:.3g} is average", "end" if right else "start", "mute")
    return replace(chart, strokes=(*chart.strokes, line), words=(*chart.words, word))
