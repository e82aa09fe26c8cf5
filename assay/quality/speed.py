"""Check: a rater answers faster than anyone can read.

Time says little about quality (rank correlation with accuracy .17 to .27), so only impossible speed raises an
alert.
"""

from __future__ import annotations

import numpy as np

from assay.quality.chance import wilson
from assay.quality.check import Check, Finding, Floats, Record, percent, state_of, too_little

NEEDED = 30
# Seconds to look and press a key, characters per second of quick skimming, and the number of characters after which a
# text's relevance is usually clear.
LOOK, PACE, READ = 0.4, 200.0, 400.0
SHARE = 0.2


def least_seconds(characters: Floats) -> Floats:
    """Return the seconds that even a quick reader needs for a text of this length.

    Examples
    --------
    >>> least_seconds(np.array([0.0, 60.0, 5_000.0])).tolist()
    [0.4, 0.7, 2.4]
    """
    return np.asarray(LOOK + np.minimum(characters, READ) / PACE)


def find(record: Record) -> list[Finding]:
    """Compute the share of answers faster than a quick reader; alert if the lower Wilson limit is at least a fifth."""
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
    message = f"{x} of {n} answers ({percent(x / n)}) were faster than the text can be skimmed; "
    message += f"the median time is {usual:.1f} s."
    state = state_of(low >= SHARE)
    numbers = {"under": x, "median_seconds": usual}
    return Finding("too-fast", rater, state, n, NEEDED, message, x / n, low, high, SHARE, numbers=numbers)


TOO_FAST = Check(
    name="too-fast",
    title="Too fast",
    asks="Share of answers that were faster than the text can be skimmed.",
    advice=(
        "Ask how the rater works: titles may be enough for some queries. If the grades are also off, pause the rater."
    ),
    severity="mild",
    needed=NEEDED,
    unit="timed answers",
    find=find,
)
