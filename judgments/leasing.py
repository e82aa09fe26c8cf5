"""Leases: give free slots to raters who ask at the same moment, each slot to one rater only.

Taking a slot is a conditional UPDATE under a lock: of two raters who ask at the same moment one gets it, on SQLite
and PostgreSQL alike. `openings.py` finds which slots are free for which rater.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet, Subquery
from django.utils import timezone

from judgments import openings
from judgments.compiled import Compiled, Given
from judgments.core.together import Together
from judgments.models import Handout, Pair, Round, Slot, Tally, User
from judgments.openings import Openings, Place

# So many raters who ask a process at the same moment are given theirs together: who chose while others take would
# choose the same, and each would wait for the database on their own.
MOST_TOGETHER = 16
# How often, and after how many seconds, it is tried again where others hold all that is left for a moment.
TRIES, PAUSE = 50, 0.02


class Wish(NamedTuple):
    """What a rater wants more of."""

    places: Openings
    missing: int
    until: datetime
    draw: str
    after: list[Place]  # what they have in hand already


class Got(NamedTuple):
    """What came of a wish."""

    places: list[Place]
    missed: set[int]  # pairs that somebody else was busy with


def take(wish: Wish) -> list[Place]:
    """Free slots of one query after the other, shuffled within the query, until the batch is full."""
    for _ in range(TRIES):
        # What others get must not hang on a transaction of the caller's that may still be rolled back.
        alone = connection.in_atomic_block
        got = _fulfil([wish])[0] if alone else together.do(wish.places.round.pk, wish)
        if got.places or not got.missed:
            return got.places
        time.sleep(PAUSE)  # all that is left is in others' hands at this moment; that nothing is left is not true yet
    return []


def _fulfil(wishes: Sequence[Wish]) -> list[Got]:
    """What comes of the wishes of several raters, or of one, in a round."""
    gots = [Got([], set()) for _ in wishes]
    while True:
        chosen = _chosen(wishes, gots)
        if not any(chosen):
            return gots
        for got, places, won in zip(gots, chosen, _lease(wishes, chosen), strict=True):
            got.places.extend(place for place in places if place.slot in won)
            got.missed.update(place.pair for place in places if place.slot not in won)


together = Together(_fulfil, MOST_TOGETHER)


def _chosen(wishes: Sequence[Wish], gots: Sequence[Got]) -> list[list[Place]]:
    """The next places for each wish; no slot for two of them, and no pair twice for a rater who asks twice."""
    slots: set[int] = set()
    pairs: dict[int, set[int]] = {}
    chosen = []
    for wish, got in zip(wishes, gots, strict=True):
        places = wish.places.again()
        mine = pairs.setdefault(places.rater.pk, set())
        places.taken, places.passed = slots, got.missed | mine
        found = _choose(wish, places, got) if len(got.places) < wish.missing else []
        slots.update(place.slot for place in found)
        mine.update(place.pair for place in found)
        chosen.append(found)
    return chosen


def _choose(wish: Wish, places: Openings, got: Got) -> list[Place]:
    """The next places: of the query in hand as long as it has some, then of the next one behind it, and so on."""
    most = wish.missing - len(got.places)
    chosen: list[Place] = []
    begun, start = _begun(places.round, places.rater, [*wish.after, *got.places])
    query = openings.Query(begun, None) if begun is not None else places.next_query(start)
    # Every turn but the first finds a place or is the last; the bound guards against a race that never settles.
    for _ in range(most + 20):
        if query is None:
            break
        found = sorted(places.in_query(query), key=lambda place: turn(wish.draw, place.position))[: most - len(chosen)]
        places.passed |= {place.pair for place in found}
        chosen += found
        query = places.next_query(start) if len(chosen) < most else None
    return chosen


def _begun(round_: Round, rater: User, held: Sequence[Place]) -> tuple[int | None, int]:
    """The query to go on with, if any, and the position from which to look for the next one.

    It is the query of what is in hand, else of what was answered last. With breadth first it is only looked at again
    from where its pairs begin, since it may have to wait for other queries.
    """
    last = (held[-1].query_id, held[-1].position) if held else _last(round_, rater)
    if last is None:
        return None, 0
    query, position = last
    if not round_.breadth_first:
        return query, position
    pairs = round_.pairs.filter(query=query).order_by("position")
    # Pairs that were added later stand elsewhere.
    block = pairs.filter(position__gt=position - pairs.count())
    return None, block.values_list("position", flat=True)[0]


def _last(round_: Round, rater: User) -> tuple[int, int] | None:
    """Query and position of the pair that the rater answered last."""
    found = LAST(round=round_.pk, rater=rater.pk)
    return found[0] if found else None


def _pair_reached() -> QuerySet[Any, Any]:
    reached = Tally.objects.filter(round=Given("round"), rater=Given("rater"), reached__isnull=False)
    pairs = Pair.objects.filter(round=Given("round"), position=Subquery(reached.values("reached")[:1]))
    return pairs.values_list("query", "position").order_by("position")[:1]


LAST = Compiled(_pair_reached)
STILL_FREE = Compiled(
    lambda: (
        Slot.objects.select_for_update(no_key=True, skip_locked=True)
        .filter(openings.nobody(Given("now")), openings.unanswered(), pk__among=Given("slots"))
        .order_by("pk")
        .values_list("pk")
    )
)


def turn(draw: str, position: int) -> str:
    """What a pair's place in a rater's own order is sorted by."""
    return hashlib.sha256(f"{draw} {position}".encode()).hexdigest()


def _lease(wishes: Sequence[Wish], chosen: Sequence[Sequence[Place]]) -> list[set[int]]:
    """Take the slots that were chosen for each wish, those that are still free: the slots that were won.

    They were chosen first and are locked now, for no longer than it takes to write: whoever answers one of the pairs
    waits for it. What somebody else has locked is being taken by them, or belongs to a pair that they answer: it is
    passed over, and so nobody waits for each other in a circle.
    """
    try:
        with transaction.atomic():
            return _won(wishes, chosen)
    except IntegrityError:
        if len(wishes) == 1:
            return [set()]  # the same rater asks another process at the same moment: that request has the pairs
        return [_lease([wish], [places])[0] for wish, places in zip(wishes, chosen, strict=True)]


def _won(wishes: Sequence[Wish], chosen: Sequence[Sequence[Place]]) -> list[set[int]]:
    slots = [place.slot for places in chosen for place in places]
    free = {slot for (slot,) in STILL_FREE(slots=slots, now=timezone.now())}
    won = [[place for place in places if place.slot in free] for places in chosen]
    for wish, places in zip(wishes, won, strict=True):
        mine = Slot.objects.filter(pk__among=[place.slot for place in places])
        mine.update(rater=wish.places.rater, lease_until=wish.until)
    Handout.objects.bulk_create(
        (
            Handout(pair_id=place.pair, rater=wish.places.rater)
            for wish, places in zip(wishes, won, strict=True)
            for place in places
        ),
        ignore_conflicts=True,
    )
    return [{place.slot for place in places} for places in won]
