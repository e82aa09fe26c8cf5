"""Check: a rater's grades are further from those of other raters than those are from each other."""

from __future__ import annotations

import numpy as np

from assay.quality.chance import beyond, mean_by_query
from assay.quality.check import Check, Finding, Record, beyond_chance, state_of, too_little

NEEDED = 30
STEPS = 0.3
TIMES = 1.5


def find(record: Record) -> list[Finding]:
    """Compare each rater's mean distance to other raters on the same pairs with the distance among all others."""
    first, second = record.twos
    steps = np.abs(record.place[first] - record.place[second]).astype(np.float64)
    total, everything = float(steps.sum()), len(steps)
    findings = []
    for code, rater in enumerate(record.raters):
        mine = (record.rater[first] == code) | (record.rater[second] == code)
        n = int(mine.sum())
        rest = everything - n
        if n < NEEDED or rest < NEEDED:
            findings.append(too_little("apart", rater, min(n, rest), NEEDED))
            continue
        usual = (total - float(steps[mine].sum())) / rest
        mean, error, queries = mean_by_query(steps[mine], record.query[first[mine]])
        chance = beyond(mean - usual, error, queries - 1)
        line = max(TIMES * usual, usual + STEPS)
        rings = mean >= line and beyond_chance(chance, record)
        message = f"Mean distance to other raters: {mean:.2f} steps ({n:,} comparisons); among the others: {usual:.2f}."
        state = state_of(rings)
        findings.append(Finding("apart", rater, state, n, NEEDED, message, mean, threshold=line, chance=chance))
    return findings


APART = Check(
    name="apart",
    title="Far from other raters",
    asks="Mean distance between this rater's grades and those of other raters on the same pairs.",
    advice="Review the largest conflicts together. The rater may be right, so ask before excluding judgments.",
    severity="mild",
    needed=NEEDED,
    unit="comparisons with other raters",
    find=find,
)
