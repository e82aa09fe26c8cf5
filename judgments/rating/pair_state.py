"""State of a pair: its slots and answers, and the counts derived from them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from math import log2
from typing import NamedTuple
from uuid import UUID

from judgments.models import Judgment, Pair, Slot
from judgments.models.compiled_queries import Compiled, Given

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
