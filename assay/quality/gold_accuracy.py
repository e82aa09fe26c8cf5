"""Check: how often a rater gives gold pairs their gold grade.

About fifty gold pairs are needed to distinguish a rater with 85% correct answers from a rater with 65%: with ten,
half of the careless raters are missed (power .49 at a false alert rate of .05; .93 at fifty). Below fifty, the check
does not decide.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.quality.chance import wilson
from assay.quality.check import Check, Finding, Record, percent, state_of, too_little

NEEDED = 50
MARK = 0.75
COACH = 10


def find(record: Record) -> list[Finding]:
    """Compute the share of correct gold pairs; alert if the whole Wilson interval is below three quarters."""
    right = np.abs(record.gold.given - record.gold.expected) <= record.within
    n = np.bincount(record.gold.rater, minlength=record.size)
    x = np.bincount(record.gold.rater, weights=right, minlength=record.size)
    return [_of(rater, int(x[code]), int(n[code])) for code, rater in enumerate(record.raters)]


def _of(rater: str, x: int, n: int) -> Finding:
    if not n:
        return too_little("gold", rater, 0, NEEDED)
    low, high = wilson(x, n)
    if n < NEEDED:
        early = too_little("gold", rater, n, NEEDED, value=x / n, low=low, high=high, threshold=MARK)
        message = f"{x} of {n} gold pairs correct so far. {early.message}"
        if n >= COACH and high < MARK:
            message += " Review the wrong answers together. It is too early to draw conclusions."
        return replace(early, message=message, numbers={"right": x})
    message = f"{x} of {n} gold pairs correct: {percent(x / n)} (95% CI {percent(low)} to {percent(high)}); "
    message += f"{percent(MARK)} is required."
    numbers = {"right": x}
    return Finding("gold", rater, state_of(high < MARK), n, NEEDED, message, x / n, low, high, MARK, numbers=numbers)


GOLD = Check(
    name="gold",
    title="Gold pairs",
    asks="Share of gold pairs that received the gold grade.",
    advice=(
        "Review the wrong answers with the rater and the guidelines. If the share stays low, pause the rater and "
        "have the pairs graded again."
    ),
    severity="serious",
    needed=NEEDED,
    unit="gold pairs",
    find=find,
    turn=1,
    rings="below",
)
