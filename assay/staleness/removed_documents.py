"""Signal: judged documents that are no longer in the index."""

from __future__ import annotations

from assay.core.counted_nouns import agree, amount
from assay.staleness.facts import Facts, Missing
from assay.staleness.signal import SHARE, Reading, Signal

MOST_LISTED = 20


def look(facts: Facts) -> Reading | Missing:
    """Return the share of the judged documents that the index does not hold any more."""
    if isinstance(facts.gone, Missing):
        return facts.gone
    judged = facts.judged
    if not judged:
        return Missing("no document was judged")
    gone = sorted(facts.gone, key=str.encode)
    detail = tuple({"doc_id": doc_id} for doc_id in gone[:MOST_LISTED])
    return Reading(
        len(gone) / judged,
        f"{len(gone):,} of {amount(judged, 'judged document')} {agree(len(gone), 'is', 'are')} not there",
        0.0,
        detail,
    )


GONE = Signal(
    name="gone",
    title="Judged documents that are gone",
    measures="The share of the judged documents that are not among the documents of today.",
    baseline="the ids of the judged documents",
    unit=SHARE,
    warn=0.0,
    stale=0.05,
    source="the field’s habit: any that went is looked at, more than 5 % asks to judge what took their place",
    action="judge-holes",
    look=look,
)
