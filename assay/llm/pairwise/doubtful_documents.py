"""Uncertainty of documents after battles: preferences that depend on the order shown, and score errors."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from assay.core.errors import NotValid
from assay.formats.battles_jsonl import Battle


def turned(battles: Iterable[Battle]) -> dict[tuple[str, str], float]:
    """Return for each document compared in both orders how often the same position won twice.

    Comparisons that ended in a tie in either order do not depend on the position.

    Examples
    --------
    >>> rows = [Battle("q", "a", "b", -1.0), Battle("q", "a", "b", 0.5, swapped=True), Battle("q", "a", "c", 1.0)]
    >>> turned(rows)
    {('q', 'a'): 1.0, ('q', 'b'): 1.0}
    """
    meetings: dict[tuple[str, ...], dict[bool, float]] = {}
    for row in battles:
        if row.score is None:
            continue
        a, b = sorted((row.a, row.b))
        for_b = row.score if (row.a, row.b) == (a, b) else -row.score
        a_first = ((row.a, row.b) == (a, b)) != row.swapped
        meetings.setdefault((row.query_id, a, b, row.model), {})[a_first] = for_b
    counts: dict[tuple[str, str], list[int]] = {}
    for (query_id, a, b, _), orders in meetings.items():
        if len(orders) < 2:
            continue
        # The two answers have different signs, so the preference depends on the order.
        other = orders[True] * orders[False] < 0
        for doc_id in (a, b):
            counted = counts.setdefault((query_id, doc_id), [0, 0])
            counted[0] += other
            counted[1] += 1
    return {key: times / met for key, (times, met) in counts.items()}


def other_grade(score: float, error: float, cuts: Sequence[float]) -> float:
    """Return the probability that a document's true score is beyond a cut point.

    Examples
    --------
    >>> round(other_grade(0.0, 0.5, [-1.0, 1.0]), 4), round(other_grade(1.0, 0.5, [-1.0, 1.0]), 4)
    (0.0455, 0.5)
    """
    if error < 0:
        raise NotValid(f"the standard error is {error:g}; use 0 or more")
    if not len(cuts) or error == 0:
        return 0.0
    from scipy.special import ndtr

    place = bisect_right(cuts, score)
    above = ndtr((score - cuts[place]) / error) if place < len(cuts) else 0.0
    below = ndtr((cuts[place - 1] - score) / error) if place else 0.0
    return float(above + below)
