"""What do runs score against a snapshot?

The snapshot's own qrels file and the run's own file go through ``evaluation.evaluate``, the same function that
``assay evaluate`` calls on exported files: page and command line can only show the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction

from evaluation.models import Score, Scoring
from judgments import audit, jobs, snapshots
from judgments.core.errors import NotValid
from judgments.models import Collection, Job, Snapshot, User
from pooling import runs as runs_of
from pooling.models import Run

if TYPE_CHECKING:
    from evaluation.metrics.results import RunScores
    from judgments.core.qrels import Qrels

# Above this many rows a request would keep its caller waiting; then scoring is a job.
ROWS_AT_ONCE = 500_000
LEVEL = 0.95
SEED = 0


def score_runs(
    snapshot: Snapshot, runs: Sequence[Run], *, actor: User, metrics: Sequence[str] | None = None
) -> list[Scoring]:
    """Measure runs against a snapshot, with a 95 % interval on every mean, and keep the result.

    Parameters
    ----------
    snapshot : Snapshot
        Whose labels.
    runs : sequence of Run
        Of the same collection.
    actor : User
        A lead or an engineer.
    metrics : sequence of str, optional
        Names as ir_measures writes them; nDCG@10, RR@10, R@100, P@10, AP and Judged@10 when None.

    Raises
    ------
    NotValid
        No run, runs of another collection, an unknown metric, or a run that answers none of the judged queries.
    """
    _check(snapshot, runs)
    from evaluation.metrics import DEFAULT_METRICS
    from evaluation.metrics.evaluate import evaluate

    ranked = [runs_of.ranked(run) for run in runs]
    found = evaluate(labels(snapshot), ranked, list(metrics or DEFAULT_METRICS), level=LEVEL, seed=SEED)
    with transaction.atomic():
        kept = [
            _keep(snapshot, run, scores, found.query_ids, actor) for run, scores in zip(runs, found.runs, strict=True)
        ]
        names = ", ".join(run.name for run in runs)
        sentence = f"{actor} scored {names} on {snapshot}"
        audit.record("scoring.score_runs", sentence, actor=actor, collection=snapshot.collection, target=snapshot)
    return kept


def score_later(snapshot: Snapshot, runs: Sequence[Run], *, actor: User, metrics: Sequence[str] | None) -> Job:
    """The same as a job."""
    parameters = {
        "snapshot": str(snapshot.uuid),
        "runs": [str(run.uuid) for run in runs],
        "metrics": list(metrics) if metrics else None,
    }
    title = f"Score {len(runs)} runs on {snapshot}"
    return jobs.start("score", title=title, parameters=parameters, collection=snapshot.collection, actor=actor)


def too_large(runs: Sequence[Run]) -> bool:
    """Whether scoring these runs should be a job."""
    return sum(run.rows for run in runs) > ROWS_AT_ONCE


def work_on_scores(work: jobs.Work) -> dict[str, Any]:
    """The job behind :func:`score_later`: one run at a time, those that are done stay done."""
    parameters = work.job.parameters
    snapshot = Snapshot.objects.select_related("collection").get(uuid=parameters["snapshot"])
    runs = list(Run.objects.filter(uuid__in=parameters["runs"]).order_by("name"))
    for done, run in enumerate(runs):
        work.progress(done, len(runs))
        score_runs(snapshot, [run], actor=work.job.created_by, metrics=parameters["metrics"])
        work.say(f"scored {run}")
    return {"snapshot": str(snapshot.uuid), "runs": len(runs)}


def labels(snapshot: Snapshot) -> Qrels:
    """The snapshot's labels, read from its qrels file, whose hash is checked."""
    from judgments.formats.trec_qrels import load_qrels

    return load_qrels(snapshots.read_file(snapshot, snapshots.FILES["trec-qrels"]), path=f"{snapshot}/qrels.txt")


def newest(collection: Collection) -> list[Scoring]:
    """The scorings of the newest snapshot that has any, by run."""
    last = collection.scorings.select_related("snapshot").order_by("-snapshot__created_at").first()
    if last is None:
        return []
    rows = collection.scorings.filter(snapshot=last.snapshot).select_related("run", "snapshot")
    return list(rows.prefetch_related("scores").order_by("run__name"))


def as_json(snapshot: Snapshot, scorings: Sequence[Scoring]) -> dict[str, Any]:
    """The shape of ``assay evaluate --format json``."""
    entry = next(entry for entry in snapshot.manifest["files"] if entry["path"] == snapshots.FILES["trec-qrels"])
    return {
        "qrels": {
            "path": entry["path"],
            "sha256": entry["sha256"],
            "queries": snapshot.summary["queries"],
            "judgments": snapshot.summary["labels"],
        },
        "runs": [_run_json(scoring) for scoring in scorings],
    }


def _run_json(scoring: Scoring) -> dict[str, Any]:
    scores = list(scoring.scores.all())
    per_query: dict[str, dict[str, float]] = {}
    for score in scores:
        for query_id, value in score.per_query.items():
            per_query.setdefault(query_id, {})[score.metric] = value
    return {
        "name": scoring.run.name,
        "path": scoring.run.filename,
        "sha256": scoring.run.sha256,
        "metrics": {score.metric: _summary(score) for score in scores},
        "by_tier": {},
        "per_query": per_query,
        "diagnostics": scoring.diagnostics,
    }


def _summary(score: Score) -> dict[str, Any]:
    plain = {
        "mean": score.mean,
        "queries": score.queries,
        "low": score.low,
        "high": score.high,
        "weighted": None,
    }
    return plain | ({"reason": score.reason} if score.reason else {})


def _check(snapshot: Snapshot, runs: Sequence[Run]) -> None:
    if not runs:
        raise NotValid("Nothing to score.", {"runs": "Choose at least one run."})
    if any(run.collection_id != snapshot.collection_id for run in runs):
        raise NotValid("These runs are not of the snapshot's collection.", {"runs": "Choose runs of one collection."})


def _keep(snapshot: Snapshot, run: Run, scores: RunScores, query_ids: Sequence[str], actor: User) -> Scoring:
    """One scoring a run and snapshot: new metrics are added, those that are there are computed anew."""
    scoring, _ = Scoring.objects.update_or_create(
        snapshot=snapshot,
        run=run,
        defaults={
            "collection": snapshot.collection,
            "diagnostics": scores.diagnostics.as_json(),
            "created_by": actor,
        },
    )
    for metric, summary in scores.metrics.items():
        values = scores.per_query[metric].tolist()
        Score.objects.update_or_create(
            scoring=scoring,
            metric=metric,
            defaults={
                "mean": summary.mean,
                "low": summary.low,
                "high": summary.high,
                "reason": summary.reason or "",
                "queries": summary.queries,
                "per_query": dict(zip(query_ids, values, strict=True)),
            },
        )
    return scoring
