"""Check: a rater grades higher or lower than the others.

The value is the mean of a rater's grades minus the others' mean, shrunk by n / (n + 20). It is shown and never
applied to any grade.
"""

from __future__ import annotations

import numpy as np

from assay.quality.chance import beyond, mean_by_query
from assay.quality.check import Check, Finding, Record, Z, beyond_chance, state_of, too_little

NEEDED = 30
SHRINK = 20
STEPS = 0.4


def find(record: Record) -> list[Finding]:
    """Compute the shrunk bias in units of the scale; alert from 0.4 of a step, if significant (t over queries)."""
    step = step_of(record.scale)
    return [_of(record, code, step) for code in range(record.size)]


def step_of(scale: tuple[int, ...]) -> float:
    """Return the usual distance of two adjacent grades."""
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
    message = f"{abs(value):.2f} {word} than other raters on {n:,} shared pairs."
    rings = abs(value) >= STEPS * step and beyond_chance(chance, record)
    low, high = (None, None) if not np.isfinite(error) else (value - half, value + half)
    state = state_of(rings)
    return Finding("leniency", rater, state, n, NEEDED, message, value, low, high, STEPS * step, chance)


LENIENCY = Check(
    name="leniency",
    title="Higher or lower than other raters",
    asks="Mean difference from other raters on the same pairs.",
    advice="Compare where raters draw the line between grades. An example for each line in the guidelines helps most.",
    severity="mild",
    needed=NEEDED,
    unit="pairs shared with other raters",
    find=find,
    rings="either",
)
