"""Check: a rater's grades are further from the others' than the others' are from each other."""

from __future__ import annotations

import numpy as np

from judgments.quality.chance import beyond, mean_by_query
from judgments.quality.finding import Check, Finding, beyond_chance, state_of, too_little
from judgments.quality.record import Record

NEEDED = 30
STEPS = 0.3
TIMES = 1.5


def find(record: Record) -> list[Finding]:
    """The mean distance in steps to others on the same pairs, beside that of all others among themselves.

    It rings at half as much again, at least 0.3 steps more, and beyond chance (t over queries).
    """
    first, second = record.twos
    steps = np.abs(record.place[first] - record.place[second]).astype(np.float64)
    total, everything = float(steps.sum()), len(steps)
    found = []
    for code, rater in enumerate(record.raters):
        mine = (record.rater[first] == code) | (record.rater[second] == code)
        n = int(mine.sum())
        rest = everything - n
        if n < NEEDED or rest < NEEDED:
            found.append(too_little("apart", rater, min(n, rest), NEEDED))
            continue
        usual = (total - float(steps[mine].sum())) / rest
        mean, error, queries = mean_by_query(steps[mine], record.query[first[mine]])
        chance = beyond(mean - usual, error, queries - 1)
        line = max(TIMES * usual, usual + STEPS)
        rings = mean >= line and beyond_chance(chance, record)
        said = f"{mean:.2f} steps from others on {n:,} comparisons; others are {usual:.2f} from each other."
        state = state_of(rings)
        found.append(Finding("apart", rater, state, n, NEEDED, said, mean, threshold=line, chance=chance))
    return found


APART = Check(
    name="apart",
    title="Far from the others",
    asks="How far the grades lie from those of others on the same pairs.",
    advice="Look at the widest of their conflicts together. Whoever is alone may be right: ask before you set anything "
    "aside.",
    severity="mild",
    needed=NEEDED,
    unit="comparisons with others",
    find=find,
)
