"""Signal: growth of the corpus since the labels were frozen."""

from __future__ import annotations

from assay.core.text_rules import amount
from assay.staleness.signal import SHARE, Facts, Missing, Reading, Signal, both


def look(facts: Facts) -> Reading | Missing:
    """Return the growth in the number of documents. It is negative for a smaller corpus; the signal ``gone`` covers
    removed documents.
    """
    sides = both(facts.then.documents, facts.now.documents)
    if isinstance(sides, Missing):
        return sides
    before, now = sides
    if not before:
        return Missing("no document had content when the labels were frozen")
    words = f"{amount(now, 'document')}, {before:,} when the labels were frozen"
    return Reading(now / before - 1, words, 0.0, ({"now": now, "baseline": before},))


GROWTH = Signal(
    name="growth",
    title="Documents added",
    measures="The growth in the number of documents since the labels were frozen.",
    baseline="the number of documents with content",
    unit=SHARE,
    warn=None,
    stale=0.20,
    source="Assay's rule: pool again if the corpus grew by more than 20%",
    action="judge-new",
    look=look,
)
