"""Transactional recording of answers, from one rater or several at once."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, QuerySet
from django.utils import timezone

from judgments import access, extras, openings, probe_answers
from judgments.answers import Answer, Receipt, check_answer, given
from judgments.assignment import LEASE, check_open
from judgments.compiled import Compiled, Given
from judgments.core.errors import AssayError, Closed, Conflict, NotAllowed
from judgments.models import Handout, Judgment, Pair, ProbeAnswer, Round, RoundRater, Slot, User
from judgments.sheets import Event, Sheet, sheets
from judgments.tallies import Ledger

# What a rater said of a pair; with it a rater who leads is no longer blind for the pair.
STANDS = (Judgment.State.GRADED, Judgment.State.UNRATEABLE)
STANDS_BY_IT = (
    "You lead this collection and have answered this pair: you may have read what others gave. "
    "Your answer stands; settle the pair among the conflicts instead."
)
# One answer, and whose it is.
Sent = tuple[User, Answer]


class Intake:
    """Where answers are taken, inside the caller's transaction.

    Their pairs are locked, in the order of their keys: two intakes never wait for each other in a circle. All that is
    known about the pairs is read once: what was leased, what is recorded, and the sheet of each, which is kept
    up to date as it records.

    Parameters
    ----------
    round_ : Round
        The round of all answers.
    sent : sequence of (User, Answer)
        At least one.
    carefully : bool
        Where one of the answers may be refused by the database.
    """

    def __init__(self, round_: Round, sent: Sequence[Sent], *, carefully: bool) -> None:
        self.round, self.carefully = round_, carefully
        asked = {answer.pair for _, answer in sent}
        self.pairs = {pair.uuid: pair for pair in PAIRS(round=round_.pk, pairs=asked)}
        raters = {rater.pk: rater for rater, _ in sent}
        self.refusals = refusals(round_, [*raters.values()])
        self.sheets = sheets([*self.pairs.values()])
        self.ledger = Ledger(round_, self.sheets.values(), sent[0][0])
        # What is asked beside the round's pairs has a table of its own: there the database would not notice.
        any_pair = carefully or len(self.pairs) < len(asked)
        self.recorded = self._recorded({(rater.pk, answer.client_id) for rater, answer in sent}, any_pair)
        self.waiting: dict[int, tuple[Judgment, Slot | None]] = {}  # to be written, by pair

    def _recorded(
        self, ids: set[tuple[int, uuid_module.UUID]], any_pair: bool
    ) -> dict[tuple[int, uuid_module.UUID], Judgment | ProbeAnswer]:
        """What came before under these client ids of raters: for these pairs, or for any.

        Under an id that stands for another pair the database takes no second row, and that is looked into then.
        """
        events = (event for page in self.sheets.values() for event in page.events)
        keys = [event.pk for event in events if (event.rater, event.client_id) in ids]
        rows = Judgment.objects.select_related("pair").filter(pk__among=keys) if keys else Judgment.objects.none()
        if any_pair:
            rows = Judgment.objects.select_related("pair")
            rows = rows.filter(rater__pk__among={rater for rater, _ in ids}, client_id__among={one for _, one in ids})
        found: dict[tuple[int, uuid_module.UUID], Judgment | ProbeAnswer] = {
            (row.rater_id, row.client_id): row for row in rows
        }
        return found | probe_answers.recorded(ids)

    def close(self) -> None:
        """Write what waits, and what the answers changed beside themselves."""
        self._write()
        if self.ledger.reached:
            extras.settle(self.round, self.ledger.pages)
            self.ledger.write()

    def take(self, rater: User, answer: Answer) -> Receipt | AssayError:
        """Record one answer, or say why not."""
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
        """The answer for what is none of the round's pairs, if it was shown to the rater as one."""
        probe = probe_answers.probe_of(self.round, rater, answer.pair)
        if answer.if_open and probe.answered:
            return Receipt(ProbeAnswer.objects.current().get(probe=probe), new=False)
        self._write()  # what was answered before it is older: by their times nobody can tell it from a pair
        event = probe_answers.record(probe, rater, answer.client_id, **given(answer))
        self.recorded[rater.pk, answer.client_id] = event
        return Receipt(event, new=True)

    def _standing(self, rater: User, pair: uuid_module.UUID) -> Judgment | None:
        """What the rater said of the pair, if that stands: neither put off nor taken back."""
        newest = self._page(self.pairs[pair]).newest(rater.pk)
        if newest is None or newest.state not in STANDS:
            return None
        return Judgment.objects.select_related("pair").get(pk=newest.pk)

    def _leased(self, rater: User, answer: Answer) -> Pair:
        """The pair that the answer is for, if it may be answered."""
        pair = self.pairs[answer.pair]
        page = self._page(pair)
        newest = page.newest(rater.pk)
        known = newest is not None or page.slot_of(rater.pk) is not None
        if not known and not Handout.objects.filter(rater=rater, pair=pair).exists():
            raise Conflict(probe_answers.NEVER_LEASED)
        if newest is not None and newest.state in STANDS and self._has_seen(page, rater):
            raise Conflict(STANDS_BY_IT)
        if newest is not None and newest.state == Judgment.State.REQUEUED:
            raise Conflict("This pair was given to somebody else by the lead. Your answer for it is no longer needed.")
        return pair

    def _has_seen(self, page: Sheet, rater: User) -> bool:
        """Whether the rater, having answered, may have read what others gave."""
        others = any(one.rater != rater.pk and one.state == Judgment.State.GRADED for one in page.events)
        return others and leads(self.round, rater)

    def _page(self, pair: Pair) -> Sheet:
        """The pair's sheet with all that was taken for it: what comes now stands on that."""
        if pair.pk in self.waiting:
            self._write()
        return self.sheets[pair.pk]

    def _record(self, pair: Pair, rater: User, answer: Answer) -> Judgment:
        page = self._page(pair)
        # The rater's own slot; or, when the lease ran out, one that nobody holds; or none, and the answer is surplus.
        slot = page.slot_of(rater.pk) or _free_slot(page)
        judgment = _event(pair, answer, rater, surplus=slot is None, before=page.newest(rater.pk))
        self.waiting[pair.pk] = judgment, slot
        if self.carefully:
            try:
                with transaction.atomic():
                    self._write()
            except IntegrityError:
                self.waiting.clear()
                # The same client id on two connections, for two pairs: the other one was first.
                raise Conflict(probe_answers.STANDS_FOR_ANOTHER) from None
        self.recorded[rater.pk, answer.client_id] = judgment
        self.ledger.reached[rater.pk] = pair.position
        return judgment

    def _write(self) -> None:
        """Write what waits, in as few statements as it takes."""
        written = [*self.waiting.values()]
        Judgment.objects.bulk_create([judgment for judgment, _ in written])
        _fill([(judgment, slot) for judgment, slot in written if slot is not None])
        for judgment, _ in written:
            self.sheets[judgment.pair_id].add(judgment)
        self.waiting.clear()


def refusals(round_: Round, raters: Sequence[User]) -> dict[int, AssayError]:
    """Why the round takes no new answer from these raters, by user; what it has already, it still acknowledges.

    The round is read again: whoever closes it waits for the pairs that are locked, or was here before.
    """
    states = dict(STATES(round=round_.pk, raters=[rater.pk for rater in raters]))
    found: dict[int, AssayError] = {}
    for rater in raters:
        if states.get(rater.pk) == Round.State.OPEN:
            continue
        try:
            check_open(Round.objects.get(pk=round_.pk), rater)
        except (Closed, NotAllowed) as refusal:
            found[rater.pk] = refusal
    return found


def leads(round_: Round, rater: User) -> bool:
    """Whether the rater leads the collection, and so reads the grades of a pair once they have answered it."""
    return access.role_in(rater, round_.collection) in access.STAFF


def locked_pairs() -> QuerySet[Pair]:
    """Pairs, locked for this transaction: answers to one pair come one after the other. SQLite locks as a whole.

    A document may be long, and only its hash is needed. Who leases holds slots and refers to pairs: that is no reason
    to wait, or the two would wait for each other.
    """
    rows = Pair.objects.select_for_update(of=("self",), no_key=True).select_related("document").order_by("pk")
    own = ("uuid", "round", "query", "document", "position", "ratings_wanted", "spread", "settled")
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
        raise Conflict(probe_answers.STANDS_FOR_ANOTHER)
    return judgment


def _event(pair: Pair, answer: Answer, rater: User, *, surplus: bool, before: Event | None) -> Judgment:
    return Judgment(
        pair=pair,
        rater=rater,
        client_id=answer.client_id,
        surplus=surplus,
        document_sha256=pair.document.content_sha256,
        supersedes_id=before.pk if before else None,
        **given(answer),
    )


def _fill(filled: Sequence[tuple[Judgment, Slot]]) -> None:
    """Put answers into slots, no two of one pair; what was put off stays in the rater's hand."""
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


def _free_slot(page: Sheet) -> Slot | None:
    """The first slot that nobody holds."""
    now = timezone.now()
    return next((slot for slot in page.slots if openings.is_free(slot, now)), None)
