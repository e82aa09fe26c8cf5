"""Check: a rater gives one grade to pairs that others grade differently."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.quality.chance import at_most, beyond, mean_by_query
from assay.quality.check import (
    Bools,
    Check,
    Finding,
    Floats,
    Ints,
    Record,
    beyond_chance,
    percent,
    state_of,
    too_little,
)

NEEDED = 30
SHARE = 0.8
EXCESS = 0.15
LEAST_SHARED = 20
# Minimum length of a sequence of one grade, and minimum number of its pairs graded by another rater.
ROW, ROW_SHARED, ROW_ALIKE = 20, 15, 0.5


def find(record: Record) -> list[Finding]:
    """Compare the share of the rater's most frequent grade with the others' share on the same pairs."""
    usual = _usual(record)
    return [_of(record, code, usual) for code in range(record.size)]


def _usual(record: Record) -> float:
    """Return how often two raters give a pair the same grade."""
    first, second = record.twos
    equal = int((record.grade[first] == record.grade[second]).sum())
    return (equal + 1) / (len(first) + 2)


def _of(record: Record, code: int, usual: float) -> Finding:
    rater, rows = record.raters[code], record.of(code)
    n = len(rows)
    if n < NEEDED:
        return too_little("same-grade", rater, n, NEEDED)
    common = int(np.bincount(record.place[rows]).argmax())
    mine = record.place[rows] == common
    share, grade = float(mine.mean()), record.scale[common]
    start, length = longest(record.place[rows])
    numbers: dict[str, Any] = {"grade": grade, "row": length, "row_grade": int(record.grade[rows[start]])}
    numbers |= _shares(record, rows)
    theirs, excess, chance = _beside_others(record, rows, common, mine)
    message = f"{percent(share)} of {n:,} grades are {grade}"
    if theirs is not None:
        message += (
            f"; other raters gave it to {percent(theirs)} of the same pairs" if (record.others[rows] > 0).sum() else ""
        )
        numbers["others"] = theirs
    rings = share >= SHARE and excess >= EXCESS and beyond_chance(chance, record)
    shared, alike, row_chance = _row(record, rows[start : start + length], usual)
    message += f". The longest sequence of one grade is {length}"
    if shared >= ROW_SHARED:
        message += (
            f"; other raters graded {shared} of these pairs and agreed on {alike} (the usual share is {percent(usual)})"
        )
        numbers |= {"row_shared": shared, "row_alike": alike, "usual": usual}
        # About n / length sequences might have been the longest.
        row_rings = length >= ROW and alike / shared < ROW_ALIKE and beyond_chance(row_chance * n / length, record)
        rings, chance = rings or row_rings, min(chance, row_chance) if row_rings else chance
    state = state_of(rings)
    return Finding(
        "same-grade", rater, state, n, NEEDED, f"{message}.", share, threshold=SHARE, chance=chance, numbers=numbers
    )


def _shares(record: Record, rows: Ints) -> dict[str, list[float] | None]:
    """Return the share of each grade of the scale among the rater's grades, and among the others'."""
    own = np.bincount(record.place[rows], minlength=len(record.scale))
    rest = np.bincount(record.place, minlength=len(record.scale)) - own
    others = (rest / rest.sum()).tolist() if rest.sum() else None
    return {"shares": (own / own.sum()).tolist(), "others_shares": others}


def _beside_others(record: Record, rows: Ints, common: int, mine: Bools) -> tuple[float | None, float, float]:
    """Return the others' share of the grade on the same pairs, the excess over it, and its probability."""
    shared = record.others[rows] > 0
    if shared.sum() >= LEAST_SHARED:
        theirs = _others_share(record, rows[shared], common, mine[shared])
        excess, error, queries = mean_by_query(mine[shared] - theirs, record.query[rows[shared]])
        return float(theirs.mean()), excess, beyond(excess, error, queries - 1)
    rest = np.delete(record.place, rows)
    if not len(rest):
        return None, 0.0, 1.0
    theirs_all = float((rest == common).mean())
    excess, error, queries = mean_by_query(mine.astype(np.float64) - theirs_all, record.query[rows])
    return theirs_all, excess, beyond(excess, error, queries - 1)


def _others_share(record: Record, rows: Ints, place: int | Ints, mine: Bools) -> Floats:
    """Return the share of the others who gave each pair the grade at this position of the scale."""
    return np.asarray((record.by_unit[record.unit[rows], place] - mine) / record.others[rows])


def longest(values: Ints) -> tuple[int, int]:
    """Return start and length of the longest run of equal values.

    Examples
    --------
    >>> longest(np.array([0, 1, 1, 1, 0, 0]))
    (1, 3)
    """
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    lengths = np.diff(np.concatenate([starts, [len(values)]]))
    best = int(lengths.argmax())
    return int(starts[best]), int(lengths[best])


def _row(record: Record, rows: Ints, usual: float) -> tuple[int, int, float]:
    """Return how many pairs of a sequence others graded, on how many they agreed, and the probability of so few."""
    shared = rows[record.others[rows] > 0]
    if not len(shared):
        return 0, 0, 1.0
    same = np.ones(len(shared), dtype=np.bool_)
    alike = round(float(_others_share(record, shared, record.place[shared], same).sum()))
    return len(shared), alike, at_most(alike, len(shared), usual)


SAME_GRADE = Check(
    name="same-grade",
    title="Always the same grade",
    asks=(
        "Checks whether one grade is far more frequent than among other raters of the same pairs, or repeats "
        "too often in a row."
    ),
    advice="Review some of the pairs together. If the grades are careless, pause the rater and have the pairs graded "
    "again.",
    severity="serious",
    needed=NEEDED,
    unit="grades",
    find=find,
    turn=1,
)
