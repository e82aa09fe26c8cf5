"""Check: how often a rater gives gold pairs their gold grade.

Whether a rater answers 85% or 65% of gold pairs correctly becomes visible with about fifty: with ten, half of the
careless raters are missed (power .49 at a false alert rate of .05, .93 at fifty). Below fifty the check decides
nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgments.quality.chance import wilson
from judgments.quality.finding import Check, Finding, percent, state_of, too_little
from judgments.quality.record import Record

NEEDED = 50
MARK = 0.75
COACH = 10


def find(record: Record) -> list[Finding]:
    """The share of right answers with Wilson's interval; it rings when all of it lies below three quarters."""
    right = np.abs(record.gold.given - record.gold.expected) <= record.within
    n = np.bincount(record.gold.rater, minlength=record.size)
    x = np.bincount(record.gold.rater, weights=right, minlength=record.size)
    return [_of(rater, int(x[code]), int(n[code])) for code, rater in enumerate(record.raters)]


def _of(rater: str, x: int, n: int) -> Finding:
    if not n:
        return too_little("gold", rater, 0, NEEDED)
    low, high = wilson(x, n)
    if n < NEEDED:
        found = too_little("gold", rater, n, NEEDED, value=x / n, low=low, high=high, threshold=MARK)
        said = f"{x} of {n} right so far. {found.said}"
        if n >= COACH and high < MARK:
            said += " Look at the wrong ones together; it is too early to judge."
        return replace(found, said=said, numbers={"right": x})
    said = f"{x} of {n} pairs of known grade right, {percent(x / n)} ({percent(low)} to {percent(high)}); "
    said += f"{percent(MARK)} are asked for."
    return Finding("gold", rater, state_of(high < MARK), n, NEEDED, said, x / n, low, high, MARK, numbers={"right": x})


GOLD = Check(
    name="gold",
    title="Known grades",
    asks="How often the known grade was given to pairs that were mixed in unseen.",
    advice="Go through the wrong ones with them, beside the guidelines. If it stays so, pause them and let others "
    "grade their pairs again.",
    severity="serious",
    needed=NEEDED,
    unit="pairs of known grade",
    find=find,
    turn=1,
    rings="below",
)
