"""Downloads of a judge's calibration: CSV tables, and a chart of the reliability of each grade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.csv_cells import csv_row
from judgments.charts.charts import Chart, Stroke, Words
from judgments.charts.intervals import Axis, dot, whisker

if TYPE_CHECKING:
    from assay.coefficients.human_machine import Calibrated, Share

WIDTH, NAME, ROW = 320, 60, 24


def confusion_csv(calibrated: Calibrated) -> str:
    """Return rows by human grade and columns by machine grade."""
    rows: list[list[object]] = [["people, machine", *calibrated.values]]
    rows += [[value, *row] for value, row in zip(calibrated.values, calibrated.confusion, strict=True)]
    return "".join(csv_row([str(cell) for cell in row]) for row in rows)


def worth_csv(calibrated: Calibrated) -> str:
    """Return one row per grade with its unrounded shares."""
    head = ["grade", "pairs", "same", "same_low", "same_high", "relevant", "relevant_low", "relevant_high"]
    rows = [[str(one.grade), str(one.same.n), *_cells(one.same), *_cells(one.relevant)] for one in calibrated.worth]
    return "".join(csv_row(row) for row in [head, *rows])


def worth_chart(calibrated: Calibrated, title: str) -> Chart:
    """Draw how often people agree with each machine grade, with intervals by query."""
    axis = Axis(0.0, 1.0, NAME, WIDTH - 10)
    foot = ROW * len(calibrated.worth) + 6
    strokes = [Stroke("".join(f"M{axis.at(tick)},0V{foot - 4}" for tick in axis.ticks()), "grid")]
    words: list[Words] = []
    for number, one in enumerate(calibrated.worth):
        y = ROW * number + ROW / 2
        words.append(Words(0, y + 4, f"grade {one.grade}"))
        if one.same.value is None:
            words.append(Words(NAME, y + 4, "never", kind="mute"))
            continue
        strokes += [*whisker(axis, one.same.low, one.same.high, y, cap=4), dot(axis.at(one.same.value), y, radius=4.5)]
    words += [Words(axis.at(tick), foot + 10, axis.written(tick), "middle", "mute") for tick in axis.ticks()]
    return Chart(foot + 14, title, tuple(strokes), words=tuple(words), width=WIDTH)


def _cells(share: Share) -> list[str]:
    return ["" if value is None else repr(value) for value in (share.value, share.low, share.high)]
