"""Signal: judged documents whose content has changed."""

from __future__ import annotations

from assay.core.counted_nouns import amount
from assay.staleness.facts import Facts, Missing, both
from assay.staleness.signal import SHARE, Reading, Signal

MOST_LISTED = 20


def changed_documents(facts: Facts) -> list[str] | Missing:
    """The judged documents with another content now, in the order of their ids. Those that are not there are none."""
    sides = both(facts.then.hashes, facts.now.hashes)
    if isinstance(sides, Missing):
        return sides
    before, now = sides
    return sorted((doc_id for doc_id, old in before.items() if now.get(doc_id, old) != old), key=str.encode)


def look(facts: Facts) -> Reading | Missing:
    """Return the share of the judged documents that have another content."""
    changed = changed_documents(facts)
    if isinstance(changed, Missing):
        return changed
    judged = 0 if isinstance(facts.then.hashes, Missing) else len(facts.then.hashes)
    if not judged:
        return Missing("no judged document is known by its content")
    detail = tuple({"doc_id": doc_id} for doc_id in changed[:MOST_LISTED])
    return Reading(
        len(changed) / judged, f"{len(changed):,} of {amount(judged, 'judged document')} changed", 0.0, detail
    )


CHANGED = Signal(
    name="changed",
    title="Judged documents that changed",
    measures="The share of the judged documents whose content hash is another one now.",
    baseline="the content hash of each judged document, as it was judged",
    unit=SHARE,
    warn=0.0,
    stale=0.05,
    source="the field’s habit: any change is looked at, more than 5 % asks to judge again",
    action="judge-changed",
    look=look,
)
