"""Judgments of one rater in a round, with those of other raters for the same pairs.

These are the individual judgments that a check counts, so that a lead can review the evidence of an alert.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Length

from judgments.labels.grade_visibility import pairs_with_hidden_grades
from judgments.models import Judgment, ProbeAnswer, Round, RoundRater
from judgments.models.pair import JudgmentQuerySet
from judgments.web import access


def round_rater_of(round_: Round, pseudonym: str) -> RoundRater:
    rows = round_.raters.select_related("user").filter(pseudonym=pseudonym.replace("\0", ""))
    round_rater = access.existing(rows, "This round has no such rater.")
    round_rater.round = round_
    return round_rater


def answers_of(round_rater: RoundRater, *, reader: Any) -> JudgmentQuerySet:
    """Return the rater's current judgments in the round, for pairs whose grades the reader may see."""
    rows = Judgment.objects.standing().of_round(round_rater.round).filter(rater=round_rater.user_id)
    rows = rows.exclude(state=Judgment.State.LATER)
    untold = pairs_with_hidden_grades(reader, round_rater.round)
    return rows.exclude(pair__in=untold.values("pk")) if untold.exists() else rows


def beside_others(rows: JudgmentQuerySet, round_rater: RoundRater) -> QuerySet[Judgment]:
    """Annotate the judgments with ``others`` of the pair, ``again`` and ``characters``."""
    again = ProbeAnswer.objects.current().filter(
        probe__round=round_rater.round_id, probe__rater=round_rater.user_id, probe__pair=OuterRef("pair")
    )
    pseudonym = RoundRater.objects.filter(round=round_rater.round_id, user=OuterRef("rater")).values("pseudonym")
    others = _others(round_rater).annotate(pseudonym=Subquery(pseudonym[:1])).order_by("pseudonym")
    length = Length("pair__document__text") + Length("pair__document__title")
    return (
        rows.select_related("pair__query", "pair__document")
        .defer("pair__document__text", "pair__document__fields")
        .prefetch_related(Prefetch("pair__judgments", others, to_attr="others"))
        .annotate(again=Subquery(again.order_by("-pk").values("grade")[:1]), characters=length)
    )


def apart(rows: JudgmentQuerySet, round_rater: RoundRater, steps: int) -> JudgmentQuerySet:
    """Filter judgments that differ by at least this many steps from another rater's; 0 filters those all agree with."""
    others = _others(round_rater).filter(pair=OuterRef("pair"), state=Judgment.State.GRADED)
    at_least = max(steps, 1)
    beyond = Q(grade__gte=OuterRef("grade") + at_least) | Q(grade__lte=OuterRef("grade") - at_least)
    if steps:
        return rows.filter(Exists(others.filter(beyond)))
    return rows.filter(Exists(others), ~Exists(others.filter(beyond)))


def grades_of_others(row: Any) -> dict[str, int | None]:
    """Return the grade of each other rater for the pair, by pseudonym; None for "cannot judge"."""
    return {one.pseudonym: one.grade for one in row.pair.others}


def _others(round_rater: RoundRater) -> JudgmentQuerySet:
    rows = Judgment.objects.standing().filter(surplus=False).exclude(rater=round_rater.user_id)
    return rows.exclude(state=Judgment.State.LATER)
