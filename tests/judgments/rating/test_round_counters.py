"""Tests of round counters: after random actions they equal counts from the judgments."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from assay.core.errors import AssayError
from judgments.agreement import resolutions
from judgments.models import Judgment, Membership, Pair, Query, Round, RoundRater, Slot, Tally
from judgments.quality import pausing
from judgments.rating import assignment, pair_state, submission
from judgments.rounds import unfillable_slots
from judgments.rounds.settings import RoundSettings

pytestmark = pytest.mark.django_db

SEED, STEPS, STEPS_BETWEEN = 11, 120, 6
SETTINGS = {
    "each query to its end": {"overlap": 0.5, "extra_at": 2, "extra_most": 2},
    "breadth first": {"breadth_first": True, "extra_at": 1},
    "by language": {"by_language": True, "overlap": 1.0, "extra_at": 2},
}


class Walk:
    """Raters who do anything at any time; chance is drawn from a seed."""

    def __init__(self, round_: Any, raters: list[Any], lead: Any, seed: int) -> None:
        self.round, self.raters, self.lead = round_, raters, lead
        self.chance = random.Random(seed)
        self.submitted: list[tuple[Any, submission.Answer]] = []

    def step(self) -> str:
        act = self.chance.choice([self.claim] * 3 + [self.submit] * 8 + [self.late] * 3 + [self.undo, self.again])
        if self.chance.random() < 0.2:
            act = self.chance.choice([self.requeue, self.release, self.read_another, self.settle])
        rater = self.chance.choice(self.raters)
        try:
            act(rater)
        except AssayError as refusal:
            return f"{act.__name__}: {refusal}"
        return act.__name__

    def claim(self, rater: Any) -> None:
        held = assignment.claim_batch(self.round, rater=rater, size=self.chance.randint(1, 4))
        ids = [pair.pk for pair in held]
        assert len(set(ids)) == len(ids)
        done = Judgment.objects.filter(rater=rater, pair__in=ids)
        assert not done.filter(state="requeued").exists()
        assert not Slot.objects.filter(rater=rater, pair__in=ids, filled_by__isnull=False).exists()

    def submit(self, rater: Any) -> None:
        handed = Pair.objects.filter(handouts__rater=rater).order_by("pk")
        pairs = self.chance.sample(list(handed), min(handed.count(), self.chance.randint(1, 3)))
        answers = [self.answer(pair) for pair in pairs]
        for answer, receipt in zip(answers, submission.submit_all(self.round, answers, rater=rater), strict=True):
            if isinstance(receipt, submission.Receipt):
                self.submitted.append((rater, answer))

    def answer(self, pair: Pair) -> submission.Answer:
        state = self.chance.choice(["graded"] * 6 + ["unrateable", "later"])
        return submission.Answer(
            client_id=uuid.UUID(int=self.chance.getrandbits(128), version=4),
            pair=pair.uuid,
            state=state,
            grade=self.chance.randint(0, 3) if state == "graded" else None,
            seconds_active=self.chance.choice([None, 0.0, 2.5, 8.0, 60.0]),
        )

    def again(self, _: Any) -> None:
        if self.submitted:
            rater, answer = self.chance.choice(self.submitted)
            submission.submit_all(self.round, [answer], rater=rater)

    def undo(self, _: Any) -> None:
        if self.submitted:
            rater, answer = self.chance.choice(self.submitted)
            submission.undo(self.round, answer.client_id, rater=rater)

    def late(self, rater: Any) -> None:
        past = timezone.now() - timedelta(seconds=1)
        Slot.objects.filter(rater=rater, filled_by__isnull=True).update(lease_until=past)

    def release(self, rater: Any) -> None:
        assignment.release(self.round, rater, for_good=self.chance.random() < 0.5)

    def requeue(self, rater: Any) -> None:
        round_rater = RoundRater.objects.get(round=self.round, user=rater)
        pausing.requeue(
            round_rater,
            pausing.JudgmentFilter(queries=(self.chance.choice(["q1", "q2"]),)),
            reason="Too quick.",
            actor=self.lead,
        )

    def settle(self, _: Any) -> None:
        pair = self.chance.choice(list(self.round.pairs.filter(spread__gt=0)) or list(self.round.pairs.all()))
        resolutions.resolve(pair, grade=self.chance.randint(0, 3), reason="Read again.", actor=self.lead)

    def read_another(self, rater: Any) -> None:
        reads = self.chance.choice([[], ["de"], ["de", "fr"]])
        Membership.objects.filter(user=rater).update(languages=reads)


def left_to(round_: Any, rater: Any) -> int:
    """Counted row by row: what the rater holds, and pairs with a free slot that they are not done with."""
    now = timezone.now()
    reads = Membership.objects.get(collection=round_.collection, user=rater).languages
    over = Judgment.objects.filter(rater=rater, surplus=True) | Judgment.objects.filter(rater=rater, state="requeued")
    done = set(over.values_list("pair", flat=True))
    if Membership.objects.filter(collection=round_.collection, user=rater, role="lead").exists():
        # Whoever leads may have read the grades of what others took back, or what was set aside.
        back = Judgment.objects.filter(state__in=["undone", "requeued"]).exclude(rater=rater)
        done |= set(back.values_list("pair", flat=True))
    number = 0
    for pair in round_.pairs.prefetch_related("slots").select_related("query"):
        mine = [slot for slot in pair.slots.all() if slot.rater_id == rater.pk]
        free = [
            slot
            for slot in pair.slots.all()
            if slot.filled_by_id is None and (slot.rater_id is None or slot.lease_until < now)
        ]
        if mine:
            number += mine[0].filled_by_id is None
        elif free and pair.pk not in done:
            number += not (round_.by_language and reads and pair.query.language and pair.query.language not in reads)
    return number


def nobody_may_take(round_: Any, raters: list[Any]) -> int:
    """Counted row by row: the places of each pair beyond the raters who hold it or may be handed it."""
    number = 0
    for pair in round_.pairs.prefetch_related("slots").select_related("query"):
        open_ = [slot for slot in pair.slots.all() if slot.filled_by_id is None]
        number += max(0, len(open_) - sum(may_give(round_, pair, rater) for rater in raters))
    return number


def may_give(round_: Any, pair: Pair, rater: Any) -> bool:
    member = Membership.objects.get(collection=round_.collection, user=rater)
    reads = not (round_.by_language and member.languages and pair.query.language) or (
        pair.query.language in member.languages
    )
    events = Judgment.objects.filter(pair=pair)
    done = any(slot.rater_id == rater.pk and slot.filled_by_id for slot in pair.slots.all())
    done |= any(row.surplus or row.state == "requeued" for row in events.filter(rater=rater))
    back = events.filter(state__in=["undone", "requeued"]).exclude(rater=rater)
    return reads and not done and not (member.role == "lead" and back.exists())


def check(round_: Any, raters: list[Any]) -> None:
    stored = {tally.rater_id: tally for tally in Tally.objects.filter(round=round_)}
    full: Counter[str] = Counter()
    for rater, counted in pair_state.recount(round_).items():
        stored_tally = stored.get(rater, Tally())
        for name in ("graded", "unrateable", "later", "surplus", "filled", "events", "seconds"):
            assert getattr(stored_tally, name) == getattr(counted, name), name
        for side, tally in ((1, stored_tally), (-1, counted)):
            for place, number in tally.places.items():
                full[place if place.startswith("full") else f"{rater} {place}"] += side * number
    assert not any(full.values())
    for pair in round_.pairs.all():
        grades = list(Judgment.objects.counted().filter(pair=pair).values_list("grade", flat=True))
        assert pair.spread == (max(grades) - min(grades) if grades else 0)
        extra = pair.slots.filter(number__gt=pair.ratings_wanted)
        assert extra.count() <= round_.extra_most
        assert not (pair.resolved and extra.filter(filled_by__isnull=True).exists())
    made = Round.objects.get(pk=round_.pk)
    assert (made.pairs_made, made.slots_made) == (round_.pairs.count(), round_.slots.count())
    for rater in raters:
        assert assignment.remaining(round_, rater) == left_to(round_, rater)
    assert sum(shortage.places for shortage in unfillable_slots.shortages(round_)) == nobody_may_take(round_, raters)
    filled = round_.slots.filter(filled_by__isnull=False)
    assert Judgment.objects.filter(slot__in=filled, superseded_by__isnull=True).count() == filled.count()


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SETTINGS))
def test_counters_equal_a_recount(
    make_round: Callable[..., Any], lead: Any, rater: Any, rater2: Any, rater3: Any, collection: Any, name: str
) -> None:
    raters = [rater, rater2, rater3, lead]
    for number, language in enumerate(["", "de", "fr"], 1):
        Query.objects.create(collection=collection, query_id=f"q{number}", text=f"query {number}", language=language)
    round_ = make_round(queries=3, documents=3, raters=raters, settings=RoundSettings(**SETTINGS[name]))
    walk = Walk(round_, raters, lead, seed=SEED)
    done: Counter[str] = Counter()
    called_in = False
    for step in range(STEPS):
        done[walk.step().split(":")[0]] += 1
        called_in |= round_.slots.filter(number__gt=F("pair__ratings_wanted")).exists()
        if step % STEPS_BETWEEN == 0:
            check(round_, raters)
    check(round_, raters)
    assert done["submit"] > 30
    # The walk came by what it is for.
    assert Judgment.objects.filter(surplus=True).exists()
    assert Judgment.objects.filter(state="requeued").exists()
    assert called_in
    assert round_.pairs.filter(resolved=True).exists()


def test_an_extra_rating_is_requested_and_canceled(
    make_round: Callable[..., Any], answer: Callable[..., Any], rater: Any, rater2: Any, rater3: Any
) -> None:
    settings = RoundSettings(extra_at=2, extra_most=1)
    round_ = make_round(queries=1, documents=1, raters=[rater, rater2, rater3], settings=settings)
    for user in (rater, rater2):
        assignment.claim_batch(round_, rater=user)
    pair = round_.pairs.get()
    answer(round_, rater, pair, 0)
    assert assignment.claim_batch(round_, rater=rater3) == []
    far = answer(round_, rater2, pair, 3)
    assert assignment.remaining(round_, rater3) == 1
    submission.undo(round_, far.judgment.client_id, rater=rater2)
    assert assignment.remaining(round_, rater3) == 0
    assert round_.slots.count() == Round.objects.get(pk=round_.pk).slots_made == 2
    answer(round_, rater2, pair, 2)
    assert assignment.claim_batch(round_, rater=rater3) == [pair]
    answer(round_, rater3, pair, 2)
    assert round_.slots.count() == 3
    assert Judgment.objects.counted().count() == 3
    # Still apart, and nobody further is called in; what was planned stays what it was.
    assert (round_.pairs.get().spread, round_.pairs.get().ratings_wanted) == (2, 2)


def test_medians_of_classes_are_near_those_of_the_lengths() -> None:
    chance = random.Random(5)
    lengths = sorted(chance.lognormvariate(2, 0.8) for _ in range(501))
    counted = Counter(pair_state.seconds_class(length) for length in lengths)
    median = pair_state.median_seconds(counted)
    assert median is not None
    assert abs(median / lengths[250] - 1) < 0.05
