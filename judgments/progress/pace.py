"""Estimate of the time for the remaining judgments, with its uncertainty.

Times are skewed: a few are very long. The time for many judgments is therefore their number times the mean, not times
the median. The median is reported as the typical time of one judgment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from judgments.rating.pair_state import CLASSES, median_seconds

# Times are capped at this multiple of the median, because longer ones mean that the rater was away.
LONGEST = 10
# The minimum number of times to use a rater's own spread.
FEWEST = 5
# The half-width of an 80% interval of a normal distribution, in standard deviations.
EIGHTY = 1.2816


@dataclass(frozen=True)
class Pace:
    """The time of one judgment in seconds: mean, standard deviation, and number of measured times."""

    mean: float
    deviation: float
    times: int
    between: float = 0.0


def pace_of(counted: Mapping[str, int]) -> Pace | None:
    """Return the pace from times counted by class; None without any."""
    median = median_seconds(counted)
    if median is None:
        return None
    rows = [(min(2 ** (int(name) / CLASSES), LONGEST * median), number) for name, number in counted.items()]
    times = sum(number for _, number in rows)
    mean = sum(length * number for length, number in rows) / times
    squares = sum((length - mean) ** 2 * number for length, number in rows)
    return Pace(mean, math.sqrt(squares / (times - 1)) if times > 1 else 0.0, times)


def paces_of(each: Sequence[Mapping[str, int]], together: Mapping[str, int]) -> list[Pace | None]:
    """Return the pace of each rater. A rater without times gets that of all raters, and a rater with few times their
    spread."""
    usual = pace_of(together)
    own = [pace_of(counted) for counted in each]
    if usual is None:
        return [None] * len(own)
    known = [one.mean for one in own if one is not None]
    between = math.sqrt(sum((mean - sum(known) / len(known)) ** 2 for mean in known) / max(len(known) - 1, 1))
    spread = usual.deviation / usual.mean
    paces: list[Pace | None] = []
    for one in own:
        if one is None:
            paces.append(replace(usual, between=between))
        else:
            paces.append(one if one.times >= FEWEST else replace(one, deviation=spread * one.mean))
    return paces


def eighty_percent(parts: Iterable[tuple[int, Pace]]) -> tuple[float, float] | None:
    """Return the 80% interval of the total time in seconds."""
    rows = [(left, pace) for left, pace in parts if left > 0]
    mean = sum(left * pace.mean for left, pace in rows)
    variance = sum(
        left * pace.deviation**2 + left**2 * (pace.deviation**2 / pace.times + pace.between**2) for left, pace in rows
    )
    if not mean or not variance:
        return None
    wide = math.sqrt(math.log1p(variance / mean**2))
    middle = math.log(mean) - wide**2 / 2
    return math.exp(middle - EIGHTY * wide), math.exp(middle + EIGHTY * wide)
