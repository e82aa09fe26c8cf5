"""Signals: documents with a new value of a field, such as a category, since the labels were frozen."""

from __future__ import annotations

from collections.abc import Callable

from assay.staleness.signal import SHARE, Declared, Facts, Missing, Reading, Signal, Values, both

MOST_LISTED = 20


def new_values(kind: str, plural: str) -> Callable[[Facts], Reading | Missing]:
    """Return the `look` function of a signal about a document field, which also considers recorded changes of the same
    kind."""

    def look(facts: Facts) -> Reading | Missing:
        declared = [one for one in facts.declared if one.kind == kind]
        reading = _measured(getattr(facts.then, kind), getattr(facts.now, kind), kind, plural)
        return _with_declared(reading, declared, kind) if declared else reading

    return look


def _measured(before: Values | Missing, today: Values | Missing, kind: str, plural: str) -> Reading | Missing:
    sides = both(before, today)
    if isinstance(sides, Missing):
        return sides
    then, now = sides
    if then.name != now.name:
        return Missing(f"the baseline counted the field {then.name}, but the check uses {now.name}; freeze again")
    if not now.total:
        return Missing("there is no document with content")
    new = {value: count for value, count in now.counts.items() if value not in then.counts}
    share = sum(new.values()) / now.total
    ordered = sorted(new.items(), key=lambda one: (-one[1], one[0].encode()))
    detail = tuple({kind: value, "documents": count} for value, count in ordered[:MOST_LISTED])
    if not new:
        return Reading(0.0, f"no new {plural} among {len(now.counts):,}", 0.0)
    named = ", ".join(value for value, _ in ordered[:3]) + (" and more" if len(new) > 3 else "")
    number = sum(new.values())
    return Reading(share, f"{len(new):,} new: {named}; in {number:,} document{'s' * (number != 1)}", 0.0, detail)


def _with_declared(reading: Reading | Missing, declared: list[Declared], kind: str) -> Reading:
    """Count a recorded change as a share of 1, regardless of the field."""
    newest = max(declared, key=lambda one: one.on)
    words = f"a new {kind} was recorded for {newest.on:%d %b %Y}".replace(" 0", " ")
    words += f": {newest.note}" if newest.note else ""
    named = tuple({"on": one.on.date().isoformat(), "note": one.note} for one in declared)
    detail = () if isinstance(reading, Missing) else reading.detail
    return Reading(1.0, words, 0.0, (*named, *detail))


def _signal(kind: str, plural: str) -> Signal:
    return Signal(
        name=kind,
        title=f"New {plural}",
        measures=(
            f"The share of documents whose {kind} did not exist when the labels were frozen; a recorded {kind} "
            "counts as 100%."
        ),
        baseline=f"the number of documents per {kind}",
        unit=SHARE,
        warn=0.0,
        stale=0.01,
        source=f"Assay's rule: a new {kind} needs a separate stratum; below 1% of the documents it is only a warning",
        action="new-stratum",
        look=new_values(kind, plural),
    )


CATEGORY = _signal("category", "categories")
LANGUAGE = _signal("language", "languages")
