"""Signal: judged queries that have moved to another tier."""

from __future__ import annotations

from collections import Counter

from assay.core.text_rules import agree
from assay.staleness.signal import SHARE, Facts, Missing, Reading, Signal, both


def look(facts: Facts) -> Reading | Missing:
    """Return the share of the judged queries still in the log that are in another tier there."""
    sides = both(facts.then.traffic, facts.now.traffic)
    if isinstance(sides, Missing):
        return sides
    then, now = sides
    if not then.tiers:
        return Missing("the judged queries have no tiers; draw queries from a log to assign tiers")
    if now.covered is None:
        return Missing("the newest log will be counted at the next check")
    tiers_of = [(tier, now.tiers[query]) for query, tier in then.tiers.items() if query in now.tiers]
    if not tiers_of:
        return Missing("the newest log contains none of the judged queries")
    moves = Counter((before, after) for before, after in tiers_of if before != after)
    moved = sum(moves.values())
    detail = tuple(
        {"from": before, "to": after, "queries": count} for (before, after), count in sorted(moves.most_common())
    )
    words = (
        f"{moved:,} of the {len(tiers_of):,} judged queries that are still searched {agree(moved, 'is', 'are')} "
        "in another tier"
    )
    return Reading(moved / len(tiers_of), words, 0.0, detail)


TIERS = Signal(
    name="tiers",
    title="Tiers of the judged queries",
    measures="The share of the judged queries still searched that are now in another tier.",
    baseline="the tier of each judged query",
    unit=SHARE,
    warn=0.10,
    stale=0.20,
    source="Assay's rule: above 10% the weights are off; above 20% draw queries again",
    action="redraw",
    look=look,
)
