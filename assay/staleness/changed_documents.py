"""Signal: judged documents whose content has changed."""

from __future__ import annotations

from assay.core.text_rules import amount
from assay.staleness.signal import SHARE, Facts, Missing, Reading, Signal, both

MOST_LISTED = 20


def changed_documents(facts: Facts) -> list[str] | Missing:
    """Return the judged documents whose content has changed, sorted by id. Removed documents are not included."""
    sides = both(facts.then.hashes, facts.now.hashes)
    if isinstance(sides, Missing):
        return sides
    before, now = sides
    return sorted((doc_id for doc_id, old in before.items() if now.get(doc_id, old) != old), key=str.encode)


def look(facts: Facts) -> Reading | Missing:
    """Return the share of judged documents whose content has changed."""
    changed = changed_documents(facts)
    if isinstance(changed, Missing):
        return changed
    judged = 0 if isinstance(facts.then.hashes, Missing) else len(facts.then.hashes)
    if not judged:
        return Missing("no judged document has a content hash")
    detail = tuple({"doc_id": doc_id} for doc_id in changed[:MOST_LISTED])
    return Reading(
        len(changed) / judged, f"{len(changed):,} of {amount(judged, 'judged document')} changed", 0.0, detail
    )


CHANGED = Signal(
    name="changed",
    title="Changed judged documents",
    measures="The share of judged documents whose content hash has changed.",
    baseline="the content hash of each judged document at the time of judging",
    unit=SHARE,
    warn=0.0,
    stale=0.05,
    source="common practice: inspect any change; rejudge above 5%",
    action="judge-changed",
    look=look,
)
