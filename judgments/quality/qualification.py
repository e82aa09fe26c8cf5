"""Qualification of raters on gold pairs before a round.

The rater grades gold pairs and sees after each one how far off the grade was. Each attempt has all pairs in a new
random order. Raters who reach the required share of correct grades are qualified; others can try again as often as
needed, because qualification is for learning.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from assay.core.errors import Closed, Conflict, NotAllowed, NotFound, NotValid
from judgments.models import GoldPair, Probe, ProbeAnswer, Round, RoundRater, User, audit
from judgments.rating import inserted_checks
from judgments.rating.start_requirements import requires_qualification
from judgments.rating.submission import Answer, check_answer, stored_fields
from judgments.web import access

KIND = Probe.Kind.CALIBRATION


@dataclass(frozen=True)
class Answered:
    """One gold pair of an attempt with the rater's answer."""

    probe: Probe
    answer: ProbeAnswer
    within: int

    @property
    def right(self) -> bool:
        return self.answer.grade is not None and abs(self.answer.grade - self.probe.expected) <= self.within

    @property
    def steps(self) -> int | None:
        """The grade minus the gold grade in steps; None if the rater could not judge."""
        return None if self.answer.grade is None else self.answer.grade - self.probe.expected


@dataclass(frozen=True)
class Sitting:
    """One attempt at the round's qualification, complete or not."""

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
        """The share of correct answers; None without an answer."""
        return self.right / len(self.done) if self.done else None

    @property
    def over(self) -> bool:
        return bool(self.done) and not self.left

    @property
    def passed(self) -> bool:
        """Whether the attempt is complete and reached the pass mark; the margin corrects floating-point errors."""
        return self.over and self.right + 1e-9 >= self.mark * self.total


def sitting(round_: Round, rater: User) -> Sitting:
    """Return the rater's newest attempt."""
    mine = Probe.objects.filter(round=round_, rater=rater, kind=KIND)
    number = mine.aggregate(newest=Max("attempt"))["newest"] or 1
    rows = ProbeAnswer.objects.current().filter(probe__in=mine.filter(attempt=number)).order_by("pk")
    rows = rows.select_related("probe__gold__query", "probe__gold__document")
    done = [Answered(row.probe, row, round_.pass_within) for row in rows]
    pairs = round_.gold.filter(use=GoldPair.Use.CALIBRATION).exclude(pk__in=[one.probe.gold_id for one in done])
    left = sorted(pairs.select_related("query", "document"), key=lambda gold: _turn(round_, rater, number, gold))
    return Sitting(number, done, left, round_.pass_mark or 0.0)


def _turn(round_: Round, rater: User, attempt: int, gold: GoldPair) -> tuple[str, str]:
    """Return the sort key of a pair in an attempt: random for each attempt, with a query's pairs together."""
    pseudonym = round_.raters.values_list("pseudonym", flat=True).get(user=rater)

    def drawn(*parts: object) -> str:
        text = " ".join(map(str, (round_.seed, "calibration", pseudonym, attempt, *parts)))
        return hashlib.sha256(text.encode()).hexdigest()

    return drawn("query", gold.query.query_id), drawn(gold.position)


def next_probe(round_: Round, rater: User) -> Probe | None:
    """Return the pair to grade next and record that it was shown; None if the attempt is complete."""
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
        raise Closed(f"Round {round_} {word}. Ask the lead about the next steps.")
    assignment = round_.raters.filter(user=rater, left_at__isnull=True).select_related("user").first()
    if assignment is None:
        raise NotAllowed(f"You are not a rater of {round_}. Ask the lead to add you.")
    if not requires_qualification(round_):
        raise NotFound(f"Round {round_} requires no qualification. Start rating.")
    return assignment


@transaction.atomic
def answer(round_: Round, submitted: Answer, *, rater: User) -> Answered:
    """Record the answer to one gold pair. It is final, because the response reveals whether it was correct."""
    assignment = _check_open(round_, rater)
    if submitted.state == ProbeAnswer.State.LATER:
        raise NotValid(
            "Gold pairs can't be skipped here. Choose a grade, or Cannot judge.", {"state": "Choose a grade."}
        )
    probes = Probe.objects.select_for_update().filter(round=round_, rater=rater, kind=KIND, uuid=submitted.pair)
    probe = access.existing(probes, inserted_checks.NO_SUCH_PAIR)
    event = ProbeAnswer.objects.current().filter(probe=probe).first()
    if event is None:
        check_answer(round_, submitted)
        event = inserted_checks.record(probe, rater, submitted.client_id, **stored_fields(submitted))
        _end(round_, assignment)
    return Answered(probe, event, round_.pass_within)


def _end(round_: Round, assignment: RoundRater) -> None:
    """Store the result after the last pair of an attempt. A rater who has passed stays qualified."""
    now = sitting(round_, assignment.user)
    if not now.over or assignment.calibrated_at is not None:
        return
    assignment.calibration_share = now.share
    assignment.calibrated_at = timezone.now() if now.passed else None
    assignment.save(update_fields=["calibration_share", "calibrated_at"])


@transaction.atomic
def start_new_attempt(round_: Round, *, rater: User) -> Sitting:
    """Start a new attempt after one below the pass mark. A repeated call starts only one attempt."""
    assignment = _check_open(round_, rater)
    if assignment.calibrated_at is not None:
        raise Conflict("You are already qualified. Start rating.")
    now = sitting(round_, rater)
    if not now.over:
        return now
    again = sorted((one.probe.gold for one in now.done), key=lambda gold: _turn(round_, rater, now.attempt + 1, gold))
    _shown(round_, rater, now.attempt + 1, again[0])
    return sitting(round_, rater)


@transaction.atomic
def waive(assignment: RoundRater, *, actor: User) -> RoundRater:
    """Qualify a rater who has not reached the pass mark; their share does not change."""
    assignment = (
        RoundRater.objects.select_for_update().select_related("round__collection", "user").get(pk=assignment.pk)
    )
    if assignment.calibrated_at is not None:
        raise Conflict(f"{assignment.user} is already qualified.")
    assignment.calibrated_at = timezone.now()
    assignment.save(update_fields=["calibrated_at"])
    sentence = f"{actor} waived the qualification of {assignment.user} in round {assignment.round}"
    collection = assignment.round.collection
    audit.record("calibration.let_pass", sentence, actor=actor, collection=collection, target=assignment.round)
    return assignment


@dataclass(frozen=True)
class Result:
    """A rater's progress in the qualification; ``share`` is that of the last complete attempt."""

    assignment: RoundRater
    attempts: int
    answered: int
    share: float | None
    passed: bool


def results(round_: Round) -> list[Result]:
    """Return the progress of each rater of the round, in the order of their pseudonyms."""
    progress: dict[int, tuple[int, int]] = {}  # by rater: the newest attempt, and its answers
    probes = Probe.objects.filter(round=round_, kind=KIND).order_by("attempt")
    for rater, attempt, answered in probes.values_list("rater", "attempt", "answered"):
        last, answers = progress.get(rater, (0, 0))
        progress[rater] = attempt, answered + (answers if attempt == last else 0)
    return [
        Result(row, *progress.get(row.user_id, (0, 0)), row.calibration_share, row.calibrated_at is not None)
        for row in round_.raters.select_related("user")
    ]
