"""Scheduled freshness checks of snapshots, and the job that runs them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from evaluation.freshness import facts, freshness
from judgments.jobs import jobs
from judgments.models import Collection, Job, Snapshot, User

KIND = "freshness"
# A failed check is repeated the next day.
AGAIN = timedelta(days=1)
OPEN = (Job.State.QUEUED, Job.State.RUNNING)


def every() -> int:
    """Return the days between scheduled checks; 0 turns them off."""
    return max(0, int(settings.FRESHNESS_DAYS))


def check_later(snapshot: Snapshot, *, actor: User | None) -> Job:
    """Queue a check of a snapshot, or return the one that is queued or running."""
    same = snapshot.collection.jobs.filter(kind=KIND, state__in=OPEN, parameters__snapshot=str(snapshot.uuid))
    waiting = same.filter(cancel_requested=False).first()
    if waiting is not None:
        return waiting
    title = f"Check the freshness of {snapshot}"
    parameters = {"snapshot": str(snapshot.uuid)}
    return jobs.start(KIND, title=title, parameters=parameters, collection=snapshot.collection, actor=actor)


def work_on_check(work: jobs.Work) -> dict[str, Any]:
    """Run a queued check. Counts of each run are cached, so a second attempt is short."""
    job = work.job
    snapshot = Snapshot.objects.select_related("collection").get(uuid=job.parameters["snapshot"])
    # Outside a transaction, which would block other writers and hide the progress.
    read = freshness.read_all(snapshot, work.progress)
    with transaction.atomic():
        check = freshness.check(snapshot, read, actor=job.created_by)
        return work.keep({"snapshot": snapshot.name, "state": check.state, "page": freshness.page_of(snapshot)})


def start_due() -> None:
    """Start the checks that are due: the newest snapshot of a collection every ``FRESHNESS_DAYS``; 0 turns this off."""
    if not every():
        return
    for pk in list(_due().values_list("pk", flat=True)):
        _start(pk)


def _due() -> Any:
    """Return collections without a recent freeze or check, except those for which a check started today."""
    now = timezone.now()
    long_ago = now - timedelta(days=every())
    lately = Job.objects.filter(kind=KIND).filter(Q(created_at__gt=now - AGAIN) | Q(state__in=OPEN))
    of_documents = Q(snapshots__in=Snapshot.of_documents.all())
    frozen = Max("snapshots__created_at", filter=of_documents)
    rows = Collection.objects.annotate(frozen=frozen, checked=Max("freshness_checks__created_at"))
    aged = Q(frozen__lte=long_ago) & (Q(checked__isnull=True) | Q(checked__lte=long_ago))
    rows = rows.filter(aged | Q(pk__in=_unread().values("collection")))
    return rows.exclude(pk__in=lately.exclude(collection=None).values("collection"))


def _unread() -> QuerySet[Snapshot]:
    """Return newest snapshots that are too large for `freshness.glance` and have no check yet."""
    newer = Snapshot.of_documents.filter(collection=OuterRef("collection"), pk__gt=OuterRef("pk"))
    large = Snapshot.of_documents.filter(freshness_checks=None, summary__labels__gt=facts.JUDGED_AT_ONCE)
    return large.filter(~Exists(newer))


@transaction.atomic
def _start(pk: int) -> None:
    """Start a check if it is still due, so that two servers do not start it twice."""
    Collection.objects.select_for_update().get(pk=pk)
    if _due().filter(pk=pk).exists():
        check_later(Snapshot.of_documents.filter(collection=pk).select_related("collection")[0], actor=None)
