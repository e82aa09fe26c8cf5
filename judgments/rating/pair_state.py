"""State of a pair: its slots and answers, the counts derived from them, and extra ratings after its raters differ.

When the counted grades of a fully rated pair differ too much, the pair gets one more slot, as often as the round
allows. `Pair.ratings_wanted` does not change; slots with a higher number are extra. An extra slot without a rater is
withdrawn if the grades agree again because an answer was changed, undone or excluded. After a lead has resolved the
pair, every unanswered extra slot is withdrawn, even a leased one; that rater's answer is stored but does not count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import log2
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from judgments import hooks
from judgments.models import Judgment, Pair, Query, Round, Slot, Tally, User
from judgments.models.fields import Compiled, Given
from judgments.rating import slot_search

PART = 2_000
# The columns that change.
COUNTED = ["graded", "unrateable", "later", "surplus", "filled", "events", "seconds", "places", "reached", "last_at"]


def median_seconds(counted: Mapping[str, int]) -> float | None:
    """Return the median of durations counted by class, with an error of about 4%; None without any."""
    classes = sorted((int(name), number) for name, number in counted.items() if number > 0)
    total = sum(number for _, number in classes)
    if not total:
        return None
    middle = [_at(classes, place) for place in ((total - 1) // 2, total // 2)]
    return sum(2 ** (one / CLASSES) for one in middle) / 2


def _at(classes: Sequence[tuple[int, int]], place: int) -> int:
    for name, number in classes:
        if place < number:
            return name
        place -= number
    raise IndexError(place)


class Ledger:
    """The counters of some pairs before a change, from which the difference is computed afterwards."""

    def __init__(self, round_: Round, pages: Iterable[PairState], home: User) -> None:
        self.round, self.home = round_, home
        self.pages = list(pages)
        self.before = [page.counts(home.pk) for page in self.pages]
        self.reached: dict[int, int] = {}  # new positions of the raters who made the change, by user

    def write(self) -> None:
        """Add the change to the tallies; the raters' rows are locked in the order of their keys."""
        changes: dict[int, Counter[str]] = defaultdict(Counter)
        for page, before in zip(self.pages, self.before, strict=True):
            for rater, counted in page.counts(self.home.pk).items():
                changes[rater].update(counted)
            for rater, counted in before.items():
                changes[rater].subtract(counted)
        changes = {rater: counted for rater, counted in changes.items() if any(counted.values())}
        tallies = _locked(self.round, [*changes])
        for tally in tallies:
            _add(tally, changes[tally.rater_id])
            if tally.rater_id in self.reached:
                tally.last_at, tally.reached = timezone.now(), self.reached[tally.rater_id]
        # The rows exist and are locked, so one statement updates all of them.
        Tally.objects.bulk_create(tallies, update_conflicts=True, unique_fields=["pk"], update_fields=COUNTED)
        if self.round.depends_on_answers:
            hooks.notify_choosers(self.round)


def _locked(round_: Round, raters: Sequence[int]) -> list[Tally]:
    tallies: list[Tally] = LOCKED(round=round_.pk, raters=[*raters])
    missing = sorted(set(raters) - {tally.rater_id for tally in tallies})
    if not missing:
        return tallies
    Tally.objects.bulk_create((Tally(round=round_, rater_id=rater) for rater in missing), ignore_conflicts=True)
    return LOCKED(round=round_.pk, raters=[*raters])


LOCKED = Compiled(
    lambda: (
        Tally.objects.select_for_update(no_key=True)
        .filter(round=Given("round"), rater__pk__among=Given("raters"))
        .order_by("pk")
    )
)


def _add(tally: Tally, change: Mapping[str, int]) -> None:
    for name, number in change.items():
        kind, _, rest = name.partition(" ")
        if rest:
            held: dict[str, int] = getattr(tally, kind)
            held[rest] = held.get(rest, 0) + number
            if not held[rest]:
                del held[rest]
        else:
            setattr(tally, kind, getattr(tally, kind) + number)


def recount(round_: Round) -> dict[int, Tally]:
    """Return the counters of a round recomputed from its events and slots, unsaved, by user."""
    tallies = {rater: Tally(round=round_, rater_id=rater) for rater in _everybody(round_)}
    keys = list(round_.pairs.order_by("pk").values_list("pk", flat=True))
    for begin in range(0, len(keys), PART):
        pairs = list(Pair.objects.filter(pk__in=keys[begin : begin + PART]))
        for page in pair_states(pairs, lock=False).values():
            filled = [slot.rater_id for slot in page.slots if slot.filled_by_id is not None and slot.rater_id]
            for rater, counted in page.counts(min(filled, default=0)).items():
                _add(tallies[rater], counted)
    newest = Judgment.objects.of_round(round_).order_by().values_list("rater").annotate(last=Max("created_at"))
    for rater, last in newest:
        tallies[rater].last_at = last
    return tallies


def _everybody(round_: Round) -> set[int]:
    invited = round_.raters.values_list("user", flat=True)
    answered = Judgment.objects.of_round(round_).order_by().values_list("rater", flat=True)
    return {*invited, *answered.distinct()}


# Durations are counted in classes that are 7% wide, which is precise enough for a median.
CLASSES = 10
SHORTEST = 0.1


class Event(NamedTuple):
    """The columns of a judgment that are counted."""

    pk: int
    rater: int
    state: str
    grade: int | None
    surplus: bool
    seconds: float | None
    supersedes: int | None
    client_id: UUID


def seconds_class(seconds: float) -> str:
    """Return the class of a duration in seconds, as named in the counters."""
    return str(round(CLASSES * log2(max(seconds, SHORTEST))))


class PairState:
    """The slots of one pair and all of its answers."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.slots: list[Slot] = []
        self.events: list[Event] = []
        self.language = ""

    def slot_of(self, rater: int) -> Slot | None:
        """Return the slot that the rater holds or has filled."""
        return next((slot for slot in self.slots if slot.rater_id == rater), None)

    def newest(self, rater: int) -> Event | None:
        """Return the rater's last event, which a new event supersedes."""
        return max((event for event in self.events if event.rater == rater), default=None)

    def add(self, judgment: Judgment) -> None:
        """Add an answer that was just recorded."""
        row = judgment
        values = (row.state, row.grade, row.surplus, row.seconds_active, row.supersedes_id, row.client_id)
        self.events.append(Event(row.pk, row.rater_id, *values))

    def standing(self) -> list[Event]:
        """Return the current answers, at most one per rater."""
        over = {event.supersedes for event in self.events}
        return [one for one in self.events if one.pk not in over and one.state not in Judgment.NO_ANSWER]

    @property
    def full(self) -> bool:
        return all(slot.filled_by_id is not None for slot in self.slots)

    @property
    def spread(self) -> int:
        """The largest difference between counted grades."""
        grades = [one.grade for one in self.standing() if one.grade is not None and not one.surplus]
        return max(grades) - min(grades) if grades else 0

    def had(self) -> set[int]:
        """Return the raters who have finished the pair."""
        done = {one.rater for one in self.events if one.surplus or one.state == Judgment.State.REQUEUED}
        return done | {slot.rater_id for slot in self.slots if slot.filled_by_id is not None and slot.rater_id}

    def counts(self, home: int) -> dict[int, Counter[str]]:
        """Return the pair's contribution to each rater's counters. A full pair counts for ``home``."""
        counts: dict[int, Counter[str]] = defaultdict(Counter)
        for event in self.events:
            counts[event.rater]["events"] += 1
        for one in self.standing():
            counts[one.rater][one.state] += 1
            counts[one.rater]["surplus"] += one.surplus
            if one.state == Judgment.State.GRADED and one.seconds is not None:
                counts[one.rater][f"seconds {seconds_class(one.seconds)}"] += 1
        for slot in self.slots:
            if slot.filled_by_id is not None and slot.rater_id:
                counts[slot.rater_id]["filled"] += 1
        if self.full:
            counts[home][f"places full:{self.language}"] += 1
        else:
            for rater in self.had():
                counts[rater][f"places had:{self.language}"] += 1
        return counts


def pair_states(pairs: Sequence[Pair], *, lock: bool = True) -> dict[int, PairState]:
    """Return the states of locked pairs, by the pair's key."""
    states = {pair.pk: PairState(pair) for pair in pairs}
    for slot in _slots(lock)(pairs=[*states]):
        states[slot.pair_id].slots.append(slot)
        states[slot.pair_id].language = slot.language
    for pair, *event in EVENTS(pairs=[*states]):
        states[pair].events.append(Event(*event))
    for sheet in states.values():
        sheet.slots.sort(key=lambda slot: slot.number)
    return states


@cache
def _slots(lock: bool) -> Compiled:
    slots = Slot.objects.select_for_update(no_key=True) if lock else Slot.objects.all()
    return Compiled(lambda: slots.filter(pair__pk__among=Given("pairs")).order_by("pk"))


COLUMNS = ("pair", "pk", "rater", "state", "grade", "surplus", "seconds_active", "supersedes", "client_id")
EVENTS = Compiled(lambda: Judgment.objects.filter(pair__pk__among=Given("pairs")).order_by("pk").values_list(*COLUMNS))


@contextmanager
def updating_counters(round_: Round, pairs: Sequence[Pair], *, home: User) -> Iterator[Ledger]:
    """Update spreads, extra slots and counters after a change of slots or answers, as a context manager."""
    ledger = Ledger(round_, pair_states(pairs).values(), home)
    yield ledger
    ledger.pages = list(pair_states(pairs).values())
    adjust_extra_slots(round_, ledger.pages)
    ledger.write()


def adjust_extra_slots(round_: Round, pages: Sequence[PairState]) -> None:
    """Store the spread of each pair's grades, and add or withdraw extra slots accordingly."""
    changed: dict[int, list[int]] = defaultdict(list)
    for page in pages:
        spread = page.spread
        if spread != page.pair.spread:
            changed[spread].append(page.pair.pk)
            page.pair.spread = spread
    for spread, keys in changed.items():
        Pair.objects.filter(pk__in=keys).update(spread=spread)
    made = sum(_adjust(round_, page) for page in pages if round_.extra_at is not None or page.pair.resolved)
    if made:
        Round.objects.filter(pk=round_.pk).update(slots_made=F("slots_made") + made)


def called_in(round_: Round) -> int:
    """Return the number of extra slots of the round."""
    if round_.extra_at is None:
        return 0
    return slot_search.beyond_plan(round_).count()


def _adjust(round_: Round, page: PairState) -> int:
    """Add an extra slot or withdraw free ones; return the change in the number of slots."""
    extra = [slot for slot in page.slots if slot.number > page.pair.ratings_wanted]
    if page.pair.resolved:
        return -_withdraw(page, [slot for slot in extra if slot.filled_by_id is None])
    apart = round_.extra_at is not None and page.spread >= round_.extra_at
    if apart and page.full and len(extra) < round_.extra_most:
        page.slots.append(_call_in(page))
        return 1
    now = timezone.now()
    return 0 if apart else -_withdraw(page, [slot for slot in extra if slot_search.is_free(slot, now)])


def _call_in(page: PairState) -> Slot:
    return Slot.objects.create(
        round_id=page.pair.round_id,
        pair=page.pair,
        position=page.pair.position,
        number=max(slot.number for slot in page.slots) + 1,
        language=page.language,
    )


def _withdraw(page: PairState, slots: Sequence[Slot]) -> int:
    keys = {slot.pk for slot in slots}
    if keys:
        Slot.objects.filter(pk__in=keys).delete()
        page.slots = [slot for slot in page.slots if slot.pk not in keys]
    return len(keys)


@transaction.atomic
def follow_languages(queries: Sequence[Query]) -> None:
    """Update the slots and counters of every round that is not closed to the new languages of queries."""
    rounds = Round.objects.filter(pairs__query__in=queries).exclude(state=Round.State.CLOSED).distinct()
    for round_ in rounds.order_by("pk"):
        for query in queries:
            _change_language(round_, query)


def _change_language(round_: Round, query: Query) -> None:
    pairs = list(Pair.objects.select_for_update(no_key=True).filter(round=round_, query=query).order_by("pk"))
    round_rater = round_.raters.select_related("user").first()
    if not pairs:
        return
    pages = pair_states(pairs)
    # Full pairs can count in any rater's counters.
    ledger = Ledger(round_, pages.values(), round_rater.user) if round_rater is not None else None
    before = {page.language for page in pages.values()}
    Slot.objects.filter(pair__in=pairs).update(language=query.language)
    for page in pages.values():
        page.language = query.language
    if ledger is not None:
        ledger.write()
    locked = Round.objects.select_for_update().get(pk=round_.pk)
    made = Counter(locked.languages_made)
    made.subtract(dict.fromkeys(before, len(pairs)))
    made[query.language] += len(pairs)
    locked.languages_made = {language: number for language, number in made.items() if number > 0}
    locked.save(update_fields=["languages_made"])
