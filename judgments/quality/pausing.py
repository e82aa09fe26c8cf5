"""Pause a rater, and exclude a rater's judgments so that other raters grade these pairs again.

Nothing is deleted: an event supersedes the excluded judgment, and its slot is free for another rater. The first rater
never gets the pair again.
"""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from judgments.jobs import jobs
from judgments.models import Job, Judgment, Pair, Round, RoundRater, Slot, audit
from judgments.models.pair import JudgmentQuerySet
from judgments.rating import assignment, pair_state

LONGEST_REASON = 500
PART = 500
# A job excludes larger numbers of judgments.
AT_ONCE = 2_000
# Databases limit the number of parameters of a query.
MOST_QUERIES = 10_000
EXCLUDABLE = (Judgment.State.GRADED, Judgment.State.UNRATEABLE)


@dataclass(frozen=True)
class JudgmentFilter:
    """A selection of a rater's judgments: all of them, or those that match every filter."""

    since: datetime | None = None
    queries: tuple[str, ...] = ()
    quicker_than: float | None = None  # seconds; judgments without a time do not match


EVERYTHING = JudgmentFilter()


@transaction.atomic
def pause(round_rater: RoundRater, *, reason: str, actor: object) -> RoundRater:
    """Pause a rater, and release their leased pairs immediately."""
    why = reason.strip()
    if not why or len(why) > LONGEST_REASON:
        hint = f"Enter a reason of at most {LONGEST_REASON} characters. The rater will read it."
        raise NotValid(f"A pause needs a reason. {hint}", {"reason": hint})
    round_rater = _locked(round_rater)
    if round_rater.round.state == Round.State.CLOSED:
        raise Conflict(f"Round {round_rater.round} is closed, so its raters get no pairs.")
    if round_rater.paused_at is not None:
        raise Conflict(f"{round_rater.user} is already paused.")
    round_rater.paused_at, round_rater.pause_reason = timezone.now(), why
    round_rater.save(update_fields=["paused_at", "pause_reason"])
    assignment.release(round_rater.round, round_rater.user, for_good=True)
    sentence = f"{actor} paused {round_rater.user} in round {round_rater.round}: {why}"
    audit.record("pausing.pause", sentence, actor=actor, target=round_rater.round)
    return round_rater


@transaction.atomic
def resume(round_rater: RoundRater, *, actor: object) -> RoundRater:
    round_rater = _locked(round_rater)
    if round_rater.paused_at is None:
        raise Conflict(f"{round_rater.user} is not paused.")
    round_rater.paused_at, round_rater.pause_reason = None, ""
    round_rater.save(update_fields=["paused_at", "pause_reason"])
    sentence = f"{actor} resumed {round_rater.user} in round {round_rater.round}"
    audit.record("pausing.resume", sentence, actor=actor, target=round_rater.round)
    return round_rater


def _locked(round_rater: RoundRater) -> RoundRater:
    rows = RoundRater.objects.select_for_update(of=("self",)).select_related("round__collection", "user")
    locked: RoundRater = rows.get(pk=round_rater.pk)
    return locked


def chosen(round_rater: RoundRater, choice: JudgmentFilter = EVERYTHING) -> JudgmentQuerySet:
    """Return the rater's current judgments that match the choice, without pairs saved for later."""
    if len(choice.queries) > MOST_QUERIES:
        message = (
            f"{len(choice.queries):,} queries exceed the limit. List at most {MOST_QUERIES:,}, or none to choose all."
        )
        raise NotValid(message, "queries")
    rows = (
        Judgment.objects.current().of_round(round_rater.round).filter(rater=round_rater.user_id, state__in=EXCLUDABLE)
    )
    if choice.since is not None:
        rows = rows.filter(created_at__gte=choice.since)
    if choice.queries:
        rows = rows.filter(pair__query__query_id__in=choice.queries)
    if choice.quicker_than is not None:
        rows = rows.filter(seconds_active__lt=choice.quicker_than)
    return rows


@dataclass(frozen=True)
class Preview:
    """The effect of excluding the judgments."""

    judgments: int
    free: int  # slots that other raters could fill
    queries: int


def preview(round_rater: RoundRater, choice: JudgmentFilter = EVERYTHING) -> Preview:
    """Return how many judgments would be excluded, and how many slots other raters could fill."""
    rows = chosen(round_rater, choice).order_by()
    counted = rows.count()
    free = Slot.objects.filter(round=round_rater.round, filled_by__in=rows).count()
    return Preview(counted, free, rows.values("pair__query").distinct().count())


def requeue(round_rater: RoundRater, choice: JudgmentFilter = EVERYTHING, *, reason: str, actor: object) -> int:
    """Exclude a rater's judgments: their slots become free, and this rater never gets the pairs again."""
    pairs = _begin(round_rater, choice, reason, actor)
    return _in_parts(round_rater, choice, pairs, reason.strip())


def start(round_rater: RoundRater, choice: JudgmentFilter = EVERYTHING, *, reason: str, actor: Any) -> Job | int:
    """Exclude the judgments at once, or start a job if there are many. Return the job or the number excluded."""
    if chosen(round_rater, choice).count() <= AT_ONCE:
        return requeue(round_rater, choice, reason=reason, actor=actor)
    with transaction.atomic():
        _begin(round_rater, choice, reason, actor)
        parameters = {"asked": round_rater.pk, **_choice_as_json(choice), "reason": reason.strip()}
        title = f"Exclude judgments of {round_rater.pseudonym} in {round_rater.round}"
        return jobs.start(
            "requeue", title=title, parameters=parameters, collection=round_rater.round.collection, actor=actor
        )


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job; a second attempt continues with the remaining judgments."""
    parameters = work.job.parameters
    round_rater = RoundRater.objects.select_related("round__collection", "user").get(pk=parameters["asked"])
    since = datetime.fromisoformat(parameters["since"]) if parameters["since"] else None
    choice = JudgmentFilter(since, tuple(parameters["queries"]), parameters.get("quicker_than"))
    pairs = sorted(chosen(round_rater, choice).order_by().values_list("pair", flat=True))
    done = _in_parts(round_rater, choice, pairs, parameters["reason"], work)
    return work.keep({"judgments": done})


@transaction.atomic
def _begin(round_rater: RoundRater, choice: JudgmentFilter, reason: str, actor: object) -> list[int]:
    """Record which judgments will be excluded; return the pairs in the order of their keys."""
    why = reason.strip()
    if not why or len(why) > LONGEST_REASON:
        hint = f"Enter a reason of at most {LONGEST_REASON} characters. It will be recorded."
        raise NotValid(f"Excluding judgments needs a reason. {hint}", {"reason": hint})
    round_rater = _locked(round_rater)
    pairs = sorted(chosen(round_rater, choice).order_by().values_list("pair", flat=True))
    if not pairs:
        raise NotValid(
            f"No judgment of {round_rater.user} in round {round_rater.round} matches this choice.",
            {"since": "Choose other judgments."},
        )
    sentence = (
        f"{actor} excluded {amount(len(pairs), 'judgment')} of {round_rater.user} in round {round_rater.round}: {why}"
    )
    collection = round_rater.round.collection
    audit.record(
        "pausing.requeue",
        sentence,
        actor=actor,
        collection=collection,
        target=round_rater.round,
        **_choice_as_json(choice),
    )
    return pairs


def _choice_as_json(choice: JudgmentFilter) -> dict[str, Any]:
    """Return the choice in the form that the job and the audit row store."""
    since = choice.since.isoformat() if choice.since else None
    return {"since": since, "queries": list(choice.queries), "quicker_than": choice.quicker_than}


def _in_parts(
    round_rater: RoundRater, choice: JudgmentFilter, pairs: Sequence[int], why: str, work: jobs.Work | None = None
) -> int:
    done = 0
    for begin in range(0, len(pairs), PART):
        with transaction.atomic():
            done += _exclude(round_rater, choice, pairs[begin : begin + PART], why)
        if work is not None:
            work.progress(done, len(pairs))
    return done


def _exclude(round_rater: RoundRater, choice: JudgmentFilter, keys: Sequence[int], why: str) -> int:
    """Exclude a batch of judgments: lock their pairs in order of keys, supersede the judgments and free the slots."""
    pairs = list(Pair.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))
    with pair_state.updating_counters(round_rater.round, pairs, home=round_rater.user):
        rows = list(chosen(round_rater, choice).filter(pair__in=pairs).order_by("pk"))
        Slot.objects.filter(filled_by__in=rows).update(rater=None, filled_by=None, lease_until=None)
        Judgment.objects.bulk_create(
            Judgment(
                pair_id=row.pair_id,
                rater_id=row.rater_id,
                client_id=uuid_module.uuid5(row.uuid, "requeued"),
                state=Judgment.State.REQUEUED,
                reason=why,
                document_sha256=row.document_sha256,
                supersedes=row,
            )
            for row in rows
        )
    return len(rows)
