"""Submission of judgments: record a rater's answers and undo them.

Every answer is stored: one that comes after its lease expired, or when the pair is full, is recorded too, as surplus.
An answer sent twice with one client id is recorded once.
"""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from typing import NamedTuple

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from judgments import extras, growing, probe_answers, probing
from judgments.answers import Answer, Receipt
from judgments.assignment import LEASE
from judgments.core.errors import AssayError, Conflict, NotFound
from judgments.core.together import Together
from judgments.intake import STANDS, STANDS_BY_IT, Intake, leads, locked_pairs, refusals
from judgments.models import Judgment, ProbeAnswer, Round, Slot, User

__all__ = ["Answer", "Receipt", "last_answer", "submit", "submit_all", "undo"]

# So many requests share one transaction at most: what is locked is locked for all of them.
MOST_TOGETHER = 32


def submit(round_: Round, answer: Answer, *, rater: User) -> Receipt:
    """Record one answer.

    Parameters
    ----------
    round_ : Round
        The round that the pair is in.
    answer : Answer
        Made by the rater's client, with an id of the client's own.
    rater : User
        Who answers.

    Returns
    -------
    Receipt
        The judgment, and whether it is new.

    Raises
    ------
    NotValid
        The grade is not on the scale, or the state is unknown.
    NotFound
        The round has no such pair.
    Conflict
        The pair was never leased to this rater, or the client id stands for another pair.
    Closed
        The round takes no answers.
    """
    (result,) = submit_all(round_, [answer], rater=rater)
    if isinstance(result, AssayError):
        raise result
    return result


def submit_all(round_: Round, answers: Sequence[Answer], *, rater: User) -> list[Receipt | AssayError]:
    """Record several answers of one rater, each on its own: what is wrong with one is no reason to lose the others.

    They are written together, so that a batch costs one wait for the disk; and so are those that other raters send to
    this process meanwhile. Nobody hears that an answer is recorded before its transaction has ended.

    Returns
    -------
    list
        For each answer its receipt, or the error that :func:`submit` would raise.
    """
    sent = _Request(round_, rater, answers)
    # What others send must not hang on a transaction of the caller's that may still be rolled back.
    taken = _taken([sent])[0] if connection.in_atomic_block else together.do(round_.pk, sent)
    growing.wake(round_)
    return taken


class _Request(NamedTuple):
    """What one request brings."""

    round: Round
    rater: User
    answers: Sequence[Answer]


def _taken(requests: Sequence[_Request]) -> list[list[Receipt | AssayError]]:
    """What became of the answers of each request; all of them belong to one round."""
    try:
        return _in_one_transaction(requests, carefully=False)
    except IntegrityError:
        return _in_one_transaction(requests, carefully=True)


def _in_one_transaction(requests: Sequence[_Request], *, carefully: bool) -> list[list[Receipt | AssayError]]:
    """All answers in one transaction; carefully, where one of them may be refused by the database."""
    sent = [(request.rater, answer) for request in requests for answer in request.answers]
    if not sent:
        return [[] for _ in requests]
    with transaction.atomic():
        intake = Intake(requests[0].round, sent, carefully=carefully)
        taken = iter([intake.take(rater, answer) for rater, answer in sent])
        intake.close()
    return [[next(taken) for _ in request.answers] for request in requests]


together = Together(_taken, MOST_TOGETHER)


def undo(round_: Round, client_id: uuid_module.UUID, *, rater: User) -> Judgment | ProbeAnswer:
    """Take an answer back: a new event that supersedes it. The pair is in the rater's hand again.

    Undoing twice is undoing once; what stands no more cannot be taken back.
    """
    judgment = Judgment.objects.filter(rater=rater, client_id=client_id, pair__round=round_).first()
    if judgment is None:
        return _undo_probed(round_, client_id, rater)
    again = uuid_module.uuid5(client_id, "undo")
    with transaction.atomic():
        pair = locked_pairs().get(pk=judgment.pair_id)
        # Asked for once the pair is locked: of two that come at the same moment the second finds the first's event.
        done = Judgment.objects.filter(rater=rater, client_id=again).first()
        if done is not None and done.supersedes_id == judgment.pk:
            return done
        if done is not None or probe_answers.recorded({(rater.pk, again)}):
            raise Conflict(probe_answers.STANDS_FOR_ANOTHER)
        if refusal := refusals(round_, [rater]).get(rater.pk):
            raise refusal
        if Judgment.objects.filter(supersedes=judgment).exists():
            raise Conflict("This answer was changed since; undo the newer one.")
        others = Judgment.objects.filter(pair=pair, state=Judgment.State.GRADED).exclude(rater=rater)
        if judgment.state in STANDS and leads(round_, rater) and others.exists():
            raise Conflict(STANDS_BY_IT)
        with extras.kept(round_, [pair], home=rater) as ledger:
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


def _undo_probed(round_: Round, client_id: uuid_module.UUID, rater: User) -> ProbeAnswer:
    """The same for an answer to what was mixed in."""
    answer = probe_answers.recorded({(rater.pk, client_id)}).get((rater.pk, client_id))
    # What a calibration asked is final: what is right was told at once.
    if answer is None or answer.probe.round_id != round_.pk or answer.probe.kind not in probing.MIXED:
        raise NotFound("There is no answer with this client id.")
    refusal = refusals(round_, [rater]).get(rater.pk)
    with transaction.atomic():
        return probe_answers.undo(answer, uuid_module.uuid5(client_id, "undo"), refusal)


def last_answer(round_: Round, rater: User) -> Judgment | ProbeAnswer | None:
    """The rater's newest answer in the round that still stands: what ``z`` takes back."""
    mine = Judgment.objects.standing().of_round(round_).filter(rater=rater)
    newest = mine.select_related("pair__query", "pair__document").order_by("-pk").first()
    probed = probe_answers.last_answer(round_, rater)
    return probed if newest is None or (probed and probed.created_at > newest.created_at) else newest
