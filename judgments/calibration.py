"""Qualification of raters on gold pairs before a round.

The rater grades gold pairs and sees after each one how far off the grade was. An attempt goes through all of them in
an order of its own. A rater who gets the share right that the round requires is qualified; otherwise the rater can
try again, as often as needed: qualification is for learning, not for keeping anyone out.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from judgments import audit, probe_answers
from judgments.answers import Answer, check_answer, given
from judgments.core.errors import Closed, Conflict, NotAllowed, NotFound, NotValid
from judgments.models import GoldPair, Probe, ProbeAnswer, Round, RoundRater, User
from judgments.readiness import asked_for

KIND = Probe.Kind.CALIBRATION


@dataclass(frozen=True)
class Answered:
    """One pair of a sitting with what the rater said of it."""

    probe: Probe
    answer: ProbeAnswer
    within: int

    @property
    def right(self) -> bool:
        return self.answer.grade is not None and abs(self.answer.grade - self.probe.expected) <= self.within

    @property
    def steps(self) -> int | None:
        """How many steps too high, below zero too low; None where they could not judge."""
        return None if self.answer.grade is None else self.answer.grade - self.probe.expected


@dataclass(frozen=True)
class Sitting:
    """One time through the round's calibration, as far as it went."""

    attempt: int
    done: list[Answered]
    left: list[GoldPair]
    mark: float

    @property
    def total(self) -> int:
        return len(self.done) + len(self.left)

    @property
    def right(self) -> int:
        return sum(one.right for one in self.done)

    @property
    def share(self) -> float | None:
        """The share that was right; None as long as nothing is answered."""
        return self.right / len(self.done) if self.done else None

    @property
    def over(self) -> bool:
        return bool(self.done) and not self.left

    @property
    def passed(self) -> bool:
        """Whether the sitting is over and reached the mark. A share of 0.8 of ten is eight, whatever float says."""
        return self.over and self.right + 1e-9 >= self.mark * self.total


def sitting(round_: Round, rater: User, attempt: int | None = None) -> Sitting:
    """The rater's sitting of this number; the newest when None."""
    mine = Probe.objects.filter(round=round_, rater=rater, kind=KIND)
    number = attempt or mine.aggregate(newest=Max("attempt"))["newest"] or 1
    rows = ProbeAnswer.objects.current().filter(probe__in=mine.filter(attempt=number)).order_by("pk")
    rows = rows.select_related("probe__gold__query", "probe__gold__document")
    done = [Answered(row.probe, row, round_.pass_within) for row in rows]
    pairs = round_.gold.filter(use=GoldPair.Use.CALIBRATION).exclude(pk__in=[one.probe.gold_id for one in done])
    left = sorted(pairs.select_related("query", "document"), key=lambda gold: _turn(round_, rater, number, gold))
    return Sitting(number, done, left, round_.pass_mark or 0.0)


def _turn(round_: Round, rater: User, attempt: int, gold: GoldPair) -> tuple[str, str]:
    """The place of a pair in a sitting: drawn anew for each, the pairs of a query together."""
    pseudonym = round_.raters.values_list("pseudonym", flat=True).get(user=rater)

    def drawn(*parts: object) -> str:
        text = " ".join(map(str, (round_.seed, "calibration", pseudonym, attempt, *parts)))
        return hashlib.sha256(text.encode()).hexdigest()

    return drawn("query", gold.query.query_id), drawn(gold.position)


def next_probe(round_: Round, rater: User) -> Probe | None:
    """What the rater is to grade next; it is on record that they saw it. None when the sitting is over.

    Raises
    ------
    NotFound, Closed, NotAllowed
        There is no calibration, the round is not open, or the rater was not asked.
    """
    _check_open(round_, rater)
    now = sitting(round_, rater)
    return _shown(round_, rater, now.attempt, now.left[0]) if now.left else None


def _shown(round_: Round, rater: User, attempt: int, gold: GoldPair) -> Probe:
    probe, _ = Probe.objects.get_or_create(
        rater=rater, gold=gold, attempt=attempt, defaults={"round": round_, "kind": KIND, "expected": gold.grade}
    )
    return probe


def _check_open(round_: Round, rater: User) -> RoundRater:
    if round_.state != Round.State.OPEN:
        word = "has not been opened yet" if round_.state == Round.State.DRAFT else "is closed"
        raise Closed(f"Round {round_} {word}. Ask the lead what comes next.")
    asked = round_.raters.filter(user=rater, left_at__isnull=True).select_related("user").first()
    if asked is None:
        raise NotAllowed(f"You were not asked to rate in {round_}.")
    if not asked_for(round_):
        raise NotFound(f"Round {round_} has no calibration: begin right away.")
    return asked


@transaction.atomic
def answer(round_: Round, sent: Answer, *, rater: User) -> Answered:
    """Take the answer to one pair of the calibration. It is final: what comes next tells whether it was right.

    Sent again, or from a second window, the first answer stands.

    Raises
    ------
    NotFound
        The calibration of this rater holds no such pair.
    NotValid
        The grade is not on the scale, or the pair was put off.
    """
    asked = _check_open(round_, rater)
    if sent.state == ProbeAnswer.State.LATER:
        raise NotValid("Here nothing is put off: choose a grade, or say that you cannot judge.", {"state": "A grade."})
    probes = Probe.objects.select_for_update().filter(round=round_, rater=rater, kind=KIND, uuid=sent.pair)
    probe = probes.first()
    if probe is None:
        raise NotFound(probe_answers.NO_SUCH_PAIR)
    event = ProbeAnswer.objects.current().filter(probe=probe).first()
    if event is None:
        check_answer(round_, sent)
        event = probe_answers.record(probe, rater, sent.client_id, **given(sent))
        _end(round_, asked)
    return Answered(probe, event, round_.pass_within)


def _end(round_: Round, asked: RoundRater) -> None:
    """Where that was the last pair of the sitting, keep how it went; once passed stays passed."""
    now = sitting(round_, asked.user)
    if not now.over or asked.calibrated_at is not None:
        return
    asked.calibration_share = now.share
    asked.calibrated_at = timezone.now() if now.passed else None
    asked.save(update_fields=["calibration_share", "calibrated_at"])


@transaction.atomic
def sit_again(round_: Round, *, rater: User) -> Sitting:
    """Begin a new sitting after one that did not reach the mark; asked twice it begins once.

    Raises
    ------
    Conflict
        The rater has passed.
    """
    asked = _check_open(round_, rater)
    if asked.calibrated_at is not None:
        raise Conflict("You have passed the calibration already: go on to the round.")
    now = sitting(round_, rater)
    if not now.over:
        return now
    again = sorted((one.probe.gold for one in now.done), key=lambda gold: _turn(round_, rater, now.attempt + 1, gold))
    _shown(round_, rater, now.attempt + 1, again[0])
    return sitting(round_, rater)


@transaction.atomic
def let_pass(asked: RoundRater, *, actor: User) -> RoundRater:
    """Let a rater begin without having reached the mark; their share stays on record as it is.

    Raises
    ------
    Conflict
        They have passed already.
    """
    asked = RoundRater.objects.select_for_update().select_related("round__collection", "user").get(pk=asked.pk)
    if asked.calibrated_at is not None:
        raise Conflict(f"{asked.user} has passed the calibration already.")
    asked.calibrated_at = timezone.now()
    asked.save(update_fields=["calibrated_at"])
    sentence = f"{actor} let {asked.user} begin in round {asked.round} without the calibration's mark"
    collection = asked.round.collection
    audit.record("calibration.let_pass", sentence, actor=actor, collection=collection, target=asked.round)
    return asked


@dataclass(frozen=True)
class Result:
    """How far a rater is with the calibration; ``share`` is that of the last sitting that came to its end."""

    asked: RoundRater
    attempts: int
    answered: int
    share: float | None
    passed: bool


def results(round_: Round) -> list[Result]:
    """How far each rater of the round is, in the order of their pseudonyms."""
    newest: dict[int, int] = {}
    answered: dict[tuple[int, int], int] = {}
    for rater, attempt, done in Probe.objects.filter(round=round_, kind=KIND).values_list(
        "rater", "attempt", "answered"
    ):
        newest[rater] = max(newest.get(rater, 0), attempt)
        answered[rater, attempt] = answered.get((rater, attempt), 0) + done
    return [
        Result(
            asked,
            newest.get(asked.user_id, 0),
            answered.get((asked.user_id, newest.get(asked.user_id, 0)), 0),
            asked.calibration_share,
            asked.calibrated_at is not None,
        )
        for asked in round_.raters.select_related("user")
    ]
