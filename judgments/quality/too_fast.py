"""Check: a rater answers faster than anyone can read.

Time says little about quality (rank correlation with accuracy .17 to .27), so only impossible speed raises an
alert.
"""

from __future__ import annotations

import numpy as np

from judgments.quality.chance import wilson
from judgments.quality.finding import Check, Finding, percent, state_of, too_little
from judgments.quality.record import Floats, Record

NEEDED = 30
# Seconds to see what is there and to press a key, and characters a second that a quick eye skims; a text need not be
# read further than this to be told apart from what helps.
LOOK, PACE, READ = 0.4, 200.0, 400.0
SHARE = 0.2


def least_seconds(characters: Floats) -> Floats:
    """How long even a quick reader needs for a text of this length.

    Examples
    --------
    >>> least_seconds(np.array([0.0, 60.0, 5_000.0])).tolist()
    [0.4, 0.7, 2.4]
    """
    return np.asarray(LOOK + np.minimum(characters, READ) / PACE)


def find(record: Record) -> list[Finding]:
    """The share of answers given sooner than a quick reader could; it rings from a fifth on, by Wilson's lower end."""
    timed = record.timed
    under = timed.seconds < least_seconds(timed.characters)
    return [
        _of(rater, under[mine := timed.rater == code], timed.seconds[mine]) for code, rater in enumerate(record.raters)
    ]


def _of(rater: str, under: Floats, seconds: Floats) -> Finding:
    n = len(under)
    if n < NEEDED:
        return too_little("too-fast", rater, n, NEEDED)
    x, usual = int(under.sum()), float(np.median(seconds))
    low, high = wilson(x, n)
    said = f"{x} of {n} answers ({percent(x / n)}) came sooner than the text can be skimmed; "
    said += f"the median is {usual:.1f} s."
    state = state_of(low >= SHARE)
    numbers = {"under": x, "median_seconds": usual}
    return Finding("too-fast", rater, state, n, NEEDED, said, x / n, low, high, SHARE, numbers=numbers)


TOO_FAST = Check(
    name="too-fast",
    title="Too fast to have read",
    asks="How many answers came sooner than the text on the screen can be skimmed.",
    advice="Ask how they work: titles may be enough for some queries. If their grades are off as well, pause them.",
    severity="mild",
    needed=NEEDED,
    unit="timed answers",
    find=find,
)
