"""Check: two raters agree so often that one may have copied from the other.

Pairs to which both gave the round's most frequent grade are uninformative, because most raters agree on them. Only the
other pairs count.
"""

from __future__ import annotations

import numpy as np

from assay.quality.chance import at_least
from assay.quality.check import Check, Finding, Ints, Record, percent, state_of, too_little

NEEDED = 20
SUSPICIOUS = 1e-4
# If no other raters share pairs, the expected agreement is what people reach on the easiest tasks.
USUAL = 0.95
# Over thousands of pairs, even a few percent are significant, so raters who copy must also differ at most half as often
# as usual.
DIFFERS = 0.5


def find(record: Record) -> list[Finding]:
    """Compare the agreement of two raters on 20 or more informative pairs with that of all other pairs of raters."""
    twos = _Twos(record)
    scores = [_of_two(record, twos, place) for place in range(len(twos.n))]
    return [_of(record, code, twos, scores) for code in range(record.size)]


class _Twos:
    """Every two raters who share informative pairs: their number, the equal grades, and who graded second."""

    def __init__(self, record: Record) -> None:
        first, second = record.twos
        common = np.bincount(record.place, minlength=1).argmax()
        telling = (record.place[first] != common) | (record.place[second] != common)
        first, second = first[telling], second[telling]
        key, code = np.unique(record.rater[first] * max(record.size, 1) + record.rater[second], return_inverse=True)
        self.a, self.b = key // max(record.size, 1), key % max(record.size, 1)
        self.n: Ints = np.bincount(code, minlength=len(key))
        self.x: Ints = np.bincount(code[record.grade[first] == record.grade[second]], minlength=len(key))
        # Rows are in the order of grading.
        self.later: Ints = np.bincount(code[first > second], minlength=len(key))

    def of(self, rater: int) -> Ints:
        return np.flatnonzero((self.a == rater) | (self.b == rater))


def _of_two(record: Record, twos: _Twos, place: int) -> tuple[bool, float, float]:
    """Return whether two raters cause an alert, the usual share, and the probability."""
    n, x = int(twos.n[place]), int(twos.x[place])
    rest = int(twos.n.sum()) - n
    usual = (int(twos.x.sum()) - x + 1) / (rest + 2) if rest >= NEEDED else USUAL
    if n < NEEDED:
        return False, usual, 1.0
    chance = at_least(x, n, usual)
    return (n - x) / n <= DIFFERS * (1 - usual) and chance * len(twos.n) < SUSPICIOUS, usual, chance


def _of(record: Record, code: int, twos: _Twos, scores: list[tuple[bool, float, float]]) -> Finding:
    rater, mine = record.raters[code], twos.of(code)
    most = int(twos.n[mine].max(initial=0))
    if most < NEEDED:
        return too_little("copied", rater, most, NEEDED)
    enough = [place for place in mine.tolist() if twos.n[place] >= NEEDED]
    # Show the least likely of the pairs with an alert, or of all pairs.
    place = min(enough, key=lambda one: (not scores[one][0], scores[one][2]))
    rings, usual, chance = scores[place]
    n, x = int(twos.n[place]), int(twos.x[place])
    other = record.raters[int(twos.b[place] if twos.a[place] == code else twos.a[place])]
    later = int(twos.later[place] if twos.a[place] == code else n - twos.later[place])
    message = f"Same grade as {other} on {x} of {n} informative pairs; the usual share is {percent(usual)}"
    message += f". Graded after {other} on {later} of them." if rings else "."
    state = state_of(rings)
    numbers = {"equal": x, "usual": usual, "later": later}
    return Finding(
        "copied", rater, state, n, NEEDED, message, x / n, None, None, usual, chance, (other,) if rings else (), numbers
    )


COPIED = Check(
    name="copied",
    title="Copied grades",
    asks="Checks whether two raters agree far more often than others on pairs without the most frequent grade.",
    advice=(
        "Check whether two people share a screen or an account. The rater who graded second is more likely to "
        "have copied: exclude only that rater's judgments."
    ),
    severity="serious",
    needed=NEEDED,
    unit="informative shared pairs",
    find=find,
    turn=2,
)
