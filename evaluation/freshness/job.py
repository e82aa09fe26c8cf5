"""Scheduled freshness checks of snapshots, and the job that runs them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from evaluation.freshness import facts, freshness
from judgments.jobs import jobs
from judgments.models import Collection, Job, Snapshot, User

KIND = "freshness"
# A check that failed is tried again the next day.
AGAIN = timedelta(days=1)
OPEN = (Job.State.QUEUED, Job.State.RUNNING)


def every() -> int:
    """After how many days the server checks by itself; 0 is never."""
    return max(0, int(settings.FRESHNESS_DAYS))


def check_later(snapshot: Snapshot, *, actor: User | None) -> Job:
    """Check a snapshot as a job; one that waits or runs already is returned instead of a second one."""
    same = snapshot.collection.jobs.filter(kind=KIND, state__in=OPEN, parameters__snapshot=str(snapshot.uuid))
    waiting = same.filter(cancel_requested=False).first()
    if waiting is not None:
        return waiting
    title = f"Check the freshness of {snapshot}"
    parameters = {"snapshot": str(snapshot.uuid)}
    return jobs.start(KIND, title=title, parameters=parameters, collection=snapshot.collection, actor=actor)


def work_on_check(work: jobs.Work) -> dict[str, Any]:
    """The job behind :func:`check_later`: what was counted of a run is kept, so that a second attempt is short."""
    job = work.job
    if job.result:
        return job.result
    snapshot = Snapshot.objects.select_related("collection").get(uuid=job.parameters["snapshot"])
    # Outside of a transaction, which would keep others from writing and hide how far it is.
    read = freshness.read_all(snapshot, work.progress)
    with transaction.atomic():
        check = freshness.check(snapshot, read, actor=job.created_by)
        return work.keep({"snapshot": snapshot.name, "state": check.state, "page": page_of(snapshot)})


def page_of(snapshot: Snapshot) -> str:
    """Where a snapshot's signals stand."""
    return f"{reverse('freshness', args=[snapshot.collection.slug])}?snapshot={snapshot.uuid}"


def start_due() -> None:
    """Start the checks that are due: a collection's newest snapshot, every ``FRESHNESS_DAYS``; 0 is never."""
    if not every():
        return
    for pk in list(_due().values_list("pk", flat=True)):
        _start(pk)


def _due() -> Any:
    """Collections of which nothing was frozen and nothing checked for so long, or that no page reads by itself.

    None of those of which a check was begun today.
    """
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
    """Newest snapshots that are too large for `freshness.glance` to read, and that nobody has checked."""
    newer = Snapshot.of_documents.filter(collection=OuterRef("collection"), pk__gt=OuterRef("pk"))
    large = Snapshot.of_documents.filter(freshness_checks=None, summary__labels__gt=facts.JUDGED_AT_ONCE)
    return large.filter(~Exists(newer))


@transaction.atomic
def _start(pk: int) -> None:
    """Start one, if it is still due: two servers that look at the same moment start it once."""
    Collection.objects.select_for_update().get(pk=pk)
    if _due().filter(pk=pk).exists():
        check_later(Snapshot.of_documents.filter(collection=pk).select_related("collection")[0], actor=None)
