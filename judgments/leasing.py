"""How are free places taken for raters who ask at the same moment, each of them by one rater only?

Taking a slot is a conditional UPDATE under a lock: of two raters who ask at the same moment one gets it, on SQLite and
PostgreSQL alike. Which slots are free for whom is found by `openings.py`.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import QuerySet, Subquery
from django.utils import timezone

from judgments import openings
from judgments.compiled import Compiled, Given
from judgments.models import Handout, Pair, Round, Slot, Tally, User
from judgments.openings import Openings, Place

# One at a time in a process is handed documents. Who chooses while another one takes would choose the same; and where
# many ask at once, as they do who began together, answers need not wait for all of them.
TURN = threading.RLock()
# How often, and after how many seconds, it is tried again where others hold all that is left for a moment.
TRIES, PAUSE = 50, 0.02


class Wish(NamedTuple):
    """What a rater wants more of."""

    places: Openings
    missing: int
    until: datetime
    draw: str
    after: list[Pair]  # what they have in hand already


class Got(NamedTuple):
    """What came of a wish."""

    pairs: list[Pair]
    missed: set[int]  # pairs that somebody else was busy with


def take(wish: Wish) -> list[Pair]:
    """Free slots of one query after the other, shuffled within the query, until the batch is full.

    The caller has their `TURN`.
    """
    for _ in range(TRIES):
        got = _fulfil(wish)
        if got.pairs or not got.missed:
            return got.pairs
        time.sleep(PAUSE)  # all that is left is in others' hands at this moment; that nothing is left is not true yet
    return []


def _fulfil(wish: Wish) -> Got:
    got = Got([], set())
    while len(got.pairs) < wish.missing:
        chosen = _choose(wish, wish.missing - len(got.pairs), got)
        if not chosen:
            break
        won = _lease(wish.places.rater, chosen, wish.until)
        got.pairs.extend(won)
        got.missed.update({place.pair for place in chosen}.difference(pair.pk for pair in won))
    return got


def _choose(wish: Wish, most: int, got: Got) -> list[Place]:
    """The next places: of the query in hand as long as it has some, then of the next one behind it, and so on."""
    places = wish.places.again()
    round_, rater = places.round, places.rater
    places.passed |= got.missed
    chosen: list[Place] = []
    begun, start = _begun(round_, rater, [*wish.after, *got.pairs])
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


def _begun(round_: Round, rater: User, held: Sequence[Pair]) -> tuple[int | None, int]:
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
SHOWN = Compiled(lambda: Pair.objects.select_related("query", "document").filter(pk__among=Given("pairs")).order_by())
STILL_FREE = Compiled(
    lambda: (
        Slot.objects.select_for_update(no_key=True, skip_locked=True)
        .filter(openings.nobody(Given("now")), pk__among=Given("slots"), filled_by__isnull=True)
        .order_by("pk")
        .values_list("pk")
    )
)


def turn(draw: str, position: int) -> str:
    """What a pair's place in a rater's own order is sorted by."""
    return hashlib.sha256(f"{draw} {position}".encode()).hexdigest()


def _lease(rater: User, chosen: Sequence[Place], until: datetime) -> list[Pair]:
    """Take the chosen slots, those that are still free.

    They were chosen first and are locked now, for no longer than it takes to write: whoever answers one of the pairs
    waits for it. What somebody else has locked is being taken by them, or belongs to a pair that they answer: it is
    passed over, and so nobody waits for each other in a circle.
    """
    pairs = {place.slot: place.pair for place in chosen}
    try:
        with transaction.atomic():
            won = _won(rater, pairs, until)
    except IntegrityError:
        return []  # the same rater asked twice at the same moment: the other request has the pairs
    found = {pair.pk: pair for pair in SHOWN(pairs=[pairs[slot] for slot in won])}
    return [found[place.pair] for place in chosen if place.slot in won]


def _won(rater: User, pairs: dict[int, int], until: datetime) -> set[int]:
    """Those of the slots that were free; they are the rater's now."""
    won = {slot for (slot,) in STILL_FREE(slots=[*pairs], now=timezone.now())}
    Slot.objects.filter(pk__among=won).update(rater=rater, lease_until=until)
    Handout.objects.bulk_create(
        (Handout(pair_id=pair, rater=rater) for slot, pair in pairs.items() if slot in won), ignore_conflicts=True
    )
    return won
