"""Transactional recording of answers, from one rater or several at once."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, QuerySet
from django.utils import timezone

from assay.core.errors import AssayError, Closed, Conflict, NotAllowed
from judgments.models import Handout, Judgment, Pair, ProbeAnswer, Round, RoundRater, Slot, User
from judgments.models.compiled_queries import Compiled, Given
from judgments.rating import extra_ratings, inserted_checks, slot_search
from judgments.rating.answers import Answer, Receipt, check_answer, stored_fields
from judgments.rating.assignment import LEASE, check_open
from judgments.rating.pair_state import Event, PairState, pair_states
from judgments.rating.round_counters import Ledger
from judgments.web import access

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
            extra_ratings.adjust_extra_slots(self.round, self.ledger.pages)
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
    states = dict(STATES(round=round_.pk, raters=[rater.pk for rater in raters]))
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
STATES = Compiled(
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
