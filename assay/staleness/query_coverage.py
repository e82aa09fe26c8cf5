"""Signal: a drop in the share of searches that the judged queries cover."""

from __future__ import annotations

from assay.staleness.signal import SHARE, Facts, Missing, Reading, Signal, both, percent


def look(facts: Facts) -> Reading | Missing:
    """Return the drop in the share of searches for judged queries."""
    sides = both(facts.then.traffic, facts.now.traffic)
    if isinstance(sides, Missing):
        return sides
    then, now = sides
    if then.covered is None:
        return Missing("the traffic of the judged queries was not counted when the labels were frozen")
    if now.covered is None:
        return Missing("the newest log will be counted at the next check")
    words = (
        f"{percent(now.covered)} of the searches are for judged queries, {percent(then.covered)} when the labels "
        "were frozen"
    )
    detail = ({"baseline": then.covered, "now": now.covered},)
    return Reading(max(0.0, then.covered - now.covered), words, 0.0, detail)


COVERAGE = Signal(
    name="coverage",
    title="Traffic of the judged queries",
    measures="The drop, in percentage points, of the share of searches that are for judged queries.",
    baseline="the same share in the log that the queries were drawn from",
    unit=SHARE,
    warn=0.05,
    stale=0.10,
    source="common practice: act on a drop of more than 10 points; the warning above 5 points is Assay's rule",
    action="redraw",
    look=look,
)
