"""Pool previews as a job, for pools that take longer than a page may."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from judgments import jobs
from judgments.models import Collection, Job, User
from pooling import copies, pools
from pooling.models import Run

KIND = "pool-preview"
# As many documents that say the same as a page lists; the drawn pool lists all of them.
MOST_GROUPS = 200


def look(collection: Collection, *, runs: Sequence[Run], **how: Any) -> dict[str, Any]:
    """What would be chosen: the summary, and the first documents that are judged as another one. Nothing is stored.

    Parameters
    ----------
    collection, runs, **how
        As :func:`pooling.pools.choose` takes them.
    """
    chosen = pools.choose(collection, runs=runs, **how)
    groups = copies.groups_of_choice(collection, chosen, MOST_GROUPS)
    return {"summary": pools.preview(collection, chosen, runs), "groups": [asdict(group) for group in groups]}


def start(collection: Collection, *, actor: User, page: str, runs: Sequence[Run], **how: Any) -> Job:
    """Preview in the background. What is asked for already is not asked for twice.

    Parameters
    ----------
    collection : Collection
        Whose pool it would be.
    actor : User
        Who asks.
    page : str
        The address that shows it.
    runs, **how
        As :func:`pooling.pools.choose` takes them.
    """
    key = key_of(runs, how)
    waiting = _asked(collection, key).filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).first()
    if waiting:
        return waiting
    parameters = {"key": key, "runs": [str(run.uuid) for run in runs], "how": how, "page": page}
    title = f"Preview a pool from {len(runs)} run{'' if len(runs) == 1 else 's'}"
    return jobs.start(KIND, title=title, parameters=parameters, collection=collection, actor=actor)


def latest(collection: Collection, *, runs: Sequence[Run], **how: Any) -> Job | None:
    """The last job that previewed just this, or is about to."""
    failed = [Job.State.FAILED, Job.State.CRASHED, Job.State.CANCELLED]
    return _asked(collection, key_of(runs, how)).exclude(state__in=failed).first()


def key_of(runs: Sequence[Run], how: dict[str, Any]) -> str:
    """One short text for all that a preview hangs on beside the collection."""
    told = {"runs": sorted(str(run.uuid) for run in runs), "how": how}
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


def _asked(collection: Collection, key: str) -> Any:
    return Job.objects.filter(collection=collection, kind=KIND, parameters__key=key).order_by("-created_at", "-pk")


def work_on_preview(work: jobs.Work) -> dict[str, Any]:
    """The job behind :func:`start`."""
    job = work.job
    work.progress(0)
    runs = list(job.collection.runs.filter(uuid__in=job.parameters["runs"]))
    told = look(job.collection, runs=runs, watch=work.progress, **job.parameters["how"])
    facts = {"pairs": told["summary"]["pairs"], "queries": told["summary"]["queries"]}
    return {**facts, "told": told, "page": job.parameters["page"]}
