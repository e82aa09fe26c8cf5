"""Signal: growth of the corpus since the labels were frozen."""

from __future__ import annotations

from assay.core.counted_nouns import amount
from assay.staleness.facts import Facts, Missing, both
from assay.staleness.signal import SHARE, Reading, Signal


def look(facts: Facts) -> Reading | Missing:
    """Return documents now over documents then, less one.

    A corpus that shrank has grown by less than nothing; that documents went is what ``gone`` tells.
    """
    sides = both(facts.then.documents, facts.now.documents)
    if isinstance(sides, Missing):
        return sides
    before, now = sides
    if not before:
        return Missing("no document with content was there when the labels were frozen")
    words = f"{amount(now, 'document')}, {before:,} when the labels were frozen"
    return Reading(now / before - 1, words, 0.0, ({"now": now, "baseline": before},))


GROWTH = Signal(
    name="growth",
    title="Documents added",
    measures="Documents now over documents then, less one.",
    baseline="how many documents with content there were",
    unit=SHARE,
    warn=None,
    stale=0.20,
    source="the project’s rule: a corpus that grew by more than 20 % is pooled again",
    action="judge-new",
    look=look,
)
