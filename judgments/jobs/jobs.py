"""Background jobs: start, run, watch, cancel and resume them.

The row in ``Job`` holds the state; the queue only names the job to run. A worker claims a job by a conditional UPDATE
and holds a lease, which it renews while it works. When a worker dies, its lease expires and ``reap`` queues the job
again, up to ``MOST_ATTEMPTS`` times. A job that stays queued too long is also queued again, because a queue can lose
jobs.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django_tasks import task

from assay.core.errors import AssayError, NotValid
from judgments.hooks import JOBS, PERIODIC_WORK, UNFINISHED_JOBS
from judgments.models import Collection, Job, audit

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=2)
# Time after which a waiting job is queued again, because the queue may have lost it.
PATIENCE = timedelta(minutes=10)
MOST_ATTEMPTS = 3
# After this time a failed recurring job is tried again.
AFTER_A_FAULT = timedelta(hours=1)


class Cancelled(AssayError):
    """The user canceled the job."""


class Lost(AssayError):
    """Another worker took over the job because this one seemed dead."""


class Work:
    """The argument of a job's handler: the job, with methods to report progress."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def progress(self, done: int, total: int | None = None) -> None:
        """Report progress and renew the lease; raise an exception if the job was canceled or another worker has it."""
        if Job.objects.filter(pk=self.job.pk, cancel_requested=True).exists():
            raise Cancelled("Canceled.")
        fields: dict[str, Any] = {"done": done, "lease_until": timezone.now() + LEASE}
        if total is not None:
            fields["total"] = total
        if not _held(self.job).update(**fields):
            raise Lost("Another worker took this job.")

    def keep(self, result: dict[str, Any]) -> dict[str, Any]:
        """Store the result in the transaction that creates its rows, so that a second attempt does not repeat them."""
        if not Job.objects.filter(pk=self.job.pk, result__isnull=True).update(result=result):
            raise Lost("Another worker finished this job.")
        return result

    def say(self, line: str) -> None:
        """Add a line to the job's log."""
        stamp = timezone.now().strftime("%H:%M:%S")
        self.job.log += f"{stamp} {line}\n"
        Job.objects.filter(pk=self.job.pk).update(log=self.job.log)


def start(kind: str, *, title: str, parameters: dict[str, Any], collection: Collection | None, actor: Any) -> Job:
    """Create a job and queue it when the current transaction commits."""
    if kind not in JOBS:
        raise NotValid(f"Unknown job kind {kind!r}. Known job kinds: {', '.join(JOBS)}.")
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
    """Run this job, unless another worker does. This is the only task in the queue."""
    job = Job.objects.filter(uuid=uuid).first()
    if job is not None and claim(job):
        job.refresh_from_db()
        state, fields = _outcome(job)
        _finish(job, state, fields)
        if state == Job.State.DONE and job.kind in UNFINISHED_JOBS and UNFINISHED_JOBS[job.kind](job):
            again(job)


def claim(job: Job) -> bool:
    """Claim the job; return True for exactly one caller. A job with an expired lease can be claimed again."""
    now = timezone.now()
    free = Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, lease_until__lt=now)
    taken = Job.objects.filter(free, pk=job.pk).update(
        state=Job.State.RUNNING, lease_until=now + LEASE, attempts=F("attempts") + 1, started_at=now
    )
    return taken == 1


def _held(job: Job) -> QuerySet[Job]:
    """Return the job's row if no other worker has claimed it."""
    return Job.objects.filter(pk=job.pk, attempts=job.attempts)


def _outcome(job: Job) -> tuple[str, dict[str, Any]]:
    try:
        # An earlier attempt may have stored the result and stopped before the job was finished.
        return Job.State.DONE, {"result": job.result or JOBS[job.kind](Work(job))}
    except Lost:
        return Job.State.DONE, {}
    except Cancelled as cancelled:
        return Job.State.CANCELLED, {"error": str(cancelled)}
    except AssayError as foreseen:
        return Job.State.FAILED, {"error": str(foreseen)}
    except Exception as mistake:
        sentence = f"Unexpected error: {type(mistake).__name__}. The details are stored with the job."
        return Job.State.CRASHED, {"error": sentence, "traceback": traceback.format_exc()}


def _finish(job: Job, state: str, fields: dict[str, Any]) -> None:
    if state == Job.State.DONE:
        fields["done"] = Job.objects.values_list("total", flat=True).get(pk=job.pk) or F("done")
    _held(job).update(state=state, finished_at=timezone.now(), lease_until=None, **fields)


def again(job: Job) -> bool:
    """Queue a finished job again for recurring work; return True for exactly one caller."""
    over = Job.objects.filter(pk=job.pk).exclude(state__in=[Job.State.QUEUED, Job.State.RUNNING])
    fresh: dict[str, Any] = {
        "attempts": 0,
        "cancel_requested": False,
        "error": "",
        "traceback": "",
        "finished_at": None,
    }
    taken = over.update(state=Job.State.QUEUED, lease_until=timezone.now() + PATIENCE, result=None, **fresh)
    if taken:
        transaction.on_commit(lambda: work_on_job.enqueue(str(job.uuid)))
    return bool(taken)


def in_line(
    kind: str, *, title: str, parameters: dict[str, Any], collection: Collection | None, known_by: Sequence[str]
) -> Job:
    """Return the single job for a value that is recomputed when its data changes; queue the job if needed."""
    job = find_recent(kind, collection, {name: parameters[name] for name in known_by})
    if job is None:
        return start(kind, title=title, parameters=parameters, collection=collection, actor=None)
    # A failed job would probably fail again, and pages poll every few seconds.
    failed = job.error and job.finished_at and timezone.now() - job.finished_at < AFTER_A_FAULT
    if not failed:
        again(job)
    return job


def find_recent(kind: str, collection: Collection | None, parameters: dict[str, str]) -> Job | None:
    filters = {f"parameters__{name}": value for name, value in parameters.items()}
    return Job.objects.filter(kind=kind, collection=collection, **filters).order_by("pk").first()


def cancel(job: Job, *, actor: Any) -> None:
    """Cancel the job, immediately if it is queued, at its next step if it is running."""
    waiting = Job.objects.filter(pk=job.pk, state=Job.State.QUEUED)
    if not waiting.update(state=Job.State.CANCELLED, finished_at=timezone.now(), error="Canceled before it started."):
        Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).update(cancel_requested=True)
    audit.record("jobs.cancel", f"{actor} canceled “{job.title}”", actor=actor, target=job)


def reap() -> int:
    """Queue lost jobs and jobs of dead workers again; fail jobs whose worker died too often."""
    now = timezone.now()
    dead = Job.objects.filter(state=Job.State.RUNNING, lease_until__lt=now)
    dead.filter(attempts__gte=MOST_ATTEMPTS).update(
        state=Job.State.FAILED,
        finished_at=now,
        error=f"The worker died {MOST_ATTEMPTS} times during this job. Check the server's log.",
    )
    late = Job.objects.filter(state__in=[Job.State.RUNNING, Job.State.QUEUED], lease_until__lt=now)
    again = list(late.values_list("uuid", flat=True))
    # Queue it at intervals, not at every check, even if no worker runs for a long time.
    late.update(state=Job.State.QUEUED, lease_until=now + PATIENCE)
    for uuid in again:
        work_on_job.enqueue(str(uuid))
    return len(again)


def tick() -> int:
    """Run the periodic checks, which ``serve`` or cron starts every half minute; return the result of `reap`."""
    for name in PERIODIC_WORK:
        try:
            PERIODIC_WORK[name]()
        except Exception:
            # A failed check, for example because of a locked database, must not stop the others or `serve`.
            logger.exception("The periodic check %s failed and will run again.", name)
    return reap()


# The queue in the database stores a row for each job that it receives. `Job` has the outcome, so these rows are deleted
# after the default period of the queue's own command (prune_db_task_results). Redis removes its own entries.
RETENTION = timedelta(days=14)
# Maximum rows per run, so that other requests do not wait for the database.
AT_ONCE = 5_000


def forget_queue_rows() -> int:
    """Delete rows of the queue that finished long ago; return their number."""
    from django_tasks_db.models import DBTaskResult

    old = DBTaskResult.objects.finished().filter(finished_at__lt=timezone.now() - RETENTION)
    some = list(old.order_by().values_list("pk", flat=True)[:AT_ONCE])
    removed, _ = DBTaskResult.objects.filter(pk__in=some).delete()
    return int(removed)
