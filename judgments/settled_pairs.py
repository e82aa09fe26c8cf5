"""Resolved pairs for raters: which resolutions a rater may read of pairs that they graded.

The reason of a resolution is feedback that raters learn from. They can read it once the round is closed: the resolved
grade and the reason, for pairs that they answered themselves, without the grade or name of any other rater. A pair
that may still be graded anywhere, again or as a gold pair, stays hidden until that is over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from judgments import carried, gold
from judgments.models import Adjudication, Judgment, Pair, Round, User

# So many closed rounds are looked through for what stands on a rater's first page, the last ones first.
LOOKED_THROUGH = 5
ANSWERS = (Judgment.State.GRADED, Judgment.State.UNRATEABLE)


def settled_for(rater: User, round_: Round) -> QuerySet[Pair]:
    """The settled pairs of a closed round that the rater answered, with ``mine`` and ``settlements``.

    Parameters
    ----------
    rater : User
        Who reads.
    round_ : Round
        Whose pairs; of one that is not closed nothing is told.

    Returns
    -------
    QuerySet of Pair
        In the round's order. ``mine`` holds the rater's own standing answer, ``settlements`` the one that stands.
    """
    if round_.state != Round.State.CLOSED:
        return Pair.objects.none()
    rows = _answered(rater, round_)
    away = _still_asked(round_, rows.values_list("query__query_id", "document__doc_id"))
    if away:
        hidden = [
            pk for pk, *key in rows.values_list("pk", "query__query_id", "document__doc_id") if tuple(key) in away
        ]
        rows = rows.exclude(pk__in=hidden)
    settled = Adjudication.objects.filter(superseded_by__isnull=True)
    return (
        rows.select_related("query", "document")
        .prefetch_related(
            Prefetch("judgments", _own(rater), to_attr="mine"),
            Prefetch("adjudications", settled, to_attr="settlements"),
        )
        .order_by("position")
    )


def rounds_with_settled(rater: Any) -> list[Round]:
    """Those of the rounds closed last that have something for the rater to read."""
    asked = Round.objects.filter(state=Round.State.CLOSED, raters__user=rater)
    asked = asked.filter(collection__memberships__user=rater).select_related("collection")
    return [one for one in asked.order_by("-closed_at")[:LOOKED_THROUGH] if settled_for(rater, one).exists()]


def _answered(rater: User, round_: Round) -> QuerySet[Pair]:
    settled = Adjudication.objects.filter(superseded_by__isnull=True, pair__round=round_).order_by()
    return round_.pairs.filter(Exists(_own(rater).filter(pair=OuterRef("pk"))), pk__in=settled.values("pair"))


def _own(rater: User) -> QuerySet[Judgment]:
    return Judgment.objects.standing().filter(rater=rater, state__in=ANSWERS)


def _still_asked(round_: Round, keys: Iterable[gold.Key]) -> set[gold.Key]:
    """Those of the pairs that a round which is not over may ask somebody, or whose label would tell such a pair's."""
    wanted, found = set(keys), set[gold.Key]()
    for other in round_.collection.rounds.exclude(state=Round.State.CLOSED) if wanted else ():
        known = other.gold.values_list("query__query_id", "document__doc_id")
        found |= gold.stands_already(other, wanted) | (carried.told_by(round_.collection, known) & wanted)
    return found
