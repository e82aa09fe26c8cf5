"""Leases: give free slots to concurrent raters, each slot to one rater only.

A slot is taken by a conditional UPDATE under a lock, so that one of two concurrent raters gets it, on SQLite and
PostgreSQL alike. `slot_search.py` finds the free slots for a rater.
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

from judgments.models import Handout, Pair, Round, Slot, Tally, User
from judgments.models.compiled_queries import Compiled, Given
from judgments.rating import slot_search
from judgments.rating.group_commit import Together
from judgments.rating.slot_search import FreeSlot, SlotSearch

# Concurrent requests to one process, up to this number, are served together. If each chose on its own, they would
# choose the same slots and wait for each other.
MOST_TOGETHER = 16
# Retries, and seconds between them, while other raters have all remaining slots locked.
TRIES, PAUSE = 50, 0.02


class SlotRequest(NamedTuple):
    """A rater's request for more slots."""

    places: SlotSearch
    missing: int
    until: datetime
    draw: str
    after: list[FreeSlot]  # pairs that the rater already holds


class SlotGrant(NamedTuple):
    """The slots that a request received."""

    places: list[FreeSlot]
    missed: set[int]  # pairs that other raters had locked


def take(request: SlotRequest) -> list[FreeSlot]:
    """Lease free slots, query by query and shuffled within each query, until the batch is full."""
    for _ in range(TRIES):
        # Slots of other raters must not depend on the caller's transaction, which may still be rolled back.
        alone = connection.in_atomic_block
        grant = _fulfil([request])[0] if alone else together.do(request.places.round.pk, request)
        if grant.places or not grant.missed:
            return grant.places
        time.sleep(PAUSE)  # other raters have locked the remaining slots for a moment, so some may become free
    return []


def _fulfil(requests: Sequence[SlotRequest]) -> list[SlotGrant]:
    """Lease slots for the requests of one or more raters in a round."""
    grants = [SlotGrant([], set()) for _ in requests]
    while True:
        chosen = _chosen(requests, grants)
        if not any(chosen):
            return grants
        for grant, places, won in zip(grants, chosen, _lease(requests, chosen), strict=True):
            grant.places.extend(place for place in places if place.slot in won)
            grant.missed.update(place.pair for place in places if place.slot not in won)


together = Together(_fulfil, MOST_TOGETHER)


def _chosen(requests: Sequence[SlotRequest], grants: Sequence[SlotGrant]) -> list[list[FreeSlot]]:
    """Choose the next slots for each request, without giving a slot to two requests or a pair to a rater twice."""
    slots: set[int] = set()
    pairs: dict[int, set[int]] = {}
    chosen = []
    for request, grant in zip(requests, grants, strict=True):
        places = request.places.again()
        mine = pairs.setdefault(places.rater.pk, set())
        places.taken, places.passed = slots, grant.missed | mine
        batch = _choose(request, places, grant) if len(grant.places) < request.missing else []
        slots.update(place.slot for place in batch)
        mine.update(place.pair for place in batch)
        chosen.append(batch)
    return chosen


def _choose(request: SlotRequest, places: SlotSearch, grant: SlotGrant) -> list[FreeSlot]:
    """Choose the next slots: first those of the current query, then those of later queries."""
    most = request.missing - len(grant.places)
    chosen: list[FreeSlot] = []
    begun, start = _begun(places.round, places.rater, [*request.after, *grant.places])
    query = slot_search.Query(begun, None) if begun is not None else places.next_query(start)
    # Every iteration except the first finds a slot or is the last; the limit prevents an endless race.
    for _ in range(most + 20):
        if query is None:
            break
        free = sorted(places.in_query(query), key=lambda place: turn(request.draw, place.position))[
            : most - len(chosen)
        ]
        places.passed |= {place.pair for place in free}
        chosen += free
        query = places.next_query(start) if len(chosen) < most else None
    return chosen


def _begun(round_: Round, rater: User, held: Sequence[FreeSlot]) -> tuple[int | None, int]:
    """Return the query to continue with, if any, and the position from which to search for the next one."""
    last = (held[-1].query_id, held[-1].position) if held else _last(round_, rater)
    if last is None:
        return None, 0
    query, position = last
    if not round_.breadth_first:
        return query, position
    pairs = round_.pairs.filter(query=query).order_by("position")
    # Pairs that were added to the query later have other positions.
    block = pairs.filter(position__gt=position - pairs.count())
    return None, block.values_list("position", flat=True)[0]


def _last(round_: Round, rater: User) -> tuple[int, int] | None:
    """Return query and position of the pair that the rater answered last."""
    rows = LAST(round=round_.pk, rater=rater.pk)
    return rows[0] if rows else None


def _pair_reached() -> QuerySet[Any, Any]:
    reached = Tally.objects.filter(round=Given("round"), rater=Given("rater"), reached__isnull=False)
    pairs = Pair.objects.filter(round=Given("round"), position=Subquery(reached.values("reached")[:1]))
    return pairs.values_list("query", "position").order_by("position")[:1]


LAST = Compiled(_pair_reached)
STILL_FREE = Compiled(
    lambda: (
        Slot.objects.select_for_update(no_key=True, skip_locked=True)
        .filter(slot_search.nobody(Given("now")), slot_search.unanswered(), pk__among=Given("slots"))
        .order_by("pk")
        .values_list("pk")
    )
)


def turn(draw: str, position: int) -> str:
    """Return the sort key of a pair within a rater's own order."""
    return hashlib.sha256(f"{draw} {position}".encode()).hexdigest()


def _lease(requests: Sequence[SlotRequest], chosen: Sequence[Sequence[FreeSlot]]) -> list[set[int]]:
    """Take the chosen slots that are still free, and return them."""
    try:
        with transaction.atomic():
            return _won(requests, chosen)
    except IntegrityError:
        if len(requests) == 1:
            return [set()]  # a concurrent request of the same rater in another process has these pairs
        return [_lease([request], [places])[0] for request, places in zip(requests, chosen, strict=True)]


def _won(requests: Sequence[SlotRequest], chosen: Sequence[Sequence[FreeSlot]]) -> list[set[int]]:
    slots = [place.slot for places in chosen for place in places]
    free = {slot for (slot,) in STILL_FREE(slots=slots, now=timezone.now())}
    won = [[place for place in places if place.slot in free] for places in chosen]
    for request, places in zip(requests, won, strict=True):
        mine = Slot.objects.filter(pk__among=[place.slot for place in places])
        mine.update(rater=request.places.rater, lease_until=request.until)
    Handout.objects.bulk_create(
        (
            Handout(pair_id=place.pair, rater=request.places.rater)
            for request, places in zip(requests, won, strict=True)
            for place in places
        ),
        ignore_conflicts=True,
    )
    return [{place.slot for place in places} for places in won]
