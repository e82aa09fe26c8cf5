"""Which pairs does a rater get next?

A pair with k ratings has k slots. Handing out means taking a free slot by a conditional UPDATE: of two raters who ask
at the same moment one gets it, on SQLite and PostgreSQL alike. A slot that nobody answers within the lease is free
again.
"""

from __future__ import annotations

import hashlib
import uuid as uuid_module
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.utils import timezone

from judgments import growing, probing, readiness
from judgments.core.errors import Closed, NotAllowed
from judgments.models import Handout, Judgment, Pair, Probe, Round, Slot, User
from judgments.rounds import is_rater

LEASE = timedelta(minutes=30)
LARGEST_BATCH = 50


def claim_batch(round_: Round, *, rater: User, size: int = 10) -> list[Pair | Probe]:
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
    list of Pair or Probe
        Leased to the rater until ``LEASE`` from now, with what is mixed in (`judgments/probing.py`); empty when
        nothing is left for them.

    Raises
    ------
    Closed
        The round takes no answers.
    NotAllowed
        The rater was not asked to rate here, is paused, or has to calibrate first.
    """
    check_open(round_, rater)
    readiness.require(round_, rater)
    size = max(1, min(size, LARGEST_BATCH))
    until = timezone.now() + LEASE
    held = _in_hand(round_, rater, until)
    postponed = _postponed(rater, held)
    waiting = [pair for pair in held if pair.pk not in postponed]
    draw = _draw(round_, rater)
    if len(waiting) < size:
        waiting += _take(round_, rater, size - len(waiting), until, draw, after=waiting)
        growing.wake(round_)
    put_off = [pair for pair in held if pair.pk in postponed]
    pairs = [*_shuffled(waiting, draw), *_shuffled(put_off, draw)][:size]
    return probing.mix_in(round_, rater, pairs, size)


def check_open(round_: Round, rater: User) -> None:
    """That the round takes answers, and takes them from this rater."""
    if round_.state != Round.State.OPEN:
        word = "has not been opened yet" if round_.state == Round.State.DRAFT else "is closed"
        raise Closed(f"Round {round_} {word}. Nothing was lost; ask the lead what comes next.")
    if not is_rater(rater, round_):
        raise NotAllowed(f"You were not asked to rate in {round_}. The lead can ask you under Round.")


def remaining(round_: Round, rater: User) -> int:
    """How many pairs are still open to the rater: in hand, or with a free slot and not answered by them."""
    slots = Slot.objects.filter(round=round_, filled_by__isnull=True)
    mine = Q(rater=rater)
    pairs = slots.filter(mine | _open_to(round_, rater)).values("pair").distinct().count()
    return pairs + probing.waiting(round_, rater)


def ahead(round_: Round) -> dict[int, int]:
    """How many pairs could be handed to each rater of the round, beside those that they have in hand, by user."""
    raters = list(round_.raters.filter(left_at__isnull=True).values_list("user_id", flat=True))
    free = Slot.objects.filter(_nobody(), round=round_, filled_by__isnull=True).order_by().values("pair")
    mine = Slot.objects.filter(round=round_, rater__in=raters, pair__in=free)
    over = Q(surplus=True) | Q(state=Judgment.State.REQUEUED)
    surplus = Judgment.objects.filter(over, pair__in=free, rater__in=raters)
    left = dict.fromkeys(raters, free.distinct().count())
    for rows in (mine, surplus):
        counted = rows.order_by().values_list("rater").annotate(number=Count("pair", distinct=True))
        for rater, number in counted:
            left[rater] -= number
    return left


def free_slots(round_: Round) -> int:
    """How many ratings nobody has in hand."""
    return Slot.objects.filter(_nobody(), round=round_, filled_by__isnull=True).count()


def at_work(round_: Round) -> int:
    """How many raters were handed a pair of the round within the length of a lease."""
    recent = Handout.objects.filter(pair__round=round_, at__gt=timezone.now() - LEASE)
    return recent.order_by().values("rater").distinct().count()


@dataclass(frozen=True)
class Standing:
    """How far a rater is: ``document`` of ``documents`` within the query, ``query`` of ``queries``, and in all."""

    document: int
    documents: int
    query: int
    queries: int
    answered: int
    left: int


def standing(round_: Round, rater: User, pair: Pair | Probe) -> Standing:
    """Where the rater stands with this pair before them. Pairs that were put off count as open."""
    answers = Judgment.objects.current().of_round(round_).filter(rater=rater).exclude(state=Judgment.State.LATER)
    done = dict(answers.order_by().values_list("pair__query").annotate(number=Count("pk")))
    slots = Slot.objects.filter(round=round_, filled_by__isnull=True).filter(Q(rater=rater) | _open_to(round_, rater))
    left = dict(slots.order_by().values_list("pair__query").annotate(number=Count("pair", distinct=True)))
    # What is mixed in counts as what it looks like.
    for query, answered, waiting in probing.by_query(round_, rater):
        done[query] = done.get(query, 0) + answered
        left[query] = left.get(query, 0) + waiting
    done, left = ({query: number for query, number in one.items() if number} for one in (done, left))
    here = done.get(pair.query_id, 0)
    over = sum(1 for query in done if query not in left)
    return Standing(
        document=here + 1,
        documents=here + max(left.get(pair.query_id, 0), 1),
        query=over + 1,
        queries=len(done.keys() | left.keys()),
        answered=sum(done.values()),
        left=sum(left.values()),
    )


def in_hand(round_: Round, rater: User, uuid: uuid_module.UUID) -> Pair | Probe | None:
    """The pair, if it is leased to the rater and waits for their answer."""
    held = round_.pairs.filter(uuid=uuid, slots__rater=rater, slots__filled_by__isnull=True)
    return held.select_related("query", "document").first() or probing.in_hand(round_, rater, uuid)


def _in_hand(round_: Round, rater: User, until: datetime) -> list[Pair]:
    """What the rater was given and has not answered; the lease is renewed, since they are here."""
    slots = Slot.objects.filter(round=round_, rater=rater, filled_by__isnull=True)
    slots.update(lease_until=until)
    return list(Pair.objects.filter(slots__in=slots).select_related("query", "document").order_by("position"))


def _take(round_: Round, rater: User, missing: int, until: datetime, draw: str, after: list[Pair]) -> list[Pair]:
    """Free slots of one query after the other, shuffled within the query, until the batch is full."""
    taken: list[Pair] = []
    # A round ends: each turn takes a slot or finds none; the bound only guards against a race that never settles.
    for _ in range(missing + 20):
        if len(taken) >= missing:
            break
        query_id = _next_query(round_, rater, [*after, *taken])
        if query_id is None:
            break
        taken += _lease(round_, rater, query_id, missing - len(taken), until, draw)
    return taken


def _next_query(round_: Round, rater: User, held: list[Pair]) -> int | None:
    """The query in hand as long as it has free pairs, then the one that the rater began, then the next in order."""
    free = Slot.objects.filter(round=round_).filter(_open_to(round_, rater))
    begun = Judgment.objects.filter(rater=rater, pair__round=round_).order_by("-pk").values_list("pair__query_id")[:1]
    current = [pair.query_id for pair in held[-1:]] or [row[0] for row in begun]
    for query_id in current:
        if free.filter(pair__query_id=query_id).exists():
            return query_id
    return free.order_by("position").values_list("pair__query_id", flat=True).first()


def _open_to(round_: Round, rater: User) -> Q:
    """Slots that nobody holds, of pairs that this rater neither holds nor has answered.

    Every answer fills a slot of the rater's, except a surplus one. Both lists are short and known before the slots are
    looked at, so the database reads each of them once, however large the round is.
    """
    mine = Slot.objects.filter(round=round_, rater=rater).order_by().values("pair")
    # Surplus, or set aside by a lead: the pair is somebody else's from then on.
    done = Judgment.objects.filter(pair__round=round_, rater=rater).order_by().values("pair")
    done = done.filter(Q(surplus=True) | Q(state=Judgment.State.REQUEUED))
    return Q(filled_by__isnull=True) & _nobody() & ~Q(pair__in=mine) & ~Q(pair__in=done)


def _draw(round_: Round, rater: User) -> str:
    """What a rater's own order is drawn from: the seed and the pseudonym, so that another database repeats it."""
    return f"{round_.seed} {round_.raters.values_list('pseudonym', flat=True).get(user=rater)}"


def in_order(round_: Round, rater: User, pairs: Iterable[Pair]) -> list[Pair]:
    """These pairs in the rater's own order, which stays as it was drawn, however often it is asked for."""
    return _shuffled(pairs, _draw(round_, rater))


def _shuffled(pairs: Iterable[Pair], draw: str) -> list[Pair]:
    """Queries in the round's order; within a query the order that is drawn."""
    pairs = list(pairs)
    first: dict[int, int] = {}
    for pair in pairs:
        first[pair.query_id] = min(first.get(pair.query_id, pair.position), pair.position)

    def place(pair: Pair) -> tuple[int, str]:
        text = f"{draw} {pair.position}"
        return first[pair.query_id], hashlib.sha256(text.encode()).hexdigest()

    return sorted(pairs, key=place)


def _lease(round_: Round, rater: User, query_id: int, most: int, until: datetime, draw: str) -> list[Pair]:
    """Take a free slot of up to so many pairs of one query.

    The slots are chosen first and locked then, in the order of their keys, so that two raters never wait for each other
    in a circle. Whatever somebody else took in between is no longer free when the lock is there, and is left to them.
    """
    slots = Slot.objects.filter(round=round_, pair__query_id=query_id).filter(_open_to(round_, rater))
    rows = slots.select_related("pair__query", "pair__document").order_by("-number")
    free = {slot.pair: slot.pk for slot in rows}
    chosen = {free[pair]: pair for pair in _shuffled(free, draw)[:most]}
    try:
        with transaction.atomic():
            still = Slot.objects.select_for_update().filter(_nobody(), pk__in=chosen, filled_by__isnull=True)
            won = sorted(still.order_by("pk").values_list("pk", flat=True), key=list(chosen).index)
            Slot.objects.filter(pk__in=won).update(rater=rater, lease_until=until)
            Handout.objects.bulk_create(
                (Handout(pair=chosen[slot], rater=rater) for slot in won), ignore_conflicts=True
            )
    except IntegrityError:
        return []  # the same rater asked twice at the same moment: the other request has the pairs
    return [chosen[slot] for slot in won]


def _nobody() -> Q:
    """Slots that nobody holds: never taken, or the lease ran out."""
    return Q(rater__isnull=True) | Q(lease_until__lt=timezone.now())


def _postponed(rater: User, pairs: list[Pair]) -> set[int]:
    """Pairs that the rater put off: they come back when nothing else is left."""
    later = Judgment.objects.current().filter(state=Judgment.State.LATER, rater=rater, pair__in=pairs)
    return set(later.values_list("pair_id", flat=True))
