"""Signals from recorded changes that the data cannot show, and from the age of the labels."""

from __future__ import annotations

from collections.abc import Callable

from assay.core.counted_nouns import agree, amount
from assay.staleness.facts import Declared, Facts, Missing
from assay.staleness.signal import COUNT, DAYS, Reading, Signal


def declared(kind: str, what: str) -> Callable[[Facts], Reading]:
    """Return the `look` function of a signal from recorded changes. It counts the changes that require action;
    changes before the labels' ratings do not.
    """

    def look(facts: Facts) -> Reading:
        newer = [one for one in facts.declared if one.kind == kind and one.older != 0]
        past = sum(one.kind == kind for one in facts.declared) - len(newer)
        if not newer:
            sentence = f"no {what} was recorded since" if not past else f"all ratings are newer than the {what}"
            return Reading(0, sentence, 0)
        newest = max(newer, key=lambda one: one.on)
        day = f"{newest.on:%d %b %Y}".lstrip("0")
        words = f"{what} of {day}{_older(newest)}{f': {newest.note}' if newest.note else ''}"
        detail = tuple(
            {"on": one.on.date().isoformat(), "note": one.note, "older": one.older, "ratings": one.ratings}
            for one in sorted(newer, key=lambda one: one.on, reverse=True)
        )
        return Reading(len(newer), words, 0, detail)

    return look


def _older(one: Declared) -> str:
    if one.older is None or one.ratings is None:
        return ""
    return f"; {one.older:,} of {amount(one.ratings, 'rating')} {agree(one.older, 'is', 'are')} older"


SCHEMA = Signal(
    name="schema",
    title="Schema or analyzer changed",
    measures="The number of recorded changes that are newer than ratings of these labels.",
    baseline="the dates of the ratings",
    unit=COUNT,
    warn=None,
    stale=0,
    source="Assay's rule: pool again, and rerate a fifth of the judged pairs",
    action="repool-overlap",
    look=declared("schema", "schema change"),
)


EMBEDDING = Signal(
    name="embedding",
    title="Embeddings changed",
    measures="The number of recorded changes that are newer than ratings of these labels.",
    baseline="the dates of the ratings",
    unit=COUNT,
    warn=None,
    stale=0,
    source="Assay's rule: a new model changes all rankings, so pool all queries again",
    action="repool",
    look=declared("embedding", "embedding change"),
)


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
