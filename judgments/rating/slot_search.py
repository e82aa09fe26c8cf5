"""Slot search: find the next free slot for a rater in a round, and count the remaining slots.

No query here reads all pairs of the round. The next slot is found with an index from the rater's position, skipping
only pairs that the rater already had. The number of remaining slots comes from the round counters minus the slots that
other raters hold, which needs only the leased rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, Count, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import Exact
from django.utils import timezone
from django.utils.functional import cached_property

from judgments.members.round_raters import covers
from judgments.models import Judgment, Membership, Pair, Role, Round, Slot, Tally, User
from judgments.models.fields import Compiled, Given

# This many slots are checked one by one. If the rater had all of them, the database skips the others.
NEAR = 32
# Pairs per query, because databases limit the number of parameters.
MOST_KEYS = 5_000


class FreeSlot(NamedTuple):
    """A free slot of a pair that the rater may grade."""

    slot: int
    pair: int
    position: int
    query_id: int


class Query(NamedTuple):
    """A query with free slots, and the highest slot number to lease now; None allows any."""

    key: int
    level: int | None


def nobody(now: datetime | None = None, path: str = "") -> Q:
    """Return a filter for slots that no rater holds. ``path`` is the lookup path to the slots."""
    return Q(**{f"{path}rater__isnull": True}) | Q(**{f"{path}lease_until__lt": now or timezone.now()})


def is_free(slot: Slot, now: datetime) -> bool:
    """Return whether the slot is neither held nor filled."""
    held = slot.rater_id is not None and not (slot.lease_until is not None and slot.lease_until < now)
    return slot.filled_by_id is None and not held


def unanswered() -> Q:
    """Return a filter for slots without an answer, for a query that reads a few slots by their keys."""
    return Q(Exact(Coalesce(F("filled_by"), Value(0), output_field=BigIntegerField()), 0))


def over(rater: User) -> QuerySet[Judgment]:
    """Return the rater's answers that fill no slot but after which the pair is not given to them again."""
    done = Q(surplus=True) | Q(state=Judgment.State.REQUEUED)
    return Judgment.objects.filter(done, rater=rater).order_by()


def given_back(rater: User) -> QuerySet[Judgment]:
    """Return answers that other raters undid or a lead excluded; leads may have seen these grades."""
    return Judgment.objects.filter(state__in=Judgment.NO_ANSWER).exclude(rater=rater).order_by()


class SlotSearch:
    """Search for free slots of a round for a rater."""

    def __init__(self, round_: Round, rater: User) -> None:
        self.round, self.rater = round_, rater
        member = MEMBER(collection=round_.collection_id, rater=rater.pk)
        role, self.reads = member[0] if member else (None, [])
        self.leads = role == Role.LEAD
        self.now = timezone.now()
        if round_.growing or not round_.languages_made:
            round_.refresh_from_db(fields=["languages_made"])
        self.made: dict[str, int] = round_.languages_made
        self.languages = self._languages()
        # Pairs chosen for this rater, and slots chosen for any rater, that are not leased yet.
        self.passed: set[int] = set()
        self.taken: set[int] = set()

    def again(self) -> SlotSearch:
        """Return the same search at the current time."""
        now = copy(self)
        now.__dict__.pop("held", None)
        now.now, now.passed, now.taken = timezone.now(), set(), set()
        return now

    def _languages(self) -> list[str]:
        """Return the round's languages that the rater gets: those they read, and pairs without a language."""
        if not self.round.by_language:
            return [*self.made]
        return [one for one in self.made if not one or not self.reads or any(covers(tag, one) for tag in self.reads)]

    def next_query(self, start: int) -> Query | None:
        """Return the query of the next free slot at or after a position, otherwise from the round's beginning."""
        left: int | None = None
        for level in self._levels():
            key = self._first(level, start, None)
            if key is None:
                # Checked once before the search wraps around, because usually nothing is left.
                left = self.left if left is None else left
                if left <= 0:
                    return None
                key = self._first(level, 0, start) if start else None
            if key is not None:
                return Query(key, level)
        return None

    def in_query(self, query: Query) -> list[FreeSlot]:
        """Return one free slot of each pair of the query that the rater may grade, in the order of the round."""
        rows = _places_of_query(query.level is not None, self._reads_all())(
            round=self.round.pk,
            query=query.key,
            rater=self.rater.pk,
            now=self.now,
            level=query.level,
            languages=self.languages,
        )
        had = self.passed | {pair for _, pair, _, rater in rows if rater == self.rater.pk}
        free = [row for row in rows if row[1] not in had and row[0] not in self.taken]
        places = {pair: FreeSlot(slot, pair, position, query.key) for slot, pair, position, _ in free}
        finished = self._finished(places)
        return [place for pair, place in places.items() if pair not in finished]

    def _levels(self) -> Iterator[int | None]:
        if not self.round.breadth_first:
            yield None
            return
        extra = self.round.extra_most if self.round.extra_at is not None else 0
        yield from range(1, self.round.ratings_per_pair + extra + 1)

    def _first(self, level: int | None, start: int, end: int | None) -> int | None:
        """Return the query of the first pair with a free slot between two positions."""
        languages = [None] if self._reads_all() else self.languages
        steps = [self._step({"level": level, "end": end, "language": language}, start) for language in languages]
        return min((place for place in steps if place is not None), default=(0, None))[1]

    def _step(self, only: dict[str, Any], start: int) -> tuple[int, int] | None:
        """Return position and query of the first free slot whose pair the rater did not have yet."""
        where = {"round": self.round.pk, "now": self.now, "start": start, "taken": self.taken, **only}
        rows = _near(frozenset(name for name, value in where.items() if value is not None))(**where)
        keys = [pair for _, pair, _ in rows]
        had = self.passed | {pair for (pair,) in HAD(rater=self.rater.pk, pairs=keys)} | self._finished(keys)
        for position, pair, query in rows:
            if pair not in had:
                return position, query
        if len(rows) < NEAR:
            return None
        ahead = _free(where).filter(position__gt=rows[-1][0]).exclude(pair__in=self.passed)
        return self._not_had(ahead).values_list("position", "pair__query").first()

    def _finished(self, pairs: Iterable[int]) -> set[int]:
        """Return the pairs that the rater has finished and does not get again."""
        keys = [*pairs]
        return {pair for (pair,) in _answered(self.leads)(rater=self.rater.pk, pairs=keys)} if keys else set()

    def _not_had(self, slots: QuerySet[Slot]) -> QuerySet[Slot]:
        """Filter slots to pairs that the rater neither holds nor has finished."""
        mine = Slot.objects.filter(pair=OuterRef("pair"), rater=self.rater)
        answers = over(self.rater) | given_back(self.rater) if self.leads else over(self.rater)
        return slots.filter(~Exists(mine), ~Exists(answers.filter(pair=OuterRef("pair"))))

    def _reads_all(self) -> bool:
        return len(self.languages) == len(self.made)

    def _readable(self, slots: QuerySet[Slot]) -> QuerySet[Slot]:
        return slots if self._reads_all() else slots.filter(language__in=self.languages)

    @cached_property
    def held(self) -> dict[int, str]:
        """The pairs that the rater holds, with the language of each."""
        return dict(HELD(round=self.round.pk, rater=self.rater.pk))

    @property
    def left(self) -> int:
        """The number of other pairs with a slot for the rater."""
        held = self.held
        done = {pair for (pair,) in _answered(False)(rater=self.rater.pk, pairs=[*held])} if held else set()
        holds = sum(pair not in done and language in self.languages for pair, language in held.items())
        rows = PLACES(round=self.round.pk)
        full = sum(places.get(f"full:{one}", 0) for _, places in rows for one in self.languages)
        mine = next((places for rater, places in rows if rater == self.rater.pk), {})
        had = sum(mine.get(f"had:{one}", 0) for one in self.languages)
        return sum(self.made[one] for one in self.languages) - full - had - holds - self._blocked() - self._seen()

    def queries(self) -> set[int]:
        """Return the queries with slots for the rater. This reads every free slot and is meant for small rounds."""
        free = Slot.objects.filter(nobody(self.now), round=self.round, filled_by__isnull=True)
        rows = self._not_had(self._readable(free)).order_by().values_list("pair__query", flat=True).distinct()
        return {*rows, *in_hand(self.round, self.rater).values_list("pair__query", flat=True)}

    def _seen(self) -> int:
        """Return how many unfinished pairs a lead does not get because they may have seen grades of them."""
        if not self.leads:
            return 0
        back = given_back(self.rater).filter(pair__round=self.round).values("pair")
        wanting = Slot.objects.filter(filled_by__isnull=True, pair__in=back)
        mine = Slot.objects.filter(pair=OuterRef("pair"), rater=self.rater)
        rows = self._readable(wanting).filter(~Exists(mine), ~Exists(over(self.rater).filter(pair=OuterRef("pair"))))
        return rows.order_by().values("pair").distinct().count()

    def _blocked(self) -> int:
        """Return how many unfinished pairs that the rater never had are completely held by other raters."""
        blocked = _blocked(self._reads_all())
        rows = blocked(round=self.round.pk, now=self.now, rater=self.rater.pk, languages=self.languages)
        keys = [pair for (pair,) in rows]
        parts = (keys[begin : begin + MOST_KEYS] for begin in range(0, len(keys), MOST_KEYS))
        return len(keys) - sum(len(self._finished(part)) for part in parts)


MEMBER = Compiled(
    lambda: (
        Membership.objects.filter(collection=Given("collection"), user=Given("rater"))
        .order_by()
        .values_list("role", "languages")
    )
)
HAD = Compiled(
    lambda: Slot.objects.filter(rater=Given("rater"), pair__pk__among=Given("pairs")).order_by().values_list("pair")
)
HELD = Compiled(lambda: in_hand(Given("round"), Given("rater")).values_list("pair", "language"))
PLACES = Compiled(lambda: Tally.objects.filter(round=Given("round")).values_list("rater", "places"))


def _free(where: Mapping[str, Any]) -> QuerySet[Slot]:
    """Return the free slots of a round from a position on, in order."""
    slots = Slot.objects.filter(nobody(where["now"]), round=where["round"], filled_by__isnull=True)
    slots = slots.exclude(pk__among=where["taken"]).filter(position__gte=where["start"]).order_by("position")
    further = {"level": "number", "end": "position__lt", "language": "language"}
    return slots.filter(**{lookup: where[name] for name, lookup in further.items() if where.get(name) is not None})


@cache
def _near(names: frozenset[str]) -> Compiled:
    where = {name: Given(name) for name in names}
    return Compiled(lambda: _free(where).values_list("position", "pair", "pair__query")[:NEAR])


@cache
def _answered(leads: bool) -> Compiled:
    """Compile the query for the pairs, among some pairs, that the rater has finished."""
    rater = Given("rater")
    answers = over(rater) | given_back(rater) if leads else over(rater)
    return Compiled(lambda: answers.filter(pair__pk__among=Given("pairs")).values_list("pair"))


@cache
def _places_of_query(by_level: bool, every_language: bool) -> Compiled:
    """Compile the query for the free slots of a query's pairs, and the rater's own there."""
    pairs = Pair.objects.filter(round=Given("round"), query=Given("query")).order_by().values("pk")
    free = nobody(Given("now")) & unanswered()
    if by_level:
        free &= Q(number__lte=Given("level"))
    slots = Slot.objects.filter(free | Q(rater=Given("rater")), pair__pk__among=pairs)
    slots = slots if every_language else slots.filter(language__among=Given("languages"))
    return Compiled(lambda: slots.order_by("position", "-number").values_list("pk", "pair", "position", "rater"))


@cache
def _blocked(every_language: bool) -> Compiled:
    """Compile the query for pairs that other raters hold and that have no free slot."""
    elsewhere = leased(Given("round"), Given("now")).exclude(rater=Given("rater"))
    elsewhere = elsewhere if every_language else elsewhere.filter(language__among=Given("languages"))
    free = Q(pair__slots__filled_by__isnull=True) & nobody(Given("now"), "pair__slots__")
    counted = elsewhere.values("pair").annotate(
        free=Count("pair__slots", filter=free),
        mine=Count("pair__slots", filter=Q(pair__slots__rater=Given("rater"))),
    )
    return Compiled(lambda: counted.filter(free=0, mine=0).values_list("pair"))


def in_hand(round_: Round, rater: User) -> QuerySet[Slot]:
    """Return the slots that the rater was given and has not answered, with or without a valid lease."""
    return Slot.objects.filter(round=round_, rater=rater, filled_by__isnull=True).order_by()


def leased(round_: Round, now: datetime) -> QuerySet[Slot]:
    """Return the slots with a valid lease."""
    held = Slot.objects.filter(round=round_, rater__isnull=False, filled_by__isnull=True)
    return held.filter(lease_until__gte=now).order_by()


def unfilled(round_: Round) -> int:
    """Return how many ratings are missing, including those of leased slots."""
    made = Round.objects.values_list("slots_made", flat=True).get(pk=round_.pk)
    return made - sum(Tally.objects.filter(round=round_).values_list("filled", flat=True))


def planned_unfilled(round_: Round) -> int:
    """Return how many planned ratings are missing."""
    missing = unfilled(round_)
    return missing if round_.extra_at is None else missing - beyond_plan(round_).filter(filled_by__isnull=True).count()


def beyond_plan(round_: Round) -> QuerySet[Slot]:
    """Return the slots of extra ratings beyond the plan."""
    return Slot.objects.filter(round=round_, number__gt=F("pair__ratings_wanted")).order_by()
