"""New values of a document field, such as a category, with the share of documents that have them."""

from __future__ import annotations

from collections.abc import Callable

from evaluation.staleness.facts import Declared, Facts, Missing, Values, both
from evaluation.staleness.signal import Reading

MOST_TOLD = 20


def new_values(kind: str, plural: str) -> Callable[[Facts], Reading | Missing]:
    """Make the look of a signal about a field of the documents; a declaration of the same kind speaks too."""

    def look(facts: Facts) -> Reading | Missing:
        told = [one for one in facts.declared if one.kind == kind]
        found = _measured(getattr(facts.then, kind), getattr(facts.now, kind), kind, plural)
        return _with_declared(found, told, kind) if told else found

    return look


def _measured(before: Values | Missing, today: Values | Missing, kind: str, plural: str) -> Reading | Missing:
    sides = both(before, today)
    if isinstance(sides, Missing):
        return sides
    then, now = sides
    if then.name != now.name:
        return Missing(f"the baseline counted the field {then.name}, and {now.name} is looked at now; freeze again")
    if not now.total:
        return Missing("there is no document with content")
    new = {value: count for value, count in now.counts.items() if value not in then.counts}
    share = sum(new.values()) / now.total
    ordered = sorted(new.items(), key=lambda one: (-one[1], one[0].encode()))
    detail = tuple({kind: value, "documents": count} for value, count in ordered[:MOST_TOLD])
    if not new:
        return Reading(0.0, f"none new among {len(now.counts):,} {plural}", 0.0)
    named = ", ".join(value for value, _ in ordered[:3]) + (" and more" if len(new) > 3 else "")
    number = sum(new.values())
    return Reading(share, f"{len(new):,} new: {named}; in {number:,} document{'s' * (number != 1)}", 0.0, detail)


def _with_declared(found: Reading | Missing, told: list[Declared], kind: str) -> Reading:
    """Whoever declares it knows more than a field: the share is whole."""
    newest = max(told, key=lambda one: one.on)
    said = f"a new {kind} was declared for {newest.on:%d %b %Y}".replace(" 0", " ")
    said += f": {newest.note}" if newest.note else ""
    named = tuple({"on": one.on.date().isoformat(), "note": one.note} for one in told)
    detail = () if isinstance(found, Missing) else found.detail
    return Reading(1.0, said, 0.0, (*named, *detail))
