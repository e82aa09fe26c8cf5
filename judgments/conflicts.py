"""Conflicts of a round and its pairs that could not be judged.

A conflict is a pair whose grades differ and that waits for no further rating: in an open round, none of its slots is
free or leased. Everything that counts or lists conflicts uses `in_conflict`.

The difference between the grades of a pair is stored on the pair itself (`Pair.spread`) and has an index, so that in
a list of a hundred thousand conflicts only the current page costs time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet, Subquery

from judgments.models import Adjudication, Judgment, Pair, Round, RoundRater, Slot
from judgments.untold import untold_pairs

CHUNK = 100
# Up to so many empty slots are listed; beyond, each pair is looked up.
FEW_SLOTS = 20_000


def in_conflict(round_: Round, *, viewer: Any, steps: int = 1) -> QuerySet[Pair]:
    """The conflicts whose grades differ by at least so many steps, the widest first, then in the round's order.

    A viewer does not get those that they may still have to grade, in whatever round; for None, nothing is left out.
    """
    # As the index says it; what is at least so wide is so anyhow.
    apart = round_.pairs.filter(spread__gt=0, spread__gte=steps)
    if round_.state == Round.State.OPEN:
        apart = _complete(apart, round_)
    if viewer is not None:
        apart = apart.exclude(pk__in=untold_pairs(viewer, round_).values("pk"))
    return apart.order_by("-spread", "position")


def _complete(pairs: QuerySet[Pair], round_: Round) -> QuerySet[Pair]:
    """The pairs whose slots are all filled, asked from the side that has less to read."""
    waiting = Slot.objects.filter(round=round_, filled_by__isnull=True).order_by()
    missing = waiting[: FEW_SLOTS + 1].count()
    if missing > FEW_SLOTS:
        return pairs.filter(~Exists(waiting.filter(pair=OuterRef("pk"))))
    return pairs.exclude(pk__in=waiting.values("pair")) if missing else pairs


class Open(NamedTuple):
    """Conflicts that nobody settled, and how many of them need a person: two steps, one on a scale of two grades."""

    number: int
    wide: int


def count_open(round_: Round, *, viewer: Any) -> Open:
    """Count the conflicts that nobody settled."""
    waiting = in_conflict(round_, viewer=viewer).order_by().filter(settled=False)
    found = waiting.aggregate(number=Count("pk"), wide=Count("pk", filter=Q(spread__gt=1)))
    if found["number"] and not found["wide"] and round_.scale.grades.count() == 2:
        return Open(found["number"], found["number"])
    return Open(**found)


def open_conflicts(round_: Round, *, viewer: Any) -> int:
    """Return how many conflicts nobody settled."""
    return count_open(round_, viewer=viewer).number


def could_not_be_judged(round_: Round, *, viewer: Any) -> QuerySet[Pair]:
    """The pairs of which two raters said that they cannot be judged, or everybody who was asked; by ``unrateable``."""
    said = Judgment.objects.current().of_round(round_).filter(state=Judgment.State.UNRATEABLE, surplus=False)
    counted = said.order_by().values("pair").annotate(number=Count("pk"))
    several = counted.filter(Q(number__gte=2) | Q(number__gte=F("pair__ratings_wanted")))
    number = Subquery(counted.filter(pair=OuterRef("pk")).values("number"))
    pairs = round_.pairs.filter(pk__in=several.values("pair")).annotate(unrateable=number)
    return pairs.exclude(pk__in=untold_pairs(viewer, round_).values("pk")).order_by("-unrateable", "position")


def told(pairs: QuerySet[Pair]) -> QuerySet[Pair]:
    """The pairs with their queries and documents, ``answers`` (each with its ``pseudonym``) and ``settlements``.

    Answers are those that stand and count, ungraded ones among them; at most one settlement stands.
    """
    pseudonym = RoundRater.objects.filter(round=OuterRef("pair__round"), user=OuterRef("rater")).values("pseudonym")
    answers = Judgment.objects.current().filter(surplus=False).exclude(state=Judgment.State.LATER)
    answers = answers.annotate(pseudonym=Subquery(pseudonym[:1])).order_by("pseudonym")
    settled = Adjudication.objects.filter(superseded_by__isnull=True).select_related("settled_by")
    return pairs.select_related("query", "document").prefetch_related(
        Prefetch("judgments", answers, to_attr="answers"), Prefetch("adjudications", settled, to_attr="settlements")
    )


def grades_of(pair: Any) -> dict[str, int]:
    """Pseudonym to grade, of a pair that came from :func:`told`."""
    return {one.pseudonym: one.grade for one in pair.answers if one.grade is not None}


def notes_of(pair: Any) -> dict[str, str]:
    """Pseudonym to what was written beside a grade."""
    return {one.pseudonym: one.note for one in pair.answers if one.note and one.grade is not None}


def settled_as(pair: Any) -> Adjudication | None:
    """The settlement that stands."""
    return next(iter(pair.settlements), None)


def following(conflicts: QuerySet[Pair], here: Pair, order: Iterable[int] | None = None) -> Pair | None:
    """The next conflict that nobody settled: from here on, and then from the start.

    Parameters
    ----------
    conflicts : QuerySet of Pair
        As :func:`in_conflict` answers them.
    here : Pair
        Where one is; it may be settled by now, or be no conflict at all.
    order : iterable of int, optional
        Keys of pairs in another order than by size.
    """
    waiting = conflicts.filter(settled=False).exclude(pk=here.pk)
    if order is not None:
        return _following(waiting, here, list(order))
    later = Q(spread__lt=here.spread) | Q(spread=here.spread, position__gt=here.position)
    return waiting.filter(later).first() or waiting.first()


def _following(waiting: QuerySet[Pair], here: Pair, order: list[int]) -> Pair | None:
    place = order.index(here.pk) + 1 if here.pk in order else 0
    on = [*order[place:], *order[:place]]
    # Most of them wait: the next one is found among a few.
    for start in range(0, len(on), CHUNK):
        asked = on[start : start + CHUNK]
        found = {pair.pk: pair for pair in waiting.filter(pk__in=asked)}
        if found:
            return next(found[pk] for pk in asked if pk in found)
    return None
