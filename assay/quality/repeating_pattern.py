"""Check: a rater's grades repeat a cycle, such as 0 1 2 3 0 1 2 3."""

from __future__ import annotations

import numpy as np

from assay.core.text_rules import amount
from assay.quality.check import Check, Finding, Ints, Record, beyond_chance, state_of, too_little

NEEDED = 30
PERIODS = (2, 3, 4)
# Minimum number of grades in a row that repeat earlier grades.
LEAST = 12


def find(record: Record) -> list[Finding]:
    """Find the longest stretch in which each grade equals the one two, three or four grades before."""
    return [_of(record, code) for code in range(record.size)]


def _of(record: Record, code: int) -> Finding:
    rater, grades = record.raters[code], record.grade[record.of(code)]
    n = len(grades)
    if n < NEEDED:
        return too_little("pattern", rater, n, NEEDED)
    length, start, period = max(repeating(grades, period) for period in PERIODS)
    unit = grades[start : start + period] if length else grades[:0]
    equal = max(_equal(grades), _equal(unit))
    chance = min(1.0, len(PERIODS) * n * equal**length) if length else 1.0
    shown = " ".join(map(str, unit))
    message = (
        f"{amount(length, 'grade')} in a row repeat the sequence {shown}"
        if length >= LEAST
        else "No repeating sequence"
    )
    rings = length >= LEAST and beyond_chance(chance, record)
    numbers = {"period": period, "unit": shown, "from": start + 1}
    state = state_of(rings)
    return Finding(
        "pattern",
        rater,
        state,
        n,
        NEEDED,
        f"{message}.",
        float(length),
        threshold=LEAST,
        chance=chance,
        numbers=numbers,
    )


def repeating(grades: Ints, period: int) -> tuple[int, int, int]:
    """Return length, start and period of the longest periodic stretch, without stretches of a single grade.

    Examples
    --------
    >>> repeating(np.array([3, 0, 1, 0, 1, 0, 1, 2]), 2), repeating(np.array([1, 1, 1, 1]), 2)
    ((4, 1, 2), (0, 0, 2))
    """
    same = np.concatenate([[False], grades[period:] == grades[:-period], [False]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(same))
    best = (0, 0, period)
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        unit = grades[start : start + period]
        if end - start > best[0] and (unit != unit[0]).any():
            best = (end - start, start, period)
    return best


def _equal(grades: Ints) -> float:
    """Return the probability that two of these grades are equal."""
    if not len(grades):
        return 1.0
    shares = np.bincount(grades) / len(grades)
    return float(shares @ shares)


PATTERN = Check(
    name="pattern",
    title="Repeating pattern",
    asks="Checks whether grades follow a fixed sequence, regardless of the documents.",
    advice="Careful grading does not look like this. Pause the rater, talk to them, and have the pairs graded again.",
    severity="serious",
    needed=NEEDED,
    unit="grades",
    find=find,
    turn=1,
)
