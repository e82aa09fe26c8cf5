"""Signal: judged documents that are no longer in the index."""

from __future__ import annotations

from assay.core.text_rules import agree, amount
from assay.staleness.signal import SHARE, Facts, Missing, Reading, Signal

MOST_LISTED = 20


def look(facts: Facts) -> Reading | Missing:
    """Return the share of judged documents that are no longer in the index."""
    if isinstance(facts.gone, Missing):
        return facts.gone
    judged = facts.judged
    if not judged:
        return Missing("no document was judged")
    gone = sorted(facts.gone, key=str.encode)
    detail = tuple({"doc_id": doc_id} for doc_id in gone[:MOST_LISTED])
    return Reading(
        len(gone) / judged,
        f"{len(gone):,} of {amount(judged, 'judged document')} {agree(len(gone), 'is', 'are')} missing",
        0.0,
        detail,
    )


GONE = Signal(
    name="gone",
    title="Removed judged documents",
    measures="The share of judged documents that are not among the current documents.",
    baseline="the ids of the judged documents",
    unit=SHARE,
    warn=0.0,
    stale=0.05,
    source="common practice: inspect any removal; above 5%, judge the documents that replaced them",
    action="judge-holes",
    look=look,
)
