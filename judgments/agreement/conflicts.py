"""Conflicts and unrateable pairs of a round.

A conflict is a pair with different grades and no missing rating (`PairQuerySet.in_conflict`). All counts and lists of
conflicts use this definition.

The difference between the grades of a pair is stored on the pair itself (`Pair.spread`) with an index, so that a page
of a list with a hundred thousand conflicts loads fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, F, OuterRef, Prefetch, Q, QuerySet, Subquery

from judgments.hooks import CONFLICT_APPRAISERS
from judgments.labels.grade_visibility import pairs_with_hidden_grades
from judgments.models import Adjudication, Judgment, Pair, Round, RoundRater
from judgments.models.pair import PairQuerySet


@dataclass(frozen=True)
class Effects:
    """The largest change of a metric from resolving each conflict."""

    metric: str
    moves: Mapping[int, float]
    newer: int = 0


def effects(round_: Round) -> Effects | None:
    """Return the effects of the round's conflicts from the first app that has them, or None."""
    return next(
        (changes for name in CONFLICT_APPRAISERS if (changes := CONFLICT_APPRAISERS[name].effects(round_)) is not None),
        None,
    )


def why_not(round_: Round) -> str:
    """Return the reason why the effects of the round's conflicts are missing, or ""."""
    reasons = (CONFLICT_APPRAISERS[name].why_not for name in CONFLICT_APPRAISERS)
    return next((words for one in reasons if one is not None and (words := one(round_))), "")


def detail(pair: Any, grades: list[int]) -> list[dict[str, Any]]:
    """Return the effect of resolving one conflict on each run; empty if unknown."""
    for name in CONFLICT_APPRAISERS:
        appraise = CONFLICT_APPRAISERS[name].detail
        if appraise is not None and (rows := appraise(pair, grades)):
            return rows
    return []


CHUNK = 100


def in_conflict(round_: Round, *, viewer: Any, steps: int = 1) -> PairQuerySet:
    """Return conflicts whose grades differ by at least this many steps, widest first, then in the round's order."""
    hidden = None if viewer is None else pairs_with_hidden_grades(viewer, round_)
    return Pair.objects.in_conflict(round_, hidden=hidden, steps=steps)


class Open(NamedTuple):
    """Numbers of unresolved conflicts: all, and those of two or more steps (one step on a scale of two grades)."""

    number: int
    wide: int


def count_open(round_: Round, *, viewer: Any) -> Open:
    """Count the unresolved conflicts."""
    waiting = in_conflict(round_, viewer=viewer).order_by().unresolved()
    counts = waiting.aggregate(number=Count("pk"), wide=Count("pk", filter=Q(spread__gt=1)))
    if counts["number"] and not counts["wide"] and round_.scale.grades.count() == 2:
        return Open(counts["number"], counts["number"])
    return Open(**counts)


def unrateable_pairs(round_: Round, *, viewer: Any) -> QuerySet[Pair]:
    """Return the pairs that two raters, or all of their raters, marked as unrateable, by number of such raters."""
    unrateable = Judgment.objects.current().of_round(round_).filter(state=Judgment.State.UNRATEABLE, surplus=False)
    counted = unrateable.order_by().values("pair").annotate(number=Count("pk"))
    several = counted.filter(Q(number__gte=2) | Q(number__gte=F("pair__ratings_wanted")))
    number = Subquery(counted.filter(pair=OuterRef("pk")).values("number"))
    pairs = round_.pairs.filter(pk__in=several.values("pair")).annotate(unrateable=number)
    return pairs.exclude(pk__in=pairs_with_hidden_grades(viewer, round_).values("pk")).order_by(
        "-unrateable", "position"
    )


def with_details(pairs: QuerySet[Pair]) -> QuerySet[Pair]:
    """Return the pairs with their queries and documents, ``answers`` (each with its ``pseudonym``) and
    ``settlements``."""
    pseudonym = RoundRater.objects.filter(round=OuterRef("pair__round"), user=OuterRef("rater")).values("pseudonym")
    answers = Judgment.objects.current().filter(surplus=False).exclude(state=Judgment.State.LATER)
    answers = answers.annotate(pseudonym=Subquery(pseudonym[:1])).order_by("pseudonym")
    settled = Adjudication.objects.current().select_related("resolved_by")
    return pairs.select_related("query", "document").prefetch_related(
        Prefetch("judgments", answers, to_attr="answers"), Prefetch("adjudications", settled, to_attr="settlements")
    )


def grades_of(pair: Any) -> dict[str, int]:
    """Return the grades by pseudonym of a pair from :func:`with_details`."""
    return {one.pseudonym: one.grade for one in pair.answers if one.grade is not None}


def notes_of(pair: Any) -> dict[str, str]:
    """Return the notes by pseudonym."""
    return {one.pseudonym: one.note for one in pair.answers if one.note and one.grade is not None}


def settled_as(pair: Any) -> Adjudication | None:
    """Return the current resolution."""
    return next(iter(pair.settlements), None)


def following(conflicts: PairQuerySet, here: Pair, order: Iterable[int] | None = None) -> Pair | None:
    """Return the next unresolved conflict after this pair, continuing from the start."""
    waiting = conflicts.unresolved().exclude(pk=here.pk)
    if order is not None:
        return _following(waiting, here, list(order))
    later = Q(spread__lt=here.spread) | Q(spread=here.spread, position__gt=here.position)
    return waiting.filter(later).first() or waiting.first()


def _following(waiting: QuerySet[Pair], here: Pair, order: list[int]) -> Pair | None:
    place = order.index(here.pk) + 1 if here.pk in order else 0
    on = [*order[place:], *order[:place]]
    # Most conflicts are unresolved, so the next one is found after a few pairs.
    for start in range(0, len(on), CHUNK):
        keys = on[start : start + CHUNK]
        pairs = {pair.pk: pair for pair in waiting.filter(pk__in=keys)}
        if pairs:
            return next(pairs[pk] for pk in keys if pk in pairs)
    return None
