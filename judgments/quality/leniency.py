"""Check: a rater grades higher or lower than the others.

The value is the mean of a rater's grades minus the others' mean, shrunk by n / (n + 20). It is shown and never
applied to any grade.
"""

from __future__ import annotations

import numpy as np

from judgments.quality.chance import beyond, mean_by_query
from judgments.quality.finding import Check, Finding, Z, beyond_chance, state_of, too_little
from judgments.quality.record import Record

NEEDED = 30
SHRINK = 20
STEPS = 0.4


def find(record: Record) -> list[Finding]:
    """The shrunk bias in units of the scale; it rings at 0.4 of a step and more, beyond chance (t over queries)."""
    step = step_of(record.scale)
    return [_of(record, code, step) for code in range(record.size)]


def step_of(scale: tuple[int, ...]) -> float:
    """The usual distance of two neighbouring grades."""
    return (scale[-1] - scale[0]) / max(len(scale) - 1, 1)


def _of(record: Record, code: int, step: float) -> Finding:
    rater, rows = record.raters[code], record.of(code)
    rows = rows[record.others[rows] > 0]
    n = len(rows)
    if n < NEEDED:
        return too_little("leniency", rater, n, NEEDED)
    mean, error, queries = mean_by_query(record.bias[rows], record.query[rows])
    value, half = mean * n / (n + SHRINK), min(Z * error, 1e6)
    chance = 2 * beyond(abs(mean), error, queries - 1)
    word = "higher" if value > 0 else "lower"
    said = f"{abs(value):.2f} {word} than others on {n:,} shared pairs."
    rings = abs(value) >= STEPS * step and beyond_chance(chance, record)
    low, high = (None, None) if not np.isfinite(error) else (value - half, value + half)
    state = state_of(rings)
    return Finding("leniency", rater, state, n, NEEDED, said, value, low, high, STEPS * step, chance)


LENIENCY = Check(
    name="leniency",
    title="Higher or lower than others",
    asks="Whether grades are higher or lower than others give to the same pairs.",
    advice="Compare where they draw the lines between grades; an example in the guidelines for each line helps most.",
    severity="mild",
    needed=NEEDED,
    unit="pairs shared with others",
    find=find,
    rings="either",
)
