"""Background jobs: start, run, watch, cancel and resume them.

The row in ``Job`` is the truth; the queue only says which job to run. A worker claims a job by a conditional UPDATE
and holds a lease that it renews as it goes on. When a worker dies its lease expires, and ``reap`` queues the job
again, up to ``MOST_ATTEMPTS`` times. A job that stays queued too long is queued again as well, since a queue can lose
it.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django_tasks import task

from judgments import audit
from judgments.core.errors import AssayError, NotValid
from judgments.core.family import Family
from judgments.models import Collection, Job

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=2)
# How long a job may wait before it is queued once more: the queue may have lost it.
PATIENCE = timedelta(minutes=10)
MOST_ATTEMPTS = 3
# After so long what is counted anew again and again is tried once more although it failed.
AFTER_A_FAULT = timedelta(hours=1)

Handler = Callable[["Work"], "dict[str, Any]"]
# Apps above this one register their kinds in their AppConfig.
KINDS: Family[Handler] = Family(
    "job kind",
    {
        "import": "judgments.ingestion:work_on_upload",
        "read": "judgments.ingestion:work_on_reading",
        "agreement": "judgments.round_reports:work_on",
        "battles": "judgments.battling_job:work_on",
        "judge": "judgments.judging_job:work_on",
        "prejudge": "judgments.prejudging_job:work_on",
        "quality": "judgments.quality_checks:work_on",
        "requeue": "judgments.pausing:work_on",
    },
)

# What is looked at now and then, besides lost jobs; apps above add what they want to look at.
TICKS: Family[Callable[[], Any]] = Family(
    "tick",
    {"task-results": "judgments.task_results:forget", "judges": "judgments.judging_waking:wake_due"},
)


# Whether there is more to do for a job that has just ended, by kind: such a job is queued once more.
UNFINISHED: Family[Callable[[Job], bool]] = Family("unfinished job", {})


class Cancelled(AssayError):
    """The user asked for the job to stop."""


class Lost(AssayError):
    """Another worker has the job: this one was taken for dead."""


class Work:
    """What a handler is given: the job, and ways to tell how far it is."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def progress(self, done: int, total: int | None = None) -> None:
        """Tell how far the work is and renew the lease; stop here when the user asked for it or another has the job."""
        if Job.objects.filter(pk=self.job.pk, cancel_asked=True).exists():
            raise Cancelled("Cancelled.")
        fields: dict[str, Any] = {"done": done, "lease_until": timezone.now() + LEASE}
        if total is not None:
            fields["total"] = total
        if not _held(self.job).update(**fields):
            raise Lost("Another worker took this job.")

    def keep(self, result: dict[str, Any]) -> dict[str, Any]:
        """Store the result in the same transaction as what was made, so that no second attempt makes it again.

        Raises
        ------
        Lost
            Another worker was first; what this one made is rolled back.
        """
        if not Job.objects.filter(pk=self.job.pk, result__isnull=True).update(result=result):
            raise Lost("Another worker did this job.")
        return result

    def say(self, line: str) -> None:
        """Add a line to the job's log."""
        stamp = timezone.now().strftime("%H:%M:%S")
        self.job.log += f"{stamp} {line}\n"
        Job.objects.filter(pk=self.job.pk).update(log=self.job.log)


def start(kind: str, *, title: str, parameters: dict[str, Any], collection: Collection | None, actor: Any) -> Job:
    """Put a job on record and into the queue, once the transaction around it is through."""
    if kind not in KINDS:
        raise NotValid(f"there is no job kind {kind!r}; known: {', '.join(KINDS)}")
    job = Job.objects.create(
        kind=kind,
        title=title[:200],
        parameters=parameters,
        collection=collection,
        created_by=actor,
        lease_until=timezone.now() + PATIENCE,
    )
    transaction.on_commit(lambda: work_on_job.enqueue(str(job.uuid)))
    return job


@task()
def work_on_job(uuid: str) -> None:
    """The one task in the queue: work on this job, if nobody else does."""
    job = Job.objects.filter(uuid=uuid).first()
    if job is not None and claim(job):
        job.refresh_from_db()
        state, fields = _outcome(job)
        _finish(job, state, fields)
        if state == Job.State.DONE and job.kind in UNFINISHED and UNFINISHED[job.kind](job):
            again(job)


def claim(job: Job) -> bool:
    """Take the job; True for exactly one caller. A job whose lease ran out can be taken again."""
    now = timezone.now()
    free = Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, lease_until__lt=now)
    taken = Job.objects.filter(free, pk=job.pk).update(
        state=Job.State.RUNNING, lease_until=now + LEASE, attempts=F("attempts") + 1, started_at=now
    )
    return taken == 1


def _held(job: Job) -> QuerySet[Job]:
    """The job's row as long as no other worker took it since."""
    return Job.objects.filter(pk=job.pk, attempts=job.attempts)


def _outcome(job: Job) -> tuple[str, dict[str, Any]]:
    try:
        return Job.State.DONE, {"result": KINDS[job.kind](Work(job))}
    except Lost:
        return Job.State.DONE, {}
    except Cancelled as cancelled:
        return Job.State.CANCELLED, {"error": str(cancelled)}
    except AssayError as foreseen:
        return Job.State.FAILED, {"error": str(foreseen)}
    except Exception as mistake:
        sentence = f"This is our mistake, not yours: {type(mistake).__name__}. The details are kept with the job."
        return Job.State.CRASHED, {"error": sentence, "traceback": traceback.format_exc()}


def _finish(job: Job, state: str, fields: dict[str, Any]) -> None:
    if state == Job.State.DONE:
        fields["done"] = Job.objects.values_list("total", flat=True).get(pk=job.pk) or F("done")
    _held(job).update(state=state, finished_at=timezone.now(), lease_until=None, **fields)


def again(job: Job) -> bool:
    """Put a job that is over into the queue once more, for work that comes back; True for exactly one caller.

    The row keeps its log. A job that waits or runs is left alone: it will see what there is to do.
    """
    over = Job.objects.filter(pk=job.pk).exclude(state__in=[Job.State.QUEUED, Job.State.RUNNING])
    fresh: dict[str, Any] = {"attempts": 0, "cancel_asked": False, "error": "", "traceback": "", "finished_at": None}
    taken = over.update(state=Job.State.QUEUED, lease_until=timezone.now() + PATIENCE, result=None, **fresh)
    if taken:
        transaction.on_commit(lambda: work_on_job.enqueue(str(job.uuid)))
    return bool(taken)


def in_line(
    kind: str, *, title: str, parameters: dict[str, Any], collection: Collection, known_by: Sequence[str]
) -> Job:
    """The one job of its kind for what is counted anew whenever something is newer: begun, or queued once more.

    Parameters
    ----------
    kind, title, parameters, collection
        As `start` takes them; nobody in particular asks for it.
    known_by : sequence of str
        The parameters that tell it from the others of its kind.
    """
    job = kept(kind, collection, {name: parameters[name] for name in known_by})
    if job is None:
        return start(kind, title=title, parameters=parameters, collection=collection, actor=None)
    # What failed would most likely fail again, and pages ask every few seconds.
    failed = job.error and job.finished_at and timezone.now() - job.finished_at < AFTER_A_FAULT
    if not failed:
        again(job)
    return job


def kept(kind: str, collection: Collection, parameters: dict[str, str]) -> Job | None:
    """The job with these parameters, if one was ever begun."""
    asked = {f"parameters__{name}": value for name, value in parameters.items()}
    return Job.objects.filter(kind=kind, collection=collection, **asked).order_by("pk").first()


def cancel(job: Job, *, actor: Any) -> None:
    """Ask for the job to stop: at once when it waits, at its next step when it runs."""
    waiting = Job.objects.filter(pk=job.pk, state=Job.State.QUEUED)
    if not waiting.update(state=Job.State.CANCELLED, finished_at=timezone.now(), error="Cancelled before it began."):
        Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).update(cancel_asked=True)
    sentence = f"{actor} cancelled “{job.title}”"
    audit.record("jobs.cancel", sentence, actor=actor, collection=job.collection, target=job)


def reap() -> int:
    """Queue jobs again whose worker died or that the queue lost; give up on those that died too often.

    Returns
    -------
    int
        How many were queued.
    """
    now = timezone.now()
    dead = Job.objects.filter(state=Job.State.RUNNING, lease_until__lt=now)
    dead.filter(attempts__gte=MOST_ATTEMPTS).update(
        state=Job.State.FAILED,
        finished_at=now,
        error=f"The worker stopped {MOST_ATTEMPTS} times while it worked on this. Look at the server's log.",
    )
    late = Job.objects.filter(state__in=[Job.State.RUNNING, Job.State.QUEUED], lease_until__lt=now)
    again = list(late.values_list("uuid", flat=True))
    # Queued once in a while, not at every look, however long no worker is there.
    late.update(state=Job.State.QUEUED, lease_until=now + PATIENCE)
    for uuid in again:
        work_on_job.enqueue(str(uuid))
    return len(again)


def tick() -> int:
    """What is done every half minute by ``serve``, and by cron where that does not run; answers as `reap` does."""
    for name in TICKS:
        try:
            TICKS[name]()
        except Exception:
            # One that fails, on a locked database perhaps, must not keep the others from being done, nor end `serve`.
            logger.exception("The look %s failed; it is taken again in a while.", name)
    return reap()
