"""Pool previews as jobs, for pools that take too long for a page."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from judgments.jobs import jobs
from judgments.models import Collection, Job, User
from pooling.models import Run
from pooling.pools import duplicates, pools

KIND = "pool-preview"
# The number of duplicates that a page lists; the page of a stored pool lists all of them.
MOST_GROUPS = 200


def summarize(collection: Collection, *, runs: Sequence[Run], **how: Any) -> dict[str, Any]:
    """Return the summary of a pool and its first duplicates, without storing the pool."""
    chosen = pools.choose(collection, runs=runs, **how)
    groups = duplicates.groups_of_choice(collection, chosen, MOST_GROUPS)
    return {"summary": pools.preview(collection, chosen, runs), "groups": [asdict(group) for group in groups]}


def start(collection: Collection, *, actor: User, page: str, runs: Sequence[Run], **how: Any) -> Job:
    """Queue a preview job, or return the one that is queued or running for the same pool."""
    key = key_of(runs, how)
    waiting = _jobs_of(collection, key).filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).first()
    if waiting:
        return waiting
    parameters = {"key": key, "runs": [str(run.uuid) for run in runs], "how": how, "page": page}
    title = f"Preview a pool from {len(runs)} run{'' if len(runs) == 1 else 's'}"
    return jobs.start(KIND, title=title, parameters=parameters, collection=collection, actor=actor)


def latest(collection: Collection, *, runs: Sequence[Run], **how: Any) -> Job | None:
    """Return the last job with the same preview that has not failed."""
    failed = [Job.State.FAILED, Job.State.CRASHED, Job.State.CANCELLED]
    return _jobs_of(collection, key_of(runs, how)).exclude(state__in=failed).first()


def key_of(runs: Sequence[Run], how: dict[str, Any]) -> str:
    """Return a hash of the settings, other than the collection, that a preview depends on."""
    identity = {"runs": sorted(str(run.uuid) for run in runs), "how": how}
    return hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()


def _jobs_of(collection: Collection, key: str) -> Any:
    return Job.objects.filter(collection=collection, kind=KIND, parameters__key=key).order_by("-created_at", "-pk")


def work_on_preview(work: jobs.Work) -> dict[str, Any]:
    """Run the job of :func:`start`."""
    job = work.job
    work.progress(0)
    runs = list(job.collection.runs.filter(uuid__in=job.parameters["runs"]))
    shown = summarize(job.collection, runs=runs, watch=work.progress, **job.parameters["how"])
    facts = {"pairs": shown["summary"]["pairs"], "queries": shown["summary"]["queries"]}
    return {**facts, "told": shown, "page": job.parameters["page"]}
