"""Answers to gold pairs and repeats that were mixed into a rater's work.

They are submitted, changed and undone like answers to any pair, with the same messages. However, each is an event in a
separate table, fills no slot and never counts.
"""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Collection
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from assay.core.errors import AssayError, Conflict, NotFound
from judgments.models import Judgment, Probe, ProbeAnswer, Round, User
from judgments.models.compiled_queries import Compiled, Given
from judgments.rating.inserted_checks import MIXED

NO_SUCH_PAIR = "This round has no such pair."
NEVER_LEASED = "This pair was never leased to you. Lease a batch first."
STANDS_FOR_ANOTHER = "This client id was used for another pair. Use a new id for every answer."


def answers_of(round_: Round, rater: User) -> QuerySet[ProbeAnswer]:
    """Return the rater's current answers to gold pairs and repeats."""
    return ProbeAnswer.objects.current().filter(rater=rater, probe__round=round_, probe__kind__in=MIXED)


def recorded(ids: Collection[tuple[int, uuid_module.UUID]]) -> dict[tuple[int, uuid_module.UUID], ProbeAnswer]:
    """Return the answers recorded before under these client ids, in any round, because an id identifies one answer."""
    # Usually there is none, so only keys are read first.
    rows = RECORDED(raters={rater for rater, _ in ids}, client_ids={one for _, one in ids})
    keys = [key for key, *whose in rows if tuple(whose) in ids]
    answers = ProbeAnswer.objects.filter(pk__in=keys).select_related("probe") if keys else ()
    return {(row.rater_id, row.client_id): row for row in answers}


RECORDED = Compiled(
    lambda: (
        ProbeAnswer.objects.filter(rater__pk__among=Given("raters"), client_id__among=Given("client_ids"))
        .order_by()
        .values_list("pk", "rater", "client_id")
    )
)


def probe_of(round_: Round, rater: User, uuid: uuid_module.UUID) -> Probe:
    """Return the inserted check that an answer is for, locked for this transaction."""
    probe = Probe.objects.select_for_update().filter(round=round_, uuid=uuid, kind__in=MIXED).first()
    if probe is None:
        raise NotFound(NO_SUCH_PAIR)
    if probe.rater_id != rater.pk:
        raise Conflict(NEVER_LEASED)
    return probe


def record(probe: Probe, rater: User, client_id: uuid_module.UUID, **fields: Any) -> ProbeAnswer:
    """Record an answer to an inserted check as an event that supersedes the earlier one."""
    newest = ProbeAnswer.objects.filter(probe=probe, superseded_by__isnull=True).first()
    try:
        with transaction.atomic():
            event = ProbeAnswer.objects.create(
                probe=probe, rater=rater, client_id=client_id, supersedes=newest, **fields
            )
    except IntegrityError:
        raise Conflict(STANDS_FOR_ANOTHER) from None
    probe.answered = event.state in (ProbeAnswer.State.GRADED, ProbeAnswer.State.UNRATEABLE)
    probe.save(update_fields=["answered"])
    return event


def last_answer(round_: Round, rater: User) -> ProbeAnswer | None:
    """Return the rater's newest current answer to a gold pair or repeat."""
    return answers_of(round_, rater).select_related("probe").order_by("-pk").first()


def undo(answer: ProbeAnswer, again: uuid_module.UUID, refusal: AssayError | None) -> ProbeAnswer:
    """Undo an answer inside the caller's transaction; the inserted check waits for an answer again."""
    Probe.objects.select_for_update().get(pk=answer.probe_id)
    done = ProbeAnswer.objects.filter(rater=answer.rater, client_id=again).first()
    if done is not None and done.supersedes_id == answer.pk:
        return done
    if done is not None or Judgment.objects.filter(rater=answer.rater, client_id=again).exists():
        raise Conflict(STANDS_FOR_ANOTHER)
    if refusal is not None:
        raise refusal
    if ProbeAnswer.objects.filter(supersedes=answer).exists():
        raise Conflict("This answer was changed later. Undo the newer one.")
    return record(answer.probe, answer.rater, again, state=ProbeAnswer.State.UNDONE)
