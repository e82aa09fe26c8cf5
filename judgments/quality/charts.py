"""Small pictures of findings: a value with its interval against the alert threshold."""

from __future__ import annotations

from dataclasses import dataclass

from assay.quality import CHECKS, Finding

WIDTH, MARGIN = 200.0, 6.0
# From where to where each check's axis runs; None grows with the value.
AXES: dict[str, tuple[float, float | None]] = {
    "gold": (0.0, 1.0),
    "consistency": (-0.2, 1.0),
    "same-grade": (0.0, 1.0),
    "too-fast": (0.0, 1.0),
    "copied": (0.0, 1.0),
    "apart": (0.0, None),
    "leniency": (-1.5, 1.5),
    "drift": (-1.5, 1.5),
}


@dataclass(frozen=True)
class Picture:
    """Places on a line of 200: the value, the ends of its interval, where it rings, and zero where it lies inside."""

    value: float
    low: float | None
    high: float | None
    cuts: tuple[float, ...]
    zero: float | None
    label: str


def picture(one: Finding) -> Picture | None:
    """The picture of a finding, or None where it has no value or no line."""
    if one.value is None or one.threshold is None or one.check not in AXES:
        return None
    start, end = AXES[one.check]
    end = max(one.value, one.threshold) * 1.25 or 1.0 if end is None else end

    def place(value: float) -> float:
        inside = min(max(value, start), end)
        return round(MARGIN + (inside - start) / (end - start) * (WIDTH - 2 * MARGIN), 1)

    cuts = (-one.threshold, one.threshold) if CHECKS[one.check].rings == "either" else (one.threshold,)
    words = f"{one.value:.2f}"
    if one.low is not None and one.high is not None:
        words += f", interval {one.low:.2f} to {one.high:.2f}"
    return Picture(
        place(one.value),
        None if one.low is None else place(one.low),
        None if one.high is None else place(one.high),
        tuple(place(cut) for cut in cuts),
        place(0.0) if start < 0 else None,
        f"{words}; alert at {' and '.join(f'{cut:.2f}' for cut in cuts)}".replace("-", "−"),
    )
