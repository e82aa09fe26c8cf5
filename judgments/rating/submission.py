"""Submission of judgments: record a rater's answers and undo them.

Every answer is stored, including one after its lease expired or for a full pair, which is surplus. An answer sent twice
with the same client id is recorded once.
"""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import OuterRef, QuerySet
from django.utils import timezone

from assay.core.errors import AssayError, Closed, Conflict, NotAllowed, NotFound, NotValid
from judgments.models import Handout, Judgment, Pair, ProbeAnswer, Round, RoundRater, Slot, User
from judgments.models.fields import Compiled, Given
from judgments.rating import inserted_checks, pair_state, slot_search
from judgments.rating.assignment import LEASE, check_open
from judgments.rating.group_commit import Together
from judgments.rating.pair_state import Event, Ledger, PairState, pair_states
from judgments.web import access

STATES = (Judgment.State.GRADED, Judgment.State.UNRATEABLE, Judgment.State.LATER)
LONGEST_NOTE = 10_000


@dataclass(frozen=True)
class Answer:
    """A rater's answer for one pair, as received."""

    client_id: uuid_module.UUID
    pair: uuid_module.UUID
    grade: int | None = None
    state: str = Judgment.State.GRADED
    reason: str = ""
    note: str = ""
    seconds_active: float | None = None
    seconds_away: float | None = None
    how: dict[str, Any] = field(default_factory=dict)
    # The page shows the pair as open. If there is an answer that the page does not know, that answer stays.
    if_open: bool = False


@dataclass(frozen=True)
class Receipt:
    """The result of a submission: ``new`` is False if the answer was recorded before, or another answer stays instead.

    Answers to inserted checks (`inserted_checks.py`) use the same class, so that clients cannot distinguish them.
    """

    judgment: Judgment | ProbeAnswer
    new: bool


def check_answer(round_: Round, answer: Answer) -> None:
    """Refuse an answer whose state is unknown or whose grade does not fit its state and the round's scale."""
    if answer.state not in STATES:
        raise NotValid(f"Unknown state {answer.state!r}.", {"state": f"Known states: {', '.join(STATES)}."})
    if answer.state != Judgment.State.GRADED:
        if answer.grade is not None:
            raise NotValid(f"An answer with the state {answer.state} has no grade.", {"grade": "Remove the grade."})
        return
    values = round_.scale.values()
    if answer.grade not in values:
        known = ", ".join(map(str, values))
        raise NotValid(f"{answer.grade} is not a grade of this round.", {"grade": f"Use one of {known}."})


def stored_fields(answer: Answer) -> dict[str, Any]:
    """Return the stored fields of an answer, for judgments and for gold pairs and repeats alike."""
    return {
        "state": answer.state,
        "grade": answer.grade,
        "reason": answer.reason[:500],
        "note": answer.note[:LONGEST_NOTE],
        "seconds_active": answer.seconds_active,
        "seconds_away": answer.seconds_away,
        "how": answer.how,
    }


# The states that answer a pair. After such an answer, a rater who leads can see the pair's grades.
STANDS = (Judgment.State.GRADED, Judgment.State.UNRATEABLE)
STANDS_BY_IT = (
    "You lead this collection and have answered this pair, so you may have seen other grades. Your answer is kept. "
    "Resolve the pair on the Conflicts page instead."
)
# An answer with its rater.
Submission = tuple[User, Answer]


class Intake:
    """Recorder of answers inside the caller's transaction."""

    def __init__(self, round_: Round, submissions: Sequence[Submission], *, carefully: bool) -> None:
        self.round, self.carefully = round_, carefully
        pair_uuids = {answer.pair for _, answer in submissions}
        self.pairs = {pair.uuid: pair for pair in PAIRS(round=round_.pk, pairs=pair_uuids)}
        raters = {rater.pk: rater for rater, _ in submissions}
        self.refusals = refusals(round_, [*raters.values()])
        self.pair_states = pair_states([*self.pairs.values()])
        self.ledger = Ledger(round_, self.pair_states.values(), submissions[0][0])
        # Gold pairs and repeats have their own table, where the database would not notice a repeated client id.
        any_pair = carefully or len(self.pairs) < len(pair_uuids)
        self.recorded = self._recorded({(rater.pk, answer.client_id) for rater, answer in submissions}, any_pair)
        self.waiting: dict[int, tuple[Judgment, Slot | None]] = {}  # not written yet, by pair

    def _recorded(
        self, ids: set[tuple[int, uuid_module.UUID]], any_pair: bool
    ) -> dict[tuple[int, uuid_module.UUID], Judgment | ProbeAnswer]:
        """Return earlier answers with these client ids of raters, for these pairs or any."""
        events = (event for page in self.pair_states.values() for event in page.events)
        keys = [event.pk for event in events if (event.rater, event.client_id) in ids]
        rows = Judgment.objects.select_related("pair").filter(pk__among=keys) if keys else Judgment.objects.none()
        if any_pair:
            rows = Judgment.objects.select_related("pair")
            rows = rows.filter(rater__pk__among={rater for rater, _ in ids}, client_id__among={one for _, one in ids})
        recorded: dict[tuple[int, uuid_module.UUID], Judgment | ProbeAnswer] = {
            (row.rater_id, row.client_id): row for row in rows
        }
        return recorded | inserted_checks.recorded(ids)

    def close(self) -> None:
        """Write pending answers and the changed state."""
        self._write()
        if self.ledger.reached:
            pair_state.adjust_extra_slots(self.round, self.ledger.pages)
            self.ledger.write()

    def take(self, rater: User, answer: Answer) -> Receipt | AssayError:
        """Record one answer, or raise an exception with the reason for refusing it."""
        try:
            earlier = self.recorded.get((rater.pk, answer.client_id))
            if earlier is not None:
                return Receipt(_same_pair(earlier, answer), new=False)
            if (refusal := self.refusals.get(rater.pk)) is not None:
                raise refusal
            check_answer(self.round, answer)
            if answer.pair not in self.pairs:
                return self._probed(rater, answer)
            if answer.if_open and (stands := self._standing(rater, answer.pair)) is not None:
                return Receipt(stands, new=False)
            return Receipt(self._record(self._leased(rater, answer), rater, answer), new=True)
        except AssayError as error:
            return error

    def _probed(self, rater: User, answer: Answer) -> Receipt:
        """Record the answer to a gold pair or repeat that was shown as a pair."""
        probe = inserted_checks.probe_of(self.round, rater, answer.pair)
        if answer.if_open and probe.answered:
            return Receipt(ProbeAnswer.objects.current().get(probe=probe), new=False)
        # write earlier answers first, so that times do not distinguish gold pairs and repeats from other pairs
        self._write()
        event = inserted_checks.record(probe, rater, answer.client_id, **stored_fields(answer))
        self.recorded[rater.pk, answer.client_id] = event
        return Receipt(event, new=True)

    def _standing(self, rater: User, pair: uuid_module.UUID) -> Judgment | None:
        """Return the rater's current answer to the pair, unless it was saved for later or undone."""
        newest = self._page(self.pairs[pair]).newest(rater.pk)
        if newest is None or newest.state not in STANDS:
            return None
        return Judgment.objects.select_related("pair").get(pk=newest.pk)

    def _leased(self, rater: User, answer: Answer) -> Pair:
        """Return the pair of the answer, if it may be answered."""
        pair = self.pairs[answer.pair]
        page = self._page(pair)
        newest = page.newest(rater.pk)
        known = newest is not None or page.slot_of(rater.pk) is not None
        if not known and not Handout.objects.filter(rater=rater, pair=pair).exists():
            raise Conflict(inserted_checks.NEVER_LEASED)
        if newest is not None and newest.state in STANDS and self._has_seen(page, rater):
            raise Conflict(STANDS_BY_IT)
        if newest is not None and newest.state == Judgment.State.REQUEUED:
            raise Conflict("The lead reassigned this pair. Your answer is no longer needed.")
        return pair

    def _has_seen(self, page: PairState, rater: User) -> bool:
        """Return whether the rater has answered and may have seen other grades."""
        others = any(one.rater != rater.pk and one.state == Judgment.State.GRADED for one in page.events)
        return others and leads(self.round, rater)

    def _page(self, pair: Pair) -> PairState:
        """Return the state of the pair, including the answers recorded in this transaction."""
        if pair.pk in self.waiting:
            self._write()
        return self.pair_states[pair.pk]

    def _record(self, pair: Pair, rater: User, answer: Answer) -> Judgment:
        page = self._page(pair)
        # The rater's own slot, or a free slot if the lease expired, or none if the answer is surplus.
        slot = page.slot_of(rater.pk) or _free_slot(page)
        judgment = _event(pair, answer, rater, surplus=slot is None, before=page.newest(rater.pk))
        self.waiting[pair.pk] = judgment, slot
        if self.carefully:
            try:
                with transaction.atomic():
                    self._write()
            except IntegrityError:
                self.waiting.clear()
                # Another connection has used the same client id for another pair.
                raise Conflict(inserted_checks.STANDS_FOR_ANOTHER) from None
        self.recorded[rater.pk, answer.client_id] = judgment
        self.ledger.reached[rater.pk] = pair.position
        return judgment

    def _write(self) -> None:
        """Write pending answers with as few statements as possible."""
        written = [*self.waiting.values()]
        Judgment.objects.bulk_create([judgment for judgment, _ in written])
        _fill([(judgment, slot) for judgment, slot in written if slot is not None])
        for judgment, _ in written:
            self.pair_states[judgment.pair_id].add(judgment)
        self.waiting.clear()


def refusals(round_: Round, raters: Sequence[User]) -> dict[int, AssayError]:
    """Return by user why the round accepts no new answer. Repeated answers are still acknowledged."""
    states = dict(RATER_STATES(round=round_.pk, raters=[rater.pk for rater in raters]))
    errors: dict[int, AssayError] = {}
    for rater in raters:
        if states.get(rater.pk) == Round.State.OPEN:
            continue
        try:
            check_open(Round.objects.get(pk=round_.pk), rater)
        except (Closed, NotAllowed) as refusal:
            errors[rater.pk] = refusal
    return errors


def leads(round_: Round, rater: User) -> bool:
    """Return whether the rater leads the collection, and so can see a pair's grades after answering it."""
    return access.role_in(rater, round_.collection) in access.STAFF


def locked_pairs() -> QuerySet[Pair]:
    """Lock pairs for this transaction, so that answers to a pair are serialized. SQLite locks the whole database."""
    rows = Pair.objects.select_for_update(of=("self",), no_key=True).select_related("document").order_by("pk")
    own = ("uuid", "round", "query", "document", "position", "ratings_wanted", "spread", "resolved")
    return rows.only(*own, "document__content_sha256")


PAIRS = Compiled(lambda: locked_pairs().filter(round=Given("round"), uuid__among=Given("pairs")))
RATER_STATES = Compiled(
    lambda: (
        RoundRater.objects.filter(round=Given("round"), user__pk__among=Given("raters"), left_at__isnull=True)
        .order_by()
        .values_list("user", "round__state")
    )
)


def _same_pair(judgment: Judgment | ProbeAnswer, answer: Answer) -> Judgment | ProbeAnswer:
    if judgment.pair.uuid != answer.pair:
        raise Conflict(inserted_checks.STANDS_FOR_ANOTHER)
    return judgment


def _event(pair: Pair, answer: Answer, rater: User, *, surplus: bool, before: Event | None) -> Judgment:
    return Judgment(
        pair=pair,
        rater=rater,
        client_id=answer.client_id,
        surplus=surplus,
        document_sha256=pair.document.content_sha256,
        supersedes_id=before.pk if before else None,
        **stored_fields(answer),
    )


def _fill(filled: Sequence[tuple[Judgment, Slot]]) -> None:
    """Assign answers to slots, at most one per pair; pairs saved for later stay leased to the rater."""
    own = []
    for judgment, slot in filled:
        later = judgment.state == Judgment.State.LATER
        if slot.rater_id == judgment.rater_id and not later:
            own.append(slot.pk)
        slot.rater = judgment.rater
        slot.filled_by = None if later else judgment
        slot.lease_until = timezone.now() + LEASE if later else None
    together = own if len(own) > 1 else []
    for _, slot in filled:
        if slot.pk not in together:
            slot.save(update_fields=["rater", "filled_by", "lease_until"])
    if together:
        now = Judgment.objects.filter(pk__among=[judgment.pk for judgment, _ in filled])
        now = now.filter(pair=OuterRef("pair"), rater=OuterRef("rater")).values("pk")[:1]
        Slot.objects.filter(pk__among=together).update(filled_by=now, lease_until=None)


def _free_slot(page: PairState) -> Slot | None:
    """Return the first free slot."""
    now = timezone.now()
    return next((slot for slot in page.slots if slot_search.is_free(slot, now)), None)


# The maximum number of requests in one transaction, which holds its locks for all of them.
MOST_TOGETHER = 32


def submit(round_: Round, answer: Answer, *, rater: User) -> Receipt:
    """Record one answer."""
    (result,) = submit_all(round_, [answer], rater=rater)
    if isinstance(result, AssayError):
        raise result
    return result


def submit_all(round_: Round, answers: Sequence[Answer], *, rater: User) -> list[Receipt | AssayError]:
    """Record several answers of one rater; an invalid answer does not affect the others."""
    request = _Request(round_, rater, answers)
    # Answers of other raters must not depend on the caller's transaction, which may still be rolled back.
    return _record_together([request])[0] if connection.in_atomic_block else together.do(round_.pk, request)


class _Request(NamedTuple):
    """The answers of one request."""

    round: Round
    rater: User
    answers: Sequence[Answer]


def _record_together(requests: Sequence[_Request]) -> list[list[Receipt | AssayError]]:
    """Record the answers of several requests of one round, and return the results."""
    try:
        return _in_one_transaction(requests, carefully=False)
    except IntegrityError:
        return _in_one_transaction(requests, carefully=True)


def _in_one_transaction(requests: Sequence[_Request], *, carefully: bool) -> list[list[Receipt | AssayError]]:
    """Record all answers in one transaction; ``carefully`` if the database may refuse one of them."""
    answers = [(request.rater, answer) for request in requests for answer in request.answers]
    if not answers:
        return [[] for _ in requests]
    with transaction.atomic():
        intake = Intake(requests[0].round, answers, carefully=carefully)
        results = iter([intake.take(rater, answer) for rater, answer in answers])
        intake.close()
    return [[next(results) for _ in request.answers] for request in requests]


together = Together(_record_together, MOST_TOGETHER)


def undo(round_: Round, client_id: uuid_module.UUID, *, rater: User) -> Judgment | ProbeAnswer:
    """Undo an answer with a new event that supersedes it. The rater holds the pair again."""
    judgment = Judgment.objects.filter(rater=rater, client_id=client_id, pair__round=round_).first()
    if judgment is None:
        return _undo_probe_answer(round_, client_id, rater)
    again = uuid_module.uuid5(client_id, "undo")
    with transaction.atomic():
        pair = locked_pairs().get(pk=judgment.pair_id)
        # Read after the pair is locked, so that the second of two concurrent requests sees the event of the first.
        done = Judgment.objects.filter(rater=rater, client_id=again).first()
        if done is not None and done.supersedes_id == judgment.pk:
            return done
        if done is not None or inserted_checks.recorded({(rater.pk, again)}):
            raise Conflict(inserted_checks.STANDS_FOR_ANOTHER)
        if refusal := refusals(round_, [rater]).get(rater.pk):
            raise refusal
        if Judgment.objects.filter(supersedes=judgment).exists():
            raise Conflict("This answer was changed later. Undo the newer one.")
        others = Judgment.objects.filter(pair=pair, state=Judgment.State.GRADED).exclude(rater=rater)
        if judgment.state in STANDS and leads(round_, rater) and others.exists():
            raise Conflict(STANDS_BY_IT)
        with pair_state.updating_counters(round_, [pair], home=rater) as ledger:
            event = Judgment.objects.create(
                pair=pair,
                rater=rater,
                client_id=again,
                state=Judgment.State.UNDONE,
                document_sha256=judgment.document_sha256,
                supersedes=judgment,
            )
            Slot.objects.filter(pair=pair, rater=rater).update(filled_by=None, lease_until=timezone.now() + LEASE)
            ledger.reached[rater.pk] = pair.position
    return event


def _undo_probe_answer(round_: Round, client_id: uuid_module.UUID, rater: User) -> ProbeAnswer:
    """Undo an answer to a gold pair or repeat."""
    answer = inserted_checks.recorded({(rater.pk, client_id)}).get((rater.pk, client_id))
    # Answers of a qualification are final, because the rater has seen the expert grade.
    if answer is None or answer.probe.round_id != round_.pk or answer.probe.kind not in inserted_checks.MIXED:
        raise NotFound("No answer with this client id exists.")
    refusal = refusals(round_, [rater]).get(rater.pk)
    with transaction.atomic():
        return inserted_checks.undo(answer, uuid_module.uuid5(client_id, "undo"), refusal)


def last_answer(round_: Round, rater: User) -> Judgment | ProbeAnswer | None:
    """Return the rater's newest current answer in the round, which the undo key undoes."""
    mine = Judgment.objects.standing().of_round(round_).filter(rater=rater)
    newest = mine.select_related("pair__query", "pair__document").order_by("-pk").first()
    probed = inserted_checks.last_answer(round_, rater)
    return probed if newest is None or (probed and probed.created_at > newest.created_at) else newest
