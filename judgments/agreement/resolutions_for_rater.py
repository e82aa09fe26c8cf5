"""Resolved pairs for raters: the resolutions of their own pairs that raters may read.

Raters learn from the reason of a resolution. After the round is closed, they can read the resolved grade and the reason
for pairs that they judged, without the grade or name of any other rater. Pairs that can still be graded in any round,
again or as gold pairs, stay hidden.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from judgments.labels import carried_labels
from judgments.models import Adjudication, Judgment, Pair, Round, User
from judgments.quality import gold_pairs

# The number of recently closed rounds that the home page checks for resolutions.
LOOKED_THROUGH = 5
ANSWERS = (Judgment.State.GRADED, Judgment.State.UNRATEABLE)


def resolved_pairs_for(rater: User, round_: Round) -> QuerySet[Pair]:
    """Return the resolved pairs of a closed round that the rater judged, with ``mine`` and ``resolutions``."""
    if round_.state != Round.State.CLOSED:
        return Pair.objects.none()
    rows = _answered(rater, round_)
    open_keys = _still_open(round_, rows.values_list("query__query_id", "document__doc_id"))
    if open_keys:
        hidden = [
            pk for pk, *key in rows.values_list("pk", "query__query_id", "document__doc_id") if tuple(key) in open_keys
        ]
        rows = rows.exclude(pk__in=hidden)
    standing = Adjudication.objects.filter(superseded_by__isnull=True)
    return (
        rows.select_related("query", "document")
        .prefetch_related(
            Prefetch("judgments", _own(rater), to_attr="mine"),
            Prefetch("adjudications", standing, to_attr="resolutions"),
        )
        .order_by("position")
    )


def rounds_with_resolutions(rater: Any) -> list[Round]:
    """Return the recently closed rounds with resolutions that the rater may read."""
    rounds = Round.objects.filter(state=Round.State.CLOSED, raters__user=rater)
    rounds = rounds.filter(collection__memberships__user=rater).select_related("collection")
    return [one for one in rounds.order_by("-closed_at")[:LOOKED_THROUGH] if resolved_pairs_for(rater, one).exists()]


def _answered(rater: User, round_: Round) -> QuerySet[Pair]:
    resolved = Adjudication.objects.filter(superseded_by__isnull=True, pair__round=round_).order_by()
    return round_.pairs.filter(Exists(_own(rater).filter(pair=OuterRef("pk"))), pk__in=resolved.values("pair"))


def _own(rater: User) -> QuerySet[Judgment]:
    return Judgment.objects.standing().filter(rater=rater, state__in=ANSWERS)


def _still_open(round_: Round, keys: Iterable[gold_pairs.Key]) -> set[gold_pairs.Key]:
    """Return the pairs whose grade an open round may still request."""
    wanted, open_keys = set(keys), set[gold_pairs.Key]()
    for other in round_.collection.rounds.exclude(state=Round.State.CLOSED) if wanted else ():
        known = other.gold.values_list("query__query_id", "document__doc_id")
        open_keys |= gold_pairs.stands_already(other, wanted) | (
            carried_labels.linked_pairs(round_.collection, known) & wanted
        )
    return open_keys
