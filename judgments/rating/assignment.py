"""Assignment of pairs: lease the next pairs to a rater.

A pair with k ratings has k slots. Assigning a pair means leasing a free slot (`leasing.py`); a slot without an answer
becomes free when its lease expires. The search for free slots (`slot_search.py`) does not read every row of the round.
"""

from __future__ import annotations

import hashlib
import time
import uuid as uuid_module
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet, Subquery
from django.utils import timezone

from assay.core.errors import Closed, NotAllowed
from judgments import hooks
from judgments.models import Handout, Judgment, Pair, Probe, Round, RoundRater, Slot, Tally, User
from judgments.models.fields import Compiled, Given
from judgments.rating import inserted_checks, slot_search, start_requirements
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


LEASE = timedelta(minutes=30)
LARGEST_BATCH = 50
# A lease that was renewed more recently than this is not renewed again.
FRESH = timedelta(minutes=1)


class Claim(NamedTuple):
    """The pairs that were leased to a rater."""

    pairs: list[Pair | Probe]
    until: datetime  # when the rater's first lease expires
    places: SlotSearch


def claim_batch(round_: Round, *, rater: User, size: int = 10) -> list[Pair | Probe]:
    """Lease the next pairs to the rater: the pairs of `claim`."""
    return claim(round_, rater=rater, size=size).pairs


def claim(round_: Round, *, rater: User, size: int = 10) -> Claim:
    """Lease the next pairs to the rater: those already leased, then the rest of the query, then the next query."""
    size = max(1, min(size, LARGEST_BATCH))
    assignment = check_open(round_, rater)
    start_requirements.check_ready(round_, rater, assignment)
    begun = timezone.now()
    until = begun + LEASE
    waiting, put_off, first = _in_hand(round_, rater, until)
    places = SlotSearch(round_, rater)
    draw, taken = _order_key(round_, assignment), list[FreeSlot]()
    if len(waiting) < size:
        taken = take(SlotRequest(places, size - len(waiting), until, draw, waiting))
        waiting += taken
        hooks.notify_choosers(round_)
    chosen = [place.pair for place in [*_shuffled(waiting, draw), *_shuffled(put_off, draw)][:size]]
    shown = {pair.pk: pair for pair in SHOWN(pairs=chosen)} if chosen else {}
    pairs = [shown[pair] for pair in chosen]
    batch = inserted_checks.mix_in(round_, rater, pairs, size)
    new = [place.pair for place in taken]
    inserted_checks.hand_out(round_, rater, batch, new, begun=begun, lease=LEASE, fresh=FRESH)
    if inserted_checks.mixes(round_) or len(pairs) < len(batch):
        first = inserted_checks.held_until(round_, rater, LEASE) or first
    if round_.of_answers:
        for pair in batch:  # some rounds show the reference answer; this avoids a query per pair
            pair.round = round_
    return Claim(batch, first, places)


def release(round_: Round, rater: User, *, for_good: bool = False) -> int:
    """Release the rater's leased pairs, so that others can get them immediately. Answers do not change."""
    held = slot_search.in_hand(round_, rater)
    if for_good:
        return held.update(rater=None, lease_until=None)
    given = held.filter(lease_until__gte=timezone.now()).update(lease_until=timezone.now())
    return given + inserted_checks.give_back(round_, rater, LEASE)


def check_open(round_: Round, rater: User) -> RoundRater:
    """Return the rater's assignment to the round, or refuse if the round accepts no answers from them."""
    if round_.state != Round.State.OPEN:
        word = "has not been opened yet" if round_.state == Round.State.DRAFT else "is closed"
        raise Closed(f"Round {round_} {word}. Your answers are stored. Ask the lead about the next steps.")
    assignments: list[RoundRater] = ASSIGNMENTS(round=round_.pk, rater=rater.pk)
    if not assignments:
        raise NotAllowed(f"You are not a rater of {round_}. Ask the lead to add you.")
    return assignments[0]


def remaining(round_: Round, rater: User, seen: SlotSearch | None = None) -> int:
    """Return the number of pairs that the rater can still grade, including gold pairs and repeats."""
    number = slots_left(round_, rater, seen)
    return number + inserted_checks.ahead(round_, rater, number)


def slots_left(round_: Round, rater: User, seen: SlotSearch | None = None) -> int:
    """Return the number of pairs that the rater can still grade, without gold pairs and repeats. Raters never see this
    number."""
    slots = seen.again() if seen else SlotSearch(round_, rater)
    return len(slots.held) + slots.left


def available_pairs(round_: Round) -> dict[int, int]:
    """Return the number of pairs that each rater can still get in addition to those they hold, by user."""
    assignments = round_.raters.filter(left_at__isnull=True).select_related("user")
    return {row.user_id: SlotSearch(round_, row.user).left for row in assignments}


def free_slots(round_: Round) -> int:
    """Return the number of free slots that no rater holds."""
    return slot_search.unfilled(round_) - slot_search.leased(round_, timezone.now()).count()


def count_active_raters(round_: Round) -> int:
    """Return the number of raters who hold a pair of the round or answered within the length of a lease."""
    now = timezone.now()
    holding = set(slot_search.leased(round_, now).values_list("rater", flat=True).distinct())
    answered = Tally.objects.filter(round=round_, last_at__gt=now - LEASE).values_list("rater", flat=True)
    return len(holding | set(answered))


def in_hand(round_: Round, rater: User, uuid: uuid_module.UUID) -> Pair | Probe | None:
    """Return the pair if the rater holds it and has not answered it."""
    held = round_.pairs.filter(uuid=uuid, slots__rater=rater, slots__filled_by__isnull=True)
    return held.select_related("query", "document").first() or inserted_checks.in_hand(round_, rater, uuid)


def _in_hand(round_: Round, rater: User, until: datetime) -> tuple[list[FreeSlot], list[FreeSlot], datetime]:
    """Return the rater's unanswered pairs, those saved for later, and the end of the first lease."""
    rows = LEASES(round=round_.pk, rater=rater.pk)
    if not rows:
        return [], [], until
    oldest = min((end for *_, end in rows if end), default=until)
    keys = [pair for _, pair, *_ in rows]
    queries = dict(QUERIES(pairs=keys))
    if oldest < until - FRESH:
        slot_search.in_hand(round_, rater).update(lease_until=until)
        oldest = until
    waiting, put_off = list[FreeSlot](), list[FreeSlot]()
    later = {pair for (pair,) in PUT_OFF(rater=rater.pk, pairs=keys)}
    for slot, pair, position, _ in sorted(rows, key=lambda row: row[2]):
        (put_off if pair in later else waiting).append(FreeSlot(slot, pair, position, queries[pair]))
    return waiting, put_off, oldest


# The query does not join the pairs, because PostgreSQL overestimates the number of leased slots and would read all
# pairs.
COLUMNS = ("pk", "pair", "position", "lease_until")
LEASES = Compiled(lambda: slot_search.in_hand(Given("round"), Given("rater")).values_list(*COLUMNS))
QUERIES = Compiled(lambda: Pair.objects.filter(pk__among=Given("pairs")).order_by().values_list("pk", "query"))
PUT_OFF = Compiled(
    lambda: (
        Judgment.objects.standing()
        .filter(state=Judgment.State.LATER, rater=Given("rater"), pair__pk__among=Given("pairs"))
        .order_by()
        .values_list("pair")
    )
)
SHOWN = Compiled(lambda: Pair.objects.select_related("query", "document").filter(pk__among=Given("pairs")).order_by())
ASSIGNMENTS = Compiled(
    lambda: RoundRater.objects.select_related("user").filter(
        round=Given("round"), user=Given("rater"), left_at__isnull=True
    )
)


def _order_key(round_: Round, assignment: RoundRater) -> str:
    """Return the key of a rater's own order from seed and pseudonym, so that every database gives the same order."""
    return f"{round_.seed} {assignment.pseudonym}"


def _shuffled(places: list[FreeSlot], draw: str) -> list[FreeSlot]:
    """Return the slots by query in the round's order, and within a query in the rater's random order."""
    first: dict[int, int] = {}
    for place in places:
        first[place.query_id] = min(first.get(place.query_id, place.position), place.position)

    return sorted(places, key=lambda place: (first[place.query_id], turn(draw, place.position)))
