"""Assignment of pairs: lease the next pairs to a rater.

A pair with k ratings has k slots. Assigning a pair means leasing a free slot (`leasing.py`); a slot that is not
answered before the lease expires is free again. The search for free slots (`openings.py`) does not read every row of
the round.
"""

from __future__ import annotations

import uuid as uuid_module
from datetime import datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from judgments import growing, leasing, openings, probe_counts, probing, readiness
from judgments.compiled import Compiled, Given
from judgments.core.errors import Closed, NotAllowed
from judgments.models import Judgment, Pair, Probe, Round, RoundRater, Tally, User
from judgments.openings import Openings, Place

LEASE = timedelta(minutes=30)
LARGEST_BATCH = 50
# A lease that was renewed so shortly ago need not be written again.
FRESH = timedelta(minutes=1)


class Claim(NamedTuple):
    """What a rater was handed."""

    pairs: list[Pair | Probe]
    until: datetime  # when the first of all that they hold is not theirs any more
    places: Openings


def claim_batch(round_: Round, *, rater: User, size: int = 10) -> list[Pair | Probe]:
    """Lease the next pairs to the rater: the pairs of `claim`."""
    return claim(round_, rater=rater, size=size).pairs


def claim(round_: Round, *, rater: User, size: int = 10) -> Claim:
    """Lease the next pairs to the rater: first those in hand, then the rest of the query, then the next query.

    Parameters
    ----------
    round_ : Round
        An open round that the rater was asked to rate in.
    rater : User
        Who will grade.
    size : int
        How many pairs at most, up to 50.

    Returns
    -------
    Claim
        Pairs leased to the rater until ``LEASE`` from now, with what is mixed in (`judgments/probing.py`); none when
        nothing is left for them.

    Raises
    ------
    Closed
        The round takes no answers.
    NotAllowed
        The rater was not asked to rate here, is paused, or has to calibrate first.
    """
    size = max(1, min(size, LARGEST_BATCH))
    asked = check_open(round_, rater)
    readiness.require(round_, rater, asked)
    begun = timezone.now()
    until = begun + LEASE
    waiting, put_off, first = _in_hand(round_, rater, until)
    places = Openings(round_, rater)
    draw, taken = _draw(round_, asked), list[Place]()
    if len(waiting) < size:
        taken = leasing.take(leasing.Wish(places, size - len(waiting), until, draw, waiting))
        waiting += taken
        growing.wake(round_)
    chosen = [place.pair for place in [*_shuffled(waiting, draw), *_shuffled(put_off, draw)][:size]]
    shown = {pair.pk: pair for pair in SHOWN(pairs=chosen)} if chosen else {}
    pairs = [shown[pair] for pair in chosen]
    batch = probing.mix_in(round_, rater, pairs, size)
    new = [place.pair for place in taken]
    probe_counts.hand_out(round_, rater, batch, new, begun=begun, lease=LEASE, fresh=FRESH)
    if probing.mixes(round_) or len(pairs) < len(batch):
        first = probe_counts.held_until(round_, rater, LEASE) or first
    if round_.of_answers:
        for pair in batch:  # some rounds show the reference answer: asked of the round, without a query for each pair
            pair.round = round_
    return Claim(batch, first, places)


def release(round_: Round, rater: User, *, for_good: bool = False) -> int:
    """Give back what the rater has in hand, so that others get it at once; nothing that was answered changes.

    Parameters
    ----------
    round_ : Round
        The round.
    rater : User
        Who stops.
    for_good : bool
        False: who comes back gets what nobody has taken meanwhile. True: it is nobody's from now on.

    Returns
    -------
    int
        How many pairs were given back.
    """
    held = openings.in_hand(round_, rater)
    if for_good:
        return held.update(rater=None, lease_until=None)
    given = held.filter(lease_until__gte=timezone.now()).update(lease_until=timezone.now())
    return given + probe_counts.give_back(round_, rater, LEASE)


def check_open(round_: Round, rater: User) -> RoundRater:
    """That the round takes answers, and takes them from this rater: who they are in it."""
    if round_.state != Round.State.OPEN:
        word = "has not been opened yet" if round_.state == Round.State.DRAFT else "is closed"
        raise Closed(f"Round {round_} {word}. Nothing was lost; ask the lead what comes next.")
    asked: list[RoundRater] = ASKED(round=round_.pk, rater=rater.pk)
    if not asked:
        raise NotAllowed(f"You were not asked to rate in {round_}. The lead can ask you under Round.")
    return asked[0]


def remaining(round_: Round, rater: User, seen: Openings | None = None) -> int:
    """How many pairs are still open to the rater: in hand, or with a free slot and not answered by them."""
    found = places(round_, rater, seen)
    return found + probe_counts.ahead(round_, rater, found)


def places(round_: Round, rater: User, seen: Openings | None = None) -> int:
    """The same without what is mixed in: a number that no rater is told."""
    found = seen.again() if seen else Openings(round_, rater)
    return len(found.held) + found.left


def ahead(round_: Round) -> dict[int, int]:
    """How many pairs could be handed to each rater of the round, beside those that they have in hand, by user."""
    asked = round_.raters.filter(left_at__isnull=True).select_related("user")
    return {row.user_id: Openings(round_, row.user).left for row in asked}


def free_slots(round_: Round) -> int:
    """How many ratings nobody has in hand."""
    return openings.unfilled(round_) - openings.leased(round_, timezone.now()).count()


def at_work(round_: Round) -> int:
    """How many raters hold a pair of the round, or answered within the length of a lease."""
    now = timezone.now()
    holding = set(openings.leased(round_, now).values_list("rater", flat=True).distinct())
    answered = Tally.objects.filter(round=round_, last_at__gt=now - LEASE).values_list("rater", flat=True)
    return len(holding | set(answered))


def in_hand(round_: Round, rater: User, uuid: uuid_module.UUID) -> Pair | Probe | None:
    """The pair, if it is leased to the rater and waits for their answer."""
    held = round_.pairs.filter(uuid=uuid, slots__rater=rater, slots__filled_by__isnull=True)
    return held.select_related("query", "document").first() or probing.in_hand(round_, rater, uuid)


def _in_hand(round_: Round, rater: User, until: datetime) -> tuple[list[Place], list[Place], datetime]:
    """What the rater was given and has not answered, apart from what they put off, and until when it is theirs.

    The lease is renewed, since they are here; what was put off comes back when nothing else is left.
    """
    rows = LEASES(round=round_.pk, rater=rater.pk)
    if not rows:
        return [], [], until
    oldest = min((end for *_, end in rows if end), default=until)
    keys = [pair for _, pair, *_ in rows]
    queries = dict(QUERIES(pairs=keys))
    if oldest < until - FRESH:
        openings.in_hand(round_, rater).update(lease_until=until)
        oldest = until
    waiting, put_off = list[Place](), list[Place]()
    later = {pair for (pair,) in PUT_OFF(rater=rater.pk, pairs=keys)}
    for slot, pair, position, _ in sorted(rows, key=lambda row: row[2]):
        (put_off if pair in later else waiting).append(Place(slot, pair, position, queries[pair]))
    return waiting, put_off, oldest


# Asked without the pairs: PostgreSQL takes what is in hand for a large part of what the rater had, and would join all.
COLUMNS = ("pk", "pair", "position", "lease_until")
LEASES = Compiled(lambda: openings.in_hand(Given("round"), Given("rater")).values_list(*COLUMNS))
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
ASKED = Compiled(
    lambda: RoundRater.objects.select_related("user").filter(
        round=Given("round"), user=Given("rater"), left_at__isnull=True
    )
)


def _draw(round_: Round, asked: RoundRater) -> str:
    """What a rater's own order is drawn from: the seed and the pseudonym, so that another database repeats it."""
    return f"{round_.seed} {asked.pseudonym}"


def _shuffled(places: list[Place], draw: str) -> list[Place]:
    """Queries in the round's order; within a query the order that is drawn."""
    first: dict[int, int] = {}
    for place in places:
        first[place.query_id] = min(first.get(place.query_id, place.position), place.position)

    return sorted(places, key=lambda place: (first[place.query_id], leasing.turn(draw, place.position)))
