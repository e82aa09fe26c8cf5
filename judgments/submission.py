"""What happens to a rater's answer?

It is kept, always: an answer that comes after its lease ran out, or when the pair is full, is recorded too, as surplus.
Sent twice with one client id, it is recorded once.
"""

from __future__ import annotations

import uuid as uuid_module
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from judgments.assignment import LEASE, check_open
from judgments.core.errors import Conflict, NotFound, NotValid
from judgments.models import Handout, Judgment, Pair, Round, Slot, User

STATES = (Judgment.State.GRADED, Judgment.State.UNRATEABLE, Judgment.State.LATER)
LONGEST_NOTE = 10_000


@dataclass(frozen=True)
class Answer:
    """What a rater sent for one pair."""

    client_id: uuid_module.UUID
    pair: uuid_module.UUID
    grade: int | None = None
    state: str = Judgment.State.GRADED
    reason: str = ""
    note: str = ""
    seconds_active: float | None = None
    seconds_away: float | None = None


@dataclass(frozen=True)
class Receipt:
    """What became of an answer: ``new`` is False when it had been recorded before."""

    judgment: Judgment
    new: bool


def submit(round_: Round, answer: Answer, *, rater: User) -> Receipt:
    """Record one answer.

    Parameters
    ----------
    round_ : Round
        The round that the pair is in.
    answer : Answer
        Made by the rater's client, with an id of the client's own.
    rater : User
        Who answers.

    Returns
    -------
    Receipt
        The judgment, and whether it is new.

    Raises
    ------
    NotValid
        The grade is not on the scale, or the state is unknown.
    Conflict
        The pair was never leased to this rater, or the client id stands for another pair.
    Closed
        The round takes no answers.
    """
    earlier = _recorded(answer, rater)
    if earlier is not None:
        return Receipt(_same_pair(earlier, answer), new=False)
    check_open(round_, rater)
    _check(round_, answer)
    try:
        with transaction.atomic():
            return Receipt(_record(round_, answer, rater), new=True)
    except IntegrityError:
        # The same answer on two connections: the other one was first, and the constraint let only one in.
        earlier = _recorded(answer, rater)
        if earlier is None:
            raise Conflict("Another answer for this pair arrived at the same moment. Send this one again.") from None
        return Receipt(_same_pair(earlier, answer), new=False)


def undo(round_: Round, client_id: uuid_module.UUID, *, rater: User) -> Judgment:
    """Take an answer back: a new event that supersedes it. The pair is in the rater's hand again.

    Undoing twice is undoing once; what stands no more cannot be taken back.
    """
    judgment = Judgment.objects.filter(rater=rater, client_id=client_id, pair__round=round_).first()
    if judgment is None:
        raise NotFound("There is no answer with this client id.")
    again = uuid_module.uuid5(client_id, "undo")
    done = Judgment.objects.filter(rater=rater, client_id=again).first()
    if done is not None:
        return done
    check_open(round_, rater)
    with transaction.atomic():
        pair = _lock(judgment.pair_id)
        if Judgment.objects.filter(supersedes=judgment).exists():
            raise Conflict("This answer was changed since; undo the newer one.")
        event = Judgment.objects.create(
            pair=pair,
            rater=rater,
            client_id=again,
            state=Judgment.State.UNDONE,
            document_sha256=judgment.document_sha256,
            supersedes=judgment,
        )
        Slot.objects.filter(pair=pair, rater=rater).update(filled_by=None, lease_until=timezone.now() + LEASE)
    return event


def last_answer(round_: Round, rater: User) -> Judgment | None:
    """The rater's newest answer in the round that still stands: what ``z`` takes back."""
    mine = Judgment.objects.current().of_round(round_).filter(rater=rater)
    return mine.select_related("pair__query", "pair__document").order_by("-pk").first()


def _recorded(answer: Answer, rater: User) -> Judgment | None:
    return Judgment.objects.filter(rater=rater, client_id=answer.client_id).select_related("pair").first()


def _same_pair(judgment: Judgment, answer: Answer) -> Judgment:
    if judgment.pair.uuid != answer.pair:
        raise Conflict("This client id stands for another pair already. Make a new id for every answer.")
    return judgment


def _check(round_: Round, answer: Answer) -> None:
    if answer.state not in STATES:
        raise NotValid(f"There is no state {answer.state!r}.", {"state": f"One of {', '.join(STATES)}."})
    if answer.state != Judgment.State.GRADED:
        if answer.grade is not None:
            raise NotValid(f"An answer that is {answer.state} has no grade.", {"grade": "Leave it out."})
        return
    values = round_.scale.values()
    if answer.grade not in values:
        known = ", ".join(map(str, values))
        raise NotValid(f"{answer.grade} is not a grade of this round.", {"grade": f"The grades are {known}."})


def _record(round_: Round, answer: Answer, rater: User) -> Judgment:
    try:
        pair = _lock_public(round_, answer.pair)
    except Pair.DoesNotExist:
        raise NotFound("This round has no such pair.") from None
    if not Handout.objects.filter(pair=pair, rater=rater).exists():
        raise Conflict("This pair was never leased to you. Ask for a batch first.")
    before = Judgment.objects.filter(pair=pair, rater=rater, superseded_by__isnull=True).first()
    slot = _slot_for(pair, rater)
    judgment = Judgment.objects.create(
        pair=pair,
        rater=rater,
        client_id=answer.client_id,
        state=answer.state,
        grade=answer.grade,
        reason=answer.reason[:500],
        note=answer.note[:LONGEST_NOTE],
        seconds_active=answer.seconds_active,
        seconds_away=answer.seconds_away,
        surplus=slot is None,
        document_sha256=pair.document.content_sha256,
        supersedes=before,
    )
    if slot is not None:
        later = answer.state == Judgment.State.LATER
        Slot.objects.filter(pk=slot.pk).update(
            rater=rater,
            filled_by=None if later else judgment,
            lease_until=timezone.now() + LEASE if later else None,
        )
    return judgment


def _lock_public(round_: Round, uuid: uuid_module.UUID) -> Pair:
    return _locked().get(round=round_, uuid=uuid)


def _lock(pk: int) -> Pair:
    return _locked().get(pk=pk)


def _locked():
    """Pairs, locked for this transaction: answers to one pair come one after the other. SQLite locks as a whole."""
    return Pair.objects.select_for_update(of=("self",)).select_related("document")


def _slot_for(pair: Pair, rater: User) -> Slot | None:
    """The rater's own slot; or, when the lease ran out, one that nobody holds; or None, and the answer is surplus."""
    own = Slot.objects.filter(pair=pair, rater=rater).first()
    if own is not None:
        return own
    nobody = Q(rater__isnull=True) | Q(lease_until__lt=timezone.now())
    return Slot.objects.filter(nobody, pair=pair, filled_by__isnull=True).order_by("number").first()
