"""Signal: the age of the labels."""

from __future__ import annotations

from assay.staleness.facts import Facts, Missing
from assay.staleness.signal import DAYS, Reading, Signal


def look(facts: Facts) -> Reading | Missing:
    """Days; half of the ratings are at least as old."""
    if isinstance(facts.days, Missing):
        return facts.days
    whole = int(facts.days)
    return Reading(facts.days, f"{whole:,} day{'' if whole == 1 else 's'} old", 0.0)


AGE = Signal(
    name="age",
    title="Age",
    measures="Days since the median rating; since the freeze where no rating has a date.",
    baseline="when the ratings were given",
    unit=DAYS,
    warn=180,
    stale=None,
    source="the field’s habit: half a year is a hint, not a verdict",
    action="overlap",
    look=look,
)
