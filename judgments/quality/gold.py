"""How often does a rater give the known grade to a pair that is asked unseen?

Whether 85 % or 65 % of somebody's answers are right shows itself with about fifty: with ten, half of the careless are
missed (power .49 at a false alarm of .05, .93 at fifty). Below fifty nothing is decided.
"""

from __future__ import annotations

import numpy as np

from judgments.quality.chance import wilson
from judgments.quality.finding import Check, Finding, too_little
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
    value = {"value": x / n, "low": low, "high": high, "threshold": MARK, "numbers": {"right": x}}
    if n < NEEDED:
        below = n >= COACH and high < MARK
        found = too_little("gold", rater, n, NEEDED, **value)
        coach = " Look at the wrong ones together; it is too early to judge." if below else ""
        return Finding(**{**vars(found), "said": f"{x} of {n} right so far. {found.said}{coach}"})
    said = f"{x} of {n} pairs of known grade right, {x / n:.0%} ({low:.0%} to {high:.0%}); {MARK:.0%} are asked for."
    return Finding("gold", rater, "alarm" if high < MARK else "fine", n, NEEDED, said, **value)


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
)
