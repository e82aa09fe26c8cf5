"""Judgments of one rater in a round beside those of other raters for the same pairs.

They are the judgments that a check counts, one by one, so that a lead who reads an alert can review its evidence.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Length

from judgments.models import Judgment, ProbeAnswer, RoundRater
from judgments.models.judgment import JudgmentQuerySet
from judgments.untold import untold_pairs


def answers_of(asked: RoundRater, *, reader: Any) -> JudgmentQuerySet:
    """The rater's standing judgments in the round, of the pairs whose grades the reader may be told.

    Parameters
    ----------
    asked : RoundRater
        The rater in one round.
    reader : User
        The lead who reads. Where they may still be handed a pair, nobody's grade of it is told.
    """
    rows = Judgment.objects.standing().of_round(asked.round).filter(rater=asked.user_id)
    rows = rows.exclude(state=Judgment.State.LATER)
    untold = untold_pairs(reader, asked.round)
    return rows.exclude(pair__in=untold.values("pk")) if untold.exists() else rows


def beside_others(rows: JudgmentQuerySet, asked: RoundRater) -> QuerySet[Judgment]:
    """The same with all that is told of each: ``others`` of the pair, ``again``, ``characters``.

    ``again`` is the grade that the rater gave when the pair was shown to them a second time. All of it is asked for the
    rows of one page only.
    """
    again = ProbeAnswer.objects.current().filter(
        probe__round=asked.round_id, probe__rater=asked.user_id, probe__pair=OuterRef("pair")
    )
    pseudonym = RoundRater.objects.filter(round=asked.round_id, user=OuterRef("rater")).values("pseudonym")
    others = _others(asked).annotate(pseudonym=Subquery(pseudonym[:1])).order_by("pseudonym")
    length = Length("pair__document__text") + Length("pair__document__title")
    return (
        rows.select_related("pair__query", "pair__document")
        .defer("pair__document__text", "pair__document__fields")
        .prefetch_related(Prefetch("pair__judgments", others, to_attr="others"))
        .annotate(again=Subquery(again.order_by("-pk").values("grade")[:1]), characters=length)
    )


def apart(rows: JudgmentQuerySet, asked: RoundRater, steps: int) -> JudgmentQuerySet:
    """Those whose grade lies so many steps or more from somebody else's; with 0 those that all others agree with."""
    others = _others(asked).filter(pair=OuterRef("pair"), state=Judgment.State.GRADED)
    at_least = max(steps, 1)
    beyond = Q(grade__gte=OuterRef("grade") + at_least) | Q(grade__lte=OuterRef("grade") - at_least)
    if steps:
        return rows.filter(Exists(others.filter(beyond)))
    return rows.filter(Exists(others), ~Exists(others.filter(beyond)))


def said_of(row: Any) -> dict[str, int | None]:
    """What each other rater gave to the pair, by pseudonym; None where they could not judge it."""
    return {one.pseudonym: one.grade for one in row.pair.others}


def _others(asked: RoundRater) -> JudgmentQuerySet:
    rows = Judgment.objects.standing().filter(surplus=False).exclude(rater=asked.user_id)
    return rows.exclude(state=Judgment.State.LATER)
