"""Signal: the age of the labels."""

from __future__ import annotations

from assay.staleness.signal import DAYS, Facts, Missing, Reading, Signal


def look(facts: Facts) -> Reading | Missing:
    """Return the median age of the ratings in days."""
    if isinstance(facts.days, Missing):
        return facts.days
    whole = int(facts.days)
    return Reading(facts.days, f"{whole:,} day{'' if whole == 1 else 's'} old", 0.0)


AGE = Signal(
    name="age",
    title="Age",
    measures="Days since the median rating, or since the freeze if no rating has a date.",
    baseline="the dates of the ratings",
    unit=DAYS,
    warn=180,
    stale=None,
    source="common practice: after half a year, check the labels",
    action="overlap",
    look=look,
)
