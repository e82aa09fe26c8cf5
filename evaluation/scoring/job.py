"""Scoring as a background job: the decision to use a job, its execution, and its progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.urls import reverse

from assay.core.counted_nouns import amount
from assay.core.errors import NotValid
from evaluation.models import Score
from evaluation.scoring import scoring
from judgments.jobs import jobs
from judgments.models import Job, Snapshot, User, audit
from pooling.models import Run

# With more rows or runs than this, a request would take too long.
ROWS_AT_ONCE = 500_000
RUNS_AT_ONCE = 24
MOST_REASONS = 3


def score_later(
    snapshot: Snapshot,
    runs: Sequence[Run],
    *,
    actor: User,
    metrics: Sequence[str] | None,
    level: float = scoring.LEVEL,
    method: str = scoring.METHOD,
) -> Job:
    """Queue `scoring.score_runs` as a job with a single audit entry."""
    scoring.check(snapshot, runs, level, method)
    metrics = scoring.metric_names(metrics)
    parameters = {
        "snapshot": str(snapshot.uuid),
        "runs": [str(run.uuid) for run in runs],
        "metrics": metrics,
        "level": level,
        "method": method,
    }
    if same := _under_way(snapshot, parameters):
        return same
    title = f"Score {len(runs):,} run{'' if len(runs) == 1 else 's'} on {snapshot}"
    with transaction.atomic():
        sentence = f"{actor} started scoring {scoring.names_of(runs)} on {snapshot}"
        audit.record("scoring.score_later", sentence, actor=actor, collection=snapshot.collection, target=snapshot)
        return jobs.start("score", title=title, parameters=parameters, collection=snapshot.collection, actor=actor)


def score_new(run: Run, actor: User) -> Job | None:
    """Queue the scoring of a new run on the newest snapshot, with the settings used last."""
    snapshot = run.collection.snapshots(manager="of_documents").first()
    return None if snapshot is None else _as_last(snapshot, [run], actor)


def score_frozen(snapshot: Snapshot, actor: User) -> Job | None:
    """Queue the scoring of all runs on a new snapshot, with the settings used last."""
    if snapshot.of_answers:
        return None
    runs = list(snapshot.collection.runs.active())
    return _as_last(snapshot, runs, actor) if runs else None


def _as_last(snapshot: Snapshot, runs: Sequence[Run], actor: User) -> Job:
    last = scoring.used_last(snapshot.collection)
    return score_later(
        snapshot, runs, actor=actor, metrics=last["metrics"] or None, level=last["level"], method=last["method"]
    )


def _under_way(snapshot: Snapshot, parameters: dict[str, Any]) -> Job | None:
    open_ = snapshot.collection.jobs.filter(kind="score", state__in=(Job.State.QUEUED, Job.State.RUNNING))
    rows = open_.filter(parameters__snapshot=str(snapshot.uuid)).defer("log", "traceback")
    return next((job for job in rows if job.parameters == parameters and not job.cancel_requested), None)


def under_way(snapshot: Snapshot) -> bool:
    """Return whether a scoring job for this snapshot is queued or running."""
    open_ = (Job.State.QUEUED, Job.State.RUNNING)
    return snapshot.collection.jobs.filter(
        kind="score", state__in=open_, parameters__snapshot=str(snapshot.uuid)
    ).exists()


def too_large(runs: Sequence[Run]) -> bool:
    """Return whether scoring these runs should be a job."""
    return len(runs) > RUNS_AT_ONCE or sum(run.rows for run in runs) > ROWS_AT_ONCE


def work_on_scores(work: jobs.Work) -> dict[str, Any]:
    """Score the runs of a job one by one; finished runs stay scored if a later one fails."""
    parameters = work.job.parameters
    snapshot = Snapshot.objects.select_related("collection").get(uuid=parameters["snapshot"])
    runs = list(Run.objects.filter(uuid__in=parameters["runs"]).order_by("name"))
    how = {name: parameters[name] for name in ("metrics", "level", "method") if parameters.get(name)}
    ready = _ready(work.job, snapshot)
    refused = []
    for done, run in enumerate(runs):
        work.progress(done, len(runs))
        if run.pk in ready:
            continue
        try:
            scoring.measure(snapshot, [run], actor=work.job.created_by, **how)
        except NotValid as error:
            refused.append(f"{run}: {error}")
            work.say(f"could not score {run}: {error}")
        else:
            work.say(f"scored {run}")
    work.progress(len(runs), len(runs))
    if refused:
        raise NotValid(_refused(refused, len(runs)))
    return {"snapshot": snapshot.name, "runs": len(runs), "page": page_of(snapshot)}


def _refused(reasons: Sequence[str], runs: int) -> str:
    """Summarize the errors of a job in one readable sentence; its log has all of them."""
    others = "; the others were scored" if len(reasons) < runs else ""
    more = " The log lists the rest." if len(reasons) > MOST_REASONS else ""
    shown = "; ".join(reasons[:MOST_REASONS])
    return f"{len(reasons)} of {amount(runs, 'run')} could not be scored{others}. {shown}.{more}"


def _ready(job: Job, snapshot: Snapshot) -> set[int]:
    """Return the runs that an earlier attempt of the job scored; a run's scores are stored in one transaction."""
    if job.attempts < 2:
        return set()
    rows = Score.objects.filter(scoring__snapshot=snapshot, computed_at__gte=job.created_at)
    return set(rows.values_list("scoring__run", flat=True))


def last_job(snapshot: Snapshot) -> Job | None:
    """Return the newest scoring job of this snapshot, unless newer scores exist."""
    rows = snapshot.collection.jobs.filter(kind="score", parameters__snapshot=str(snapshot.uuid))
    job = rows.defer("log", "traceback").first()
    if job is None or not job.over:
        return job
    later = Score.objects.filter(scoring__snapshot=snapshot, computed_at__gt=job.finished_at or job.created_at)
    return None if later.exists() else job


def page_of(snapshot: Snapshot) -> str:
    """Return the URL of the scores on a snapshot."""
    return f"{reverse('scores', args=[snapshot.collection.slug])}?{urlencode({'snapshot': snapshot.uuid})}"
