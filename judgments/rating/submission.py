"""Submission of judgments: record a rater's answers and undo them.

Every answer is stored, including one after its lease expired or for a full pair, which is surplus. An answer sent twice
with the same client id is recorded once.
"""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from typing import NamedTuple

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from assay.core.errors import AssayError, Conflict, NotFound
from judgments import hooks
from judgments.models import Judgment, ProbeAnswer, Round, Slot, User
from judgments.rating import extra_ratings, inserted_checks
from judgments.rating import inserted_checks as inserted_check_answers
from judgments.rating.answer_transaction import STANDS, STANDS_BY_IT, Intake, leads, locked_pairs, refusals
from judgments.rating.answers import Answer, Receipt
from judgments.rating.assignment import LEASE
from judgments.rating.group_commit import Together

__all__ = ["Answer", "Receipt", "last_answer", "submit", "submit_all", "undo"]

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
    results = _record_together([request])[0] if connection.in_atomic_block else together.do(round_.pk, request)
    hooks.notify_choosers(round_)
    return results


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
        if done is not None or inserted_check_answers.recorded({(rater.pk, again)}):
            raise Conflict(inserted_check_answers.STANDS_FOR_ANOTHER)
        if refusal := refusals(round_, [rater]).get(rater.pk):
            raise refusal
        if Judgment.objects.filter(supersedes=judgment).exists():
            raise Conflict("This answer was changed later. Undo the newer one.")
        others = Judgment.objects.filter(pair=pair, state=Judgment.State.GRADED).exclude(rater=rater)
        if judgment.state in STANDS and leads(round_, rater) and others.exists():
            raise Conflict(STANDS_BY_IT)
        with extra_ratings.updating_counters(round_, [pair], home=rater) as ledger:
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
    answer = inserted_check_answers.recorded({(rater.pk, client_id)}).get((rater.pk, client_id))
    # Answers of a qualification are final, because the rater has seen the expert grade.
    if answer is None or answer.probe.round_id != round_.pk or answer.probe.kind not in inserted_checks.MIXED:
        raise NotFound("No answer with this client id exists.")
    refusal = refusals(round_, [rater]).get(rater.pk)
    with transaction.atomic():
        return inserted_check_answers.undo(answer, uuid_module.uuid5(client_id, "undo"), refusal)


def last_answer(round_: Round, rater: User) -> Judgment | ProbeAnswer | None:
    """Return the rater's newest current answer in the round, which the undo key undoes."""
    mine = Judgment.objects.standing().of_round(round_).filter(rater=rater)
    newest = mine.select_related("pair__query", "pair__document").order_by("-pk").first()
    probed = inserted_check_answers.last_answer(round_, rater)
    return probed if newest is None or (probed and probed.created_at > newest.created_at) else newest
