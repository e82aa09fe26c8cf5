"""Signals: recorded changes that the data cannot show, and the share of older ratings."""

from __future__ import annotations

from collections.abc import Callable

from assay.core.text_rules import agree, amount
from assay.staleness.signal import COUNT, Declared, Facts, Reading, Signal


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


def _recorded(name: str, title: str, what: str, source: str, action: str) -> Signal:
    return Signal(
        name=name,
        title=title,
        measures="The number of recorded changes that are newer than some of the ratings behind these labels.",
        baseline="the dates of the ratings",
        unit=COUNT,
        warn=None,
        stale=0,
        source=source,
        action=action,
        look=declared(name, what),
    )


SCHEMA = _recorded(
    "schema",
    "Schema or analyzer changed",
    "schema change",
    "Assay's rule: after a change, pool again and rerate a fifth of the judged pairs",
    "repool-overlap",
)
EMBEDDING = _recorded(
    "embedding",
    "Embeddings changed",
    "embedding change",
    "Assay's rule: a new model changes all rankings, so pool all queries again",
    "repool",
)
