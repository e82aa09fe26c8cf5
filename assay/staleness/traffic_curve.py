"""Signal: a changed shape of the traffic curve."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log

from assay.staleness.signal import INDEX, Facts, Missing, Reading, Signal, both, percent

# The ranks that separate the bins: half decades, because traffic decreases on that scale.
RANKS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
# Replaces an empty bin's share, so that its logarithm is finite.
LEAST = 1e-4
Curve = Sequence[tuple[int, float]]


def share_at(curve: Curve, rank: int) -> float:
    """Return the share of the searches for the queries down to a rank, with linear interpolation.

    Examples
    --------
    >>> share_at([(0, 0.0), (10, 0.5), (20, 1.0)], 15), share_at([(0, 0.0), (10, 1.0)], 99)
    (0.75, 1.0)
    """
    before = (0, 0.0)
    for point in curve:
        if point[0] >= rank:
            span = point[0] - before[0]
            return point[1] if not span else before[1] + (point[1] - before[1]) * (rank - before[0]) / span
        before = (point[0], point[1])
    return before[1]


def bins(curve: Curve) -> list[float]:
    """Return the share of the searches in each bin of ranks; the last bin contains the rest."""
    shares = [0.0, *(share_at(curve, rank) for rank in RANKS), 1.0]
    return [after - before for before, after in pairwise(shares)]


def psi(then: Sequence[float], now: Sequence[float]) -> float:
    """Return the population stability index of two distributions over the same bins: the sum of (b - a) ln(b / a).

    Examples
    --------
    >>> psi([0.5, 0.5], [0.5, 0.5]), round(psi([0.5, 0.5], [0.7, 0.3]), 4)
    (0.0, 0.1695)
    """
    pairs = [(max(a, LEAST), max(b, LEAST)) for a, b in zip(then, now, strict=True)]
    return sum((b - a) * log(b / a) for a, b in pairs)


def look(facts: Facts) -> Reading | Missing:
    """Return the stability index of the traffic over bins of ranks."""
    sides = both(facts.then.traffic, facts.now.traffic)
    if isinstance(sides, Missing):
        return sides
    then, now = sides
    if not then.curve or not now.curve:
        return Missing("the log has no searches")
    before, after = bins(then.curve), bins(now.curve)
    ends = [*RANKS, max(point[0] for point in (*then.curve, *now.curve))]
    detail = tuple(
        {"to rank": end, "baseline": a, "now": b}
        for end, a, b in zip(ends, before, after, strict=True)
        if a > 0 or b > 0
    )
    tens = share_at(then.curve, 10), share_at(now.curve, 10)
    words = (
        f"the top 10 queries have {percent(tens[1])} of the searches, {percent(tens[0])} when the labels were frozen"
    )
    return Reading(psi(before, after), words, 0.0, detail)


CURVE = Signal(
    name="curve",
    title="Traffic curve",
    measures="The population stability index of the searches over bins of ranks (1, 3, 10, 30, ...).",
    baseline="the traffic curve of the log that the queries were drawn from",
    unit=INDEX,
    warn=0.10,
    stale=0.20,
    source="common interpretation of the index: above 0.1 the traffic has shifted; above 0.2 it is a different "
    "population",
    action="redraw",
    look=look,
)
