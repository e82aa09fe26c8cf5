"""Check: a rater grades differently now than at the start."""

from __future__ import annotations

import math

import numpy as np

from assay.quality.chance import beyond, mean_by_query
from assay.quality.check import Check, Finding, Floats, Ints, Record, beyond_chance, state_of, too_little
from assay.quality.leniency import step_of

NEEDED = 60
STEPS = 0.3
PARTS = 3


def find(record: Record) -> list[Finding]:
    """Compare the first and the last third of a rater's work, in bias and in distance to other raters."""
    step = step_of(record.scale)
    return [_of(record, code, step) for code in range(record.size)]


def _of(record: Record, code: int, step: float) -> Finding:
    rater, rows = record.raters[code], record.of(code)
    rows = rows[record.others[rows] > 0]
    n = len(rows)
    if n < NEEDED:
        return too_little("drift", rater, n, NEEDED)
    parts = np.array_split(rows, PARTS)
    bias, bias_chance = _moved(record, record.bias, parts[0], parts[-1])
    away, away_chance = _moved(record, np.abs(record.bias), parts[0], parts[-1])
    # Two-sided for the bias, and two tests in total.
    bias_rings = abs(bias) >= STEPS * step and beyond_chance(4 * min(bias_chance, 1 - bias_chance), record)
    away_rings = away >= STEPS * step and beyond_chance(2 * away_chance, record)
    seconds = [_median(record.seconds[part]) for part in parts]
    message = f"From the first to the last third of {n:,} shared pairs, the bias changed by {_signed(bias)} "
    message += f"and the distance to other raters by {_signed(away)}"
    if seconds[0] is not None and seconds[-1] is not None:
        message += f"; the median time went from {seconds[0]:.1f} s to {seconds[-1]:.1f} s per pair"
    numbers = {
        "bias": [_mean(record.bias[part]) for part in parts],
        "distance": [_mean(np.abs(record.bias[part])) for part in parts],
        "seconds": seconds,
        "moved": bias,
        "further": away,
    }
    chance = min(2 * min(bias_chance, 1 - bias_chance), away_chance)
    state = state_of(bias_rings or away_rings)
    return Finding(
        "drift", rater, state, n, NEEDED, f"{message}.", bias, threshold=STEPS * step, chance=chance, numbers=numbers
    )


def _moved(record: Record, values: Floats, first: Ints, last: Ints) -> tuple[float, float]:
    """Return the last part's mean minus the first's, and the one-sided probability of a difference this large."""
    before, error, queries = mean_by_query(values[first], record.query[first])
    after, other, more = mean_by_query(values[last], record.query[last])
    both = math.hypot(error, other)
    if not math.isfinite(both) or not both:
        return after - before, beyond(after - before, both, 1)
    # Welch's degrees of freedom.
    freedom = both**4 / (error**4 / (queries - 1) + other**4 / (more - 1))
    return after - before, beyond(after - before, both, freedom)


def _mean(values: Floats) -> float:
    return float(values.mean())


def _median(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def _signed(value: float) -> str:
    return f"{'+' if value >= 0 else '−'}{abs(value):.2f}"


DRIFT = Check(
    name="drift",
    title="Drift over time",
    asks="Checks whether bias and distance to other raters differ between the first and the last third of the work.",
    advice="Review five early and five late pairs together. A short calibration helps most raters.",
    severity="mild",
    needed=NEEDED,
    unit="pairs shared with other raters",
    find=find,
    rings="either",
)
