"""What happens to a rater's answer?

It is kept, always: an answer that comes after its lease ran out, or when the pair is full, is recorded too, as surplus.
Sent twice with one client id, it is recorded once.
"""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from judgments import access, extras, growing, openings, probing
from judgments.assignment import LEASE, check_open
from judgments.core.errors import AssayError, Closed, Conflict, NotAllowed, NotFound, NotValid
from judgments.models import Handout, Judgment, Pair, ProbeAnswer, Round, Slot, User
from judgments.sheets import Event, Sheet, sheets
from judgments.tallies import Ledger

STATES = (Judgment.State.GRADED, Judgment.State.UNRATEABLE, Judgment.State.LATER)
LONGEST_NOTE = 10_000
# What a rater said of a pair; with it a rater who leads is no longer blind for the pair.
STANDS = (Judgment.State.GRADED, Judgment.State.UNRATEABLE)
STANDS_BY_IT = (
    "You lead this collection and have answered this pair: you may have read what others gave. "
    "Your answer stands; settle the pair among the conflicts instead."
)


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
    how: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Receipt:
    """What became of an answer: ``new`` is False when it had been recorded before.

    The answer to a probe (`judgments/probing.py`) stands here under the same name: whoever reads it cannot tell.
    """

    judgment: Judgment | ProbeAnswer
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
    NotFound
        The round has no such pair.
    Conflict
        The pair was never leased to this rater, or the client id stands for another pair.
    Closed
        The round takes no answers.
    """
    (result,) = submit_all(round_, [answer], rater=rater)
    if isinstance(result, AssayError):
        raise result
    return result


def submit_all(round_: Round, answers: Sequence[Answer], *, rater: User) -> list[Receipt | AssayError]:
    """Record several answers of one rater, each on its own: what is wrong with one is no reason to lose the others.

    They are written together, so that a batch costs one wait for the disk. Pairs are locked in the order of their
    keys: two raters who send at the same moment never wait for each other in a circle.

    Returns
    -------
    list
        For each answer its receipt, or the error that :func:`submit` would raise.
    """
    try:
        taken = _taken(round_, answers, rater, carefully=False)
    except IntegrityError:
        taken = _taken(round_, answers, rater, carefully=True)
    growing.wake(round_)
    return taken


def _taken(round_: Round, answers: Sequence[Answer], rater: User, *, carefully: bool) -> list[Receipt | AssayError]:
    """All answers in one transaction; carefully, where one of them may be refused by the database."""
    with transaction.atomic():
        desk = _Desk(round_, rater, answers, carefully)
        taken = [desk.take(answer) for answer in answers]
        desk.close()
    return taken


class _Desk:
    """Where the answers of one request are taken.

    Its pairs are locked, and all that is known about them is read once: what was leased, what is recorded, and the
    sheet of each pair, which the desk keeps up to date as it records.
    """

    def __init__(self, round_: Round, rater: User, answers: Sequence[Answer], carefully: bool) -> None:
        self.round, self.rater, self.carefully = round_, rater, carefully
        self.pairs = {
            pair.uuid: pair for pair in _locked().filter(round=round_, uuid__in=[row.pair for row in answers])
        }
        self.refusal = _refusal(round_, rater)
        self.sheets = sheets([*self.pairs.values()])
        self.ledger = Ledger(round_, self.sheets.values(), rater)
        self.recorded = self._recorded([answer.client_id for answer in answers], {answer.pair for answer in answers})

    def _recorded(
        self, ids: Sequence[uuid_module.UUID], asked: set[uuid_module.UUID]
    ) -> dict[uuid_module.UUID, Judgment | ProbeAnswer]:
        """What came before under these client ids: for these pairs, and carefully for any.

        Under an id that stands for another pair the database takes no second row, and that is looked into then.
        """
        events = (event for page in self.sheets.values() for event in page.events)
        keys = [event.pk for event in events if event.rater == self.rater.pk and event.client_id in ids]
        rows = Judgment.objects.select_related("pair")
        # What is asked beside the round's pairs has a table of its own: there the database would not notice.
        any_pair = self.carefully or len(self.pairs) < len(asked)
        rows = rows.filter(rater=self.rater, client_id__in=ids) if any_pair else rows.filter(pk__in=keys)
        found: dict[uuid_module.UUID, Judgment | ProbeAnswer] = {row.client_id: row for row in rows}
        return found | probing.recorded(self.rater, ids)

    def close(self) -> None:
        """Write what the answers changed beside themselves."""
        if self.ledger.reached is not None:
            extras.settle(self.round, self.ledger.pages)
            self.ledger.write(timezone.now())

    def take(self, answer: Answer) -> Receipt | AssayError:
        """Record one answer, or say why not."""
        try:
            earlier = self.recorded.get(answer.client_id)
            if earlier is not None:
                return Receipt(_same_pair(earlier, answer), new=False)
            if answer.pair not in self.pairs:
                return Receipt(self._probed(answer), new=True)
            return Receipt(self._record(self._leased(answer), answer), new=True)
        except AssayError as error:
            return error

    def _probed(self, answer: Answer) -> ProbeAnswer:
        """The answer for what is none of the round's pairs, if it was shown to the rater as one."""
        if self.refusal is not None:
            raise self.refusal
        check_answer(self.round, answer)
        probe = probing.probe_of(self.round, self.rater, answer.pair)
        event = probing.record(probe, self.rater, answer.client_id, **given(answer))
        self.recorded[answer.client_id] = event
        return event

    def _leased(self, answer: Answer) -> Pair:
        """The pair that the answer is for, if it may be answered."""
        if self.refusal is not None:
            raise self.refusal
        check_answer(self.round, answer)
        pair = self.pairs[answer.pair]
        newest = self.sheets[pair.pk].newest(self.rater.pk)
        known = newest is not None or self.sheets[pair.pk].slot_of(self.rater.pk) is not None
        if not known and not Handout.objects.filter(rater=self.rater, pair=pair).exists():
            raise Conflict(probing.NEVER_LEASED)
        if newest is not None and newest.state in STANDS and self._has_seen(pair):
            raise Conflict(STANDS_BY_IT)
        if newest is not None and newest.state == Judgment.State.REQUEUED:
            raise Conflict("This pair was given to somebody else by the lead. Your answer for it is no longer needed.")
        return pair

    def _has_seen(self, pair: Pair) -> bool:
        """Whether the rater, having answered, may have read what others gave."""
        events = self.sheets[pair.pk].events
        others = any(one.rater != self.rater.pk and one.state == Judgment.State.GRADED for one in events)
        return others and _leads(self.round, self.rater)

    def _record(self, pair: Pair, answer: Answer) -> Judgment:
        page = self.sheets[pair.pk]
        # The rater's own slot; or, when the lease ran out, one that nobody holds; or none, and the answer is surplus.
        slot = page.slot_of(self.rater.pk) or _free_slot(page)
        before = page.newest(self.rater.pk)
        try:
            with transaction.atomic() if self.carefully else nullcontext():
                judgment = _event(pair, answer, self.rater, surplus=slot is None, before=before)
        except IntegrityError:
            if not self.carefully:
                raise
            # The same client id on two connections, for two pairs: the other one was first.
            raise Conflict(probing.STANDS_FOR_ANOTHER) from None
        if slot is not None:
            _fill(slot, judgment)
        page.add(judgment)
        self.recorded[answer.client_id] = judgment
        self.ledger.reached = pair.position
        return judgment


def _refusal(round_: Round, rater: User) -> AssayError | None:
    """Why the round takes no new answer from this rater, if so; what it has already, it still acknowledges.

    The round is read again: whoever closes it waits for the pairs that are locked, or was here before.
    """
    asked = round_.raters.filter(user=rater, left_at__isnull=True)
    if asked.values_list("round__state", flat=True).first() == Round.State.OPEN:
        return None
    try:
        check_open(Round.objects.get(pk=round_.pk), rater)
    except (Closed, NotAllowed) as refusal:
        return refusal
    return None


def undo(round_: Round, client_id: uuid_module.UUID, *, rater: User) -> Judgment | ProbeAnswer:
    """Take an answer back: a new event that supersedes it. The pair is in the rater's hand again.

    Undoing twice is undoing once; what stands no more cannot be taken back.
    """
    judgment = Judgment.objects.filter(rater=rater, client_id=client_id, pair__round=round_).first()
    if judgment is None:
        return _undo_probed(round_, client_id, rater)
    again = uuid_module.uuid5(client_id, "undo")
    with transaction.atomic():
        pair = _locked().get(pk=judgment.pair_id)
        # Asked for once the pair is locked: of two that come at the same moment the second finds the first's event.
        done = Judgment.objects.filter(rater=rater, client_id=again).first()
        if done is not None and done.supersedes_id == judgment.pk:
            return done
        if done is not None or probing.recorded(rater, [again]):
            raise Conflict(probing.STANDS_FOR_ANOTHER)
        if refusal := _refusal(round_, rater):
            raise refusal
        if Judgment.objects.filter(supersedes=judgment).exists():
            raise Conflict("This answer was changed since; undo the newer one.")
        others = Judgment.objects.filter(pair=pair, state=Judgment.State.GRADED).exclude(rater=rater)
        if judgment.state in STANDS and _leads(round_, rater) and others.exists():
            raise Conflict(STANDS_BY_IT)
        with extras.kept(round_, [pair], home=rater) as ledger:
            event = Judgment.objects.create(
                pair=pair,
                rater=rater,
                client_id=again,
                state=Judgment.State.UNDONE,
                document_sha256=judgment.document_sha256,
                supersedes=judgment,
            )
            Slot.objects.filter(pair=pair, rater=rater).update(filled_by=None, lease_until=timezone.now() + LEASE)
            ledger.reached = pair.position
    return event


def _leads(round_: Round, rater: User) -> bool:
    """Whether the rater leads the collection, and so reads the grades of a pair once they have answered it."""
    return access.role_in(rater, round_.collection) in access.STAFF


def _undo_probed(round_: Round, client_id: uuid_module.UUID, rater: User) -> ProbeAnswer:
    """The same for an answer to what was mixed in."""
    answer = probing.recorded(rater, [client_id]).get(client_id)
    # What a calibration asked is final: what is right was told at once.
    if answer is None or answer.probe.round_id != round_.pk or answer.probe.kind not in probing.MIXED:
        raise NotFound("There is no answer with this client id.")
    refusal = _refusal(round_, rater)
    with transaction.atomic():
        return probing.undo(answer, uuid_module.uuid5(client_id, "undo"), refusal)


def last_answer(round_: Round, rater: User) -> Judgment | ProbeAnswer | None:
    """The rater's newest answer in the round that still stands: what ``z`` takes back."""
    mine = Judgment.objects.standing().of_round(round_).filter(rater=rater)
    newest = mine.select_related("pair__query", "pair__document").order_by("-pk").first()
    probed = probing.last_answer(round_, rater)
    return probed if newest is None or (probed and probed.created_at > newest.created_at) else newest


def _same_pair(judgment: Judgment | ProbeAnswer, answer: Answer) -> Judgment | ProbeAnswer:
    if judgment.pair.uuid != answer.pair:
        raise Conflict(probing.STANDS_FOR_ANOTHER)
    return judgment


def check_answer(round_: Round, answer: Answer) -> None:
    """That the state is one that a rater can send, with a grade of the round's scale where it has one."""
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


def _event(pair: Pair, answer: Answer, rater: User, *, surplus: bool, before: Event | None) -> Judgment:
    return Judgment.objects.create(
        pair=pair,
        rater=rater,
        client_id=answer.client_id,
        surplus=surplus,
        document_sha256=pair.document.content_sha256,
        supersedes_id=before.pk if before else None,
        **given(answer),
    )


def given(answer: Answer) -> dict[str, Any]:
    """What is kept of an answer, whatever it is an answer to."""
    return {
        "state": answer.state,
        "grade": answer.grade,
        "reason": answer.reason[:500],
        "note": answer.note[:LONGEST_NOTE],
        "seconds_active": answer.seconds_active,
        "seconds_away": answer.seconds_away,
        "how": answer.how,
    }


def _fill(slot: Slot, judgment: Judgment) -> None:
    """Put the answer into the slot; what was put off stays in the rater's hand."""
    later = judgment.state == Judgment.State.LATER
    slot.rater = judgment.rater
    slot.filled_by = None if later else judgment
    slot.lease_until = timezone.now() + LEASE if later else None
    slot.save(update_fields=["rater", "filled_by", "lease_until"])


def _locked() -> QuerySet[Pair]:
    """Pairs, locked for this transaction: answers to one pair come one after the other. SQLite locks as a whole.

    A document may be long, and only its hash is needed. Who leases holds slots and refers to pairs: that is no reason
    to wait, or the two would wait for each other.
    """
    rows = Pair.objects.select_for_update(of=("self",), no_key=True).select_related("document")
    return rows.defer("origin", *(f"document__{name}" for name in ("text", "fields"))).order_by("pk")


def _free_slot(page: Sheet) -> Slot | None:
    """The first slot that nobody holds."""
    now = timezone.now()
    return next((slot for slot in page.slots if openings.is_free(slot, now)), None)
