"""Pause a rater, and exclude a rater's judgments so that other raters grade these pairs again.

Nothing is deleted: an excluded judgment is superseded by an event that says so, and its slot is free for another
rater. The first rater never gets the pair again.
"""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from judgments import assignment, audit, extras, growing, jobs
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.models import Job, Judgment, Pair, Round, RoundRater, Slot
from judgments.models.judgment import JudgmentQuerySet

LONGEST_REASON = 500
PART = 500
# More than so many are a job's work.
AT_ONCE = 2_000
# More queries than anybody names; a longer list is more than a database takes in one question.
MOST_QUERIES = 10_000
SET_ASIDE = (Judgment.State.GRADED, Judgment.State.UNRATEABLE)


@dataclass(frozen=True)
class Choice:
    """Which of a rater's judgments are meant: all of them, or those for which all holds that is said."""

    since: datetime | None = None
    queries: tuple[str, ...] = ()
    quicker_than: float | None = None  # seconds; what nobody timed is not meant


EVERYTHING = Choice()


@transaction.atomic
def pause(asked: RoundRater, *, reason: str, actor: object) -> RoundRater:
    """Hand a rater nothing more until they are asked to go on. What they have in hand goes back at once.

    Parameters
    ----------
    asked : RoundRater
        The rater in one round.
    reason : str
        For the rater to read.
    actor : User
        The lead who does it.

    Raises
    ------
    NotValid
        There is no reason, or it is too long.
    Conflict
        The rater is paused already, or the round is closed.
    """
    why = reason.strip()
    if not why or len(why) > LONGEST_REASON:
        said = f"A sentence or two that the rater will read, {LONGEST_REASON} characters at most."
        raise NotValid(f"A pause needs a reason. {said}", {"reason": said})
    asked = _locked(asked)
    if asked.round.state == Round.State.CLOSED:
        raise Conflict(f"Round {asked.round} is closed: nobody is handed anything there.")
    if asked.paused_at is not None:
        raise Conflict(f"{asked.user} is paused already.")
    asked.paused_at, asked.pause_reason = timezone.now(), why
    asked.save(update_fields=["paused_at", "pause_reason"])
    assignment.release(asked.round, asked.user, for_good=True)
    sentence = f"{actor} paused {asked.user} in round {asked.round}: {why}"
    audit.record("pausing.pause", sentence, actor=actor, collection=asked.round.collection, target=asked.round)
    return asked


@transaction.atomic
def resume(asked: RoundRater, *, actor: object) -> RoundRater:
    """Let a paused rater go on.

    Raises
    ------
    Conflict
        The rater is not paused.
    """
    asked = _locked(asked)
    if asked.paused_at is None:
        raise Conflict(f"{asked.user} is not paused.")
    asked.paused_at, asked.pause_reason = None, ""
    asked.save(update_fields=["paused_at", "pause_reason"])
    sentence = f"{actor} asked {asked.user} to go on in round {asked.round}"
    audit.record("pausing.resume", sentence, actor=actor, collection=asked.round.collection, target=asked.round)
    return asked


def _locked(asked: RoundRater) -> RoundRater:
    rows = RoundRater.objects.select_for_update(of=("self",)).select_related("round__collection", "user")
    found: RoundRater = rows.get(pk=asked.pk)
    return found


def chosen(asked: RoundRater, choice: Choice = EVERYTHING) -> JudgmentQuerySet:
    """The rater's standing judgments that are meant; what they put off is no judgment."""
    if len(choice.queries) > MOST_QUERIES:
        said = (
            f"{amount(len(choice.queries), 'query', 'queries')}; {MOST_QUERIES:,} at most. Name none for all of them."
        )
        raise NotValid(said, {"queries": said})
    rows = Judgment.objects.current().of_round(asked.round).filter(rater=asked.user_id, state__in=SET_ASIDE)
    if choice.since is not None:
        rows = rows.filter(created_at__gte=choice.since)
    if choice.queries:
        rows = rows.filter(pair__query__query_id__in=choice.queries)
    if choice.quicker_than is not None:
        rows = rows.filter(seconds_active__lt=choice.quicker_than)
    return rows


@dataclass(frozen=True)
class Preview:
    """What setting aside would touch."""

    judgments: int
    free: int  # places that others could fill then
    queries: int


def preview(asked: RoundRater, choice: Choice = EVERYTHING) -> Preview:
    """How many judgments would be set aside, and how many places would be free for others."""
    rows = chosen(asked, choice).order_by()
    counted = rows.count()
    free = Slot.objects.filter(round=asked.round, filled_by__in=rows).count()
    return Preview(counted, free, rows.values("pair__query").distinct().count())


def requeue(asked: RoundRater, choice: Choice = EVERYTHING, *, reason: str, actor: object) -> int:
    """Set a rater's judgments aside. They count no more, their places are free, and this rater never gets them again.

    It cannot be taken back: the judgments stay on record, and superseded. They are set aside in parts, each of them
    whole, so that other raters never wait long; what was cut short goes on when it is asked for again.

    Parameters
    ----------
    asked : RoundRater
        The rater in one round, open or closed. Of a closed round nobody fills the places any more.
    choice : Choice
        Which of their judgments.
    reason : str
        Kept with each of them and in the activity.
    actor : User
        The lead who does it.

    Returns
    -------
    int
        How many were set aside.

    Raises
    ------
    NotValid
        There is no reason, or no such judgment.
    """
    pairs = _begin(asked, choice, reason, actor)
    return _in_parts(asked, choice, pairs, reason.strip())


def start(asked: RoundRater, choice: Choice = EVERYTHING, *, reason: str, actor: Any) -> Job | int:
    """The same by a job where there are many: the job, or how many were set aside at once."""
    if chosen(asked, choice).count() <= AT_ONCE:
        return requeue(asked, choice, reason=reason, actor=actor)
    with transaction.atomic():
        _begin(asked, choice, reason, actor)
        what = {"asked": asked.pk, **_kept(choice), "reason": reason.strip()}
        title = f"Set judgments of {asked.pseudonym} in {asked.round} aside"
        return jobs.start("requeue", title=title, parameters=what, collection=asked.round.collection, actor=actor)


def work_on(work: jobs.Work) -> dict[str, Any]:
    """The job; a second attempt goes on with what is left."""
    what = work.job.parameters
    asked = RoundRater.objects.select_related("round__collection", "user").get(pk=what["asked"])
    since = datetime.fromisoformat(what["since"]) if what["since"] else None
    choice = Choice(since, tuple(what["queries"]), what.get("quicker_than"))
    pairs = sorted(chosen(asked, choice).order_by().values_list("pair", flat=True))
    done = _in_parts(asked, choice, pairs, what["reason"], work)
    return work.keep({"judgments": done})


@transaction.atomic
def _begin(asked: RoundRater, choice: Choice, reason: str, actor: object) -> list[int]:
    """Put on record what will be set aside; the pairs, in the order of their keys."""
    why = reason.strip()
    if not why or len(why) > LONGEST_REASON:
        said = f"Say why, in {LONGEST_REASON} characters at most; it stays on record."
        raise NotValid(f"Judgments are set aside for a reason. {said}", {"reason": said})
    asked = _locked(asked)
    pairs = sorted(chosen(asked, choice).order_by().values_list("pair", flat=True))
    if not pairs:
        raise NotValid(f"{asked.user} has no such judgment in round {asked.round}.", {"since": "Nothing is chosen."})
    sentence = f"{actor} set {amount(len(pairs), 'judgment')} of {asked.user} in round {asked.round} aside: {why}"
    collection = asked.round.collection
    audit.record("pausing.requeue", sentence, actor=actor, collection=collection, target=asked.round, **_kept(choice))
    return pairs


def _kept(choice: Choice) -> dict[str, Any]:
    """The choice as it is kept with the job and on record."""
    since = choice.since.isoformat() if choice.since else None
    return {"since": since, "queries": list(choice.queries), "quicker_than": choice.quicker_than}


def _in_parts(asked: RoundRater, choice: Choice, pairs: Sequence[int], why: str, work: jobs.Work | None = None) -> int:
    done = 0
    for begin in range(0, len(pairs), PART):
        with transaction.atomic():
            done += _set_aside(asked, choice, pairs[begin : begin + PART], why)
        if work is not None:
            work.progress(done, len(pairs))
    growing.wake(asked.round)
    return done


def _set_aside(asked: RoundRater, choice: Choice, keys: Sequence[int], why: str) -> int:
    """Part of it: the pairs locked in the order of their keys, what stands then superseded, the places freed."""
    pairs = list(Pair.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))
    with extras.kept(asked.round, pairs, home=asked.user):
        rows = list(chosen(asked, choice).filter(pair__in=pairs).order_by("pk"))
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
