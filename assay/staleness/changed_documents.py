"""Signals from the documents: judged documents that changed or were removed, and growth of the corpus."""

from __future__ import annotations

from assay.core.counted_nouns import agree, amount
from assay.staleness.facts import Facts, Missing, both
from assay.staleness.signal import SHARE, Reading, Signal

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


def look_for_growth(facts: Facts) -> Reading | Missing:
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
    look=look_for_growth,
)


def look_for_removed(facts: Facts) -> Reading | Missing:
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
    look=look_for_removed,
)
