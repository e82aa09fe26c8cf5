"""Decide whether the numbers behind a reviewed alert have grown enough to show it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Where a check's value causes an alert: at or above its threshold, below it, or at the same distance on either side of
# zero.
Side = Literal["above", "below", "either"]

# The value must be 50% further beyond the threshold, and further out by this share of the threshold.
FURTHER, OF_THE_LINE = 1.5, 0.1


@dataclass(frozen=True)
class Numbers:
    """Numbers behind an alert: the value with its interval and threshold, and how much the rater had graded."""

    graded: int
    value: float | None
    low: float | None
    high: float | None
    threshold: float | None


def grown(then: Numbers, now: Numbers, side: Side) -> bool:
    """Return whether the numbers have grown clearly: twice as many grades, or a value clearly further out. Clearly
    means 50% further beyond the threshold, at least a tenth of the threshold, and outside the earlier interval, if
    there was one. An unchanged value deserves another review after twice as many grades, because earlier feedback had
    no effect.

    Examples
    --------
    >>> then = Numbers(100, 0.30, 0.22, 0.39, 0.2)
    >>> grown(then, Numbers(120, 0.33, 0.25, 0.42, 0.2), "above")
    False
    >>> grown(then, Numbers(120, 0.50, 0.41, 0.59, 0.2), "above")
    True
    >>> grown(then, Numbers(200, 0.30, 0.24, 0.37, 0.2), "above")
    True
    """
    if now.graded >= 2 * max(then.graded, 1):
        return True
    before, after = _beyond(then, side), _beyond(now, side)
    if before is None or after is None or now.graded == then.graded:
        return False
    if then.low is not None and then.high is not None and now.value is not None and then.low <= now.value <= then.high:
        return False
    before = max(before, 0.0)
    return after >= FURTHER * before and after - before >= OF_THE_LINE * abs(then.threshold or 0.0)


def _beyond(numbers: Numbers, side: Side) -> float | None:
    """Return how far the value lies beyond the threshold."""
    if numbers.value is None or numbers.threshold is None:
        return None
    if side == "below":
        return numbers.threshold - numbers.value
    return (abs(numbers.value) if side == "either" else numbers.value) - numbers.threshold
