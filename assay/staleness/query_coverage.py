"""Signal: a drop in the share of searches that the judged queries cover."""

from __future__ import annotations

from assay.staleness.facts import Facts, Missing, both
from assay.staleness.signal import SHARE, Reading, Signal, percent


def look(facts: Facts) -> Reading | Missing:
    """By how much the share of the searches that judged queries answer for fell."""
    sides = both(facts.then.traffic, facts.now.traffic)
    if isinstance(sides, Missing):
        return sides
    then, now = sides
    if then.covered is None:
        return Missing("the traffic of the judged queries was not counted when they were frozen")
    if now.covered is None:
        return Missing("the newest log is counted at the next check")
    words = f"{percent(now.covered)} of the searches are for judged queries, {percent(then.covered)} then"
    detail = ({"baseline": then.covered, "now": now.covered},)
    return Reading(max(0.0, then.covered - now.covered), words, 0.0, detail)


COVERAGE = Signal(
    name="coverage",
    title="Traffic of the judged queries",
    measures="By how many points the share of the searches that are for judged queries fell.",
    baseline="that share in the log that the queries were drawn from",
    unit=SHARE,
    warn=0.05,
    stale=0.10,
    source="the field’s habit for 10 points; the warning at half of it is ours",
    action="redraw",
    look=look,
)
