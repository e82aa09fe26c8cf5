"""Score runs against a snapshot and store the results, at once or as a background job.

The snapshot's own qrels file and the run's own file go through ``evaluation.evaluate``, the same function that ``assay
evaluate`` calls on exported files, so page and command line show the same numbers. The sampling design is read from the
queries file that was frozen with the labels: tiers and weights that change later change no score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from assay.core.errors import AssayError, NotValid
from assay.core.text_rules import agree, amount
from evaluation.models import Score, Scoring
from judgments.jobs import jobs
from judgments.models import Collection, Job, Query, QuerySample, Snapshot, User, audit
from pooling.models import Run
from pooling.runs import runs as stored_runs

if TYPE_CHECKING:
    from assay.formats.row_types import QueryRow
    from assay.scoring.results import RunScores, SamplingDesign


def relevant_from(snapshot: Snapshot) -> int:
    """Return the lowest relevant grade for binary metrics, as the manifest records it."""
    return int(snapshot.manifest.get("scale", {}).get("relevant_from") or 1)


def usual_metrics(snapshot: Snapshot) -> list[str]:
    """Return the default metrics, with the scale's threshold for binary metrics."""
    from assay.metrics import DEFAULT_METRICS

    threshold = relevant_from(snapshot)
    return [name if threshold == 1 else with_threshold(name, threshold) for name in DEFAULT_METRICS]


def with_threshold(name: str, threshold: int) -> str:
    """Return the metric with this relevance threshold; a metric without a threshold stays as it is."""
    from assay.metrics.metric import parse_metric

    if not any(parameter.name == "rel" for parameter in parse_metric(name).metric.parameters):
        return name
    head, at, cutoff = name.partition("@")
    return parse_metric(f"{head}(rel={threshold}){at}{cutoff}").name


LEVEL = 0.95
METHOD = "percentile"
SEED = 0
# The fields of a summary that are database columns.
SUMMARY = ("mean", "queries", "low", "high", "weighted", "weighted_low", "weighted_high", "effective_queries")
REASONS = ("reason", "weighted_reason")
MOST_NAMED = 6
# Every metric needs ten thousand draws per run for its interval; a longer list is a mistake or an attack.
MOST_METRICS = 40
MOST_WRITTEN = 5_000
# Diagnostics that are stored per metric; those of metrics that are not scored again stay.
BY_METRIC = ("ties_at", "bounds")
UNTIERED = "no tier"


def score_runs(
    snapshot: Snapshot,
    runs: Sequence[Run],
    *,
    actor: User,
    metrics: Sequence[str] | None = None,
    level: float = LEVEL,
    method: str = METHOD,
) -> list[Scoring]:
    """Score runs on a snapshot, with an interval for every mean, and store the result."""
    return measure(
        snapshot,
        runs,
        actor=actor,
        metrics=metrics,
        level=level,
        method=method,
        sentence=f"{actor} scored {names_of(runs)} on {snapshot}",
    )


def measure(
    snapshot: Snapshot,
    runs: Sequence[Run],
    *,
    actor: User,
    metrics: Sequence[str] | None = None,
    level: float = LEVEL,
    method: str = METHOD,
    sentence: str = "",
) -> list[Scoring]:
    """Do the work of `score_runs`; pass no sentence if a job has written the audit row already."""
    check(snapshot, runs, level, method)
    metrics = metric_names(metrics)
    from assay.scoring.evaluate import evaluate

    qrels = snapshot.qrels()
    sampling = drawn(snapshot, qrels.query_ids)
    # In blocks, because each run holds a value per query and metric.
    files = [stored_runs.opened(run) for run in runs]
    names = list(metrics or usual_metrics(snapshot))
    how: dict[str, Any] = {"level": level, "method": method}
    top = scale_top(snapshot)
    evaluation = evaluate(qrels, files, names, seed=SEED, design=sampling.design, scale_top=top, **how)
    design = sampling.as_json()
    with transaction.atomic():
        # Always in the same order, so that two users who score the same runs cannot deadlock.
        each = sorted(zip(runs, evaluation.runs, strict=True), key=lambda one: one[0].pk)
        scorings = {
            run.pk: _keep(snapshot, run, scores, evaluation.query_ids, actor, design, how) for run, scores in each
        }
        if sentence:
            audit.record("scoring.score_runs", sentence, actor=actor, target=snapshot)
    return [scorings[run.pk] for run in runs]


@dataclass(frozen=True)
class Drawn:
    """The sampling design behind the scores, with a note."""

    design: SamplingDesign
    judged: int
    weighted: int
    drawn: int
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return the design as it is stored with the scores."""
        return {"judged": self.judged, "weighted": self.weighted, "drawn": self.drawn, "reason": self.reason}


def drawn(snapshot: Snapshot, query_ids: Iterable[str]) -> Drawn:
    """Return the weights and tiers of a snapshot's judged queries."""
    from assay.scoring.results import SamplingDesign, strata_of_rows

    rows = {row.query_id: row for row in snapshot.queries()}
    wanted = list(query_ids)
    judged, query_count = [rows[query_id] for query_id in wanted if query_id in rows], len(wanted)
    weights = {row.query_id: row.weight or 0.0 for row in judged if _is_weighted(row)}
    probabilities = {row.query_id: row.probability or 0.0 for row in judged if row.query_id in weights}
    tiers = {row.query_id: row.tier or UNTIERED for row in judged} if any(row.tier for row in judged) else {}
    whole = len(weights) == query_count and any(weights.values())
    reason = "" if whole else _why(query_count, len(weights))
    strata, outside = strata_of_rows(judged)
    if outside and whole:
        whole, reason = (
            False,
            f"query {outside[0]} belongs to no stratum but others do, so its share of the traffic is unknown",
        )
    design = SamplingDesign(
        weights=weights if whole else {},
        probabilities=probabilities if whole else {},
        tiers=tiers if len(tiers) == query_count else {},
        by_tier=bool(tiers),
        **(strata if whole else {}),
    )
    return Drawn(design, query_count, len(weights), _how_many(snapshot, rows), reason)


def _is_weighted(row: QueryRow) -> bool:
    return row.weight is not None and bool(row.probability)


def _how_many(snapshot: Snapshot, query_ids: Iterable[str]) -> int:
    """Return the number of queries in the draws that the snapshot's queries came from."""
    queries = Query.objects.filter(collection=snapshot.collection)
    own = queries.filter(query_id__in=list(query_ids))
    samples = QuerySample.objects.filter(Q(queries__in=own) | Q(places__query__in=own)).distinct()
    return queries.filter(Q(sample__in=samples) | Q(places__sample__in=samples)).distinct().count()


def _why(judged: int, weighted: int) -> str:
    if not weighted:
        return "the queries have no weight and inclusion probability; draw them from a query log to get both"
    if weighted < judged:
        lacking = judged - weighted
        return (
            f"{lacking:,} of {amount(judged, 'judged query', 'judged queries')} "
            f"{agree(lacking, 'has', 'have')} no weight or probability"
        )
    return "all weights are 0"


def in_order(metrics: Iterable[str]) -> list[str]:
    """Sort metrics: default metrics first, then by name."""
    from assay.metrics import DEFAULT_METRICS

    known = set(metrics)
    return [name for name in DEFAULT_METRICS if name in known] + sorted(known - set(DEFAULT_METRICS))


def used_last(collection: Collection) -> dict[str, Any]:
    """Return the metrics, level and method that were used last, as defaults of the form."""
    rows = Score.objects.filter(scoring__collection=collection).defer("per_query", "by_tier")
    newest = rows.order_by("-computed_at", "-pk").first()
    if newest is None:
        return {"metrics": [], "level": LEVEL, "method": METHOD}
    return {
        "metrics": in_order(rows.filter(scoring=newest.scoring_id).values_list("metric", flat=True))[:MOST_METRICS],
        "level": newest.level,
        "method": newest.method,
    }


def cutoff_of(collection: Collection) -> int | None:
    """Return the cutoff of the first metric with a cutoff that the collection was last scored with."""
    from assay.metrics.metric import parse_metric

    cutoffs = (parse_metric(name).cutoff for name in used_last(collection)["metrics"])
    return next((cutoff for cutoff in cutoffs if isinstance(cutoff, int)), None)


def scale_top(snapshot: Snapshot) -> float | None:
    """Return the highest grade of the scale, which some metrics need even if no document has it."""
    grades = snapshot.manifest.get("scale", {}).get("grades")
    return float(max(grades)) if grades else None


def check(snapshot: Snapshot, runs: Sequence[Run], level: float, method: str) -> None:
    """Check that these runs can be scored with these settings; errors are reported by field."""
    if not runs:
        raise NotValid("No run is selected.", {"runs": "Choose at least one run."})
    if any(run.collection_id != snapshot.collection_id for run in runs):
        raise NotValid(
            "These runs do not belong to the snapshot's collection.", {"runs": "Choose runs of one collection."}
        )
    if snapshot.of_answers:
        message = (
            f"Snapshot {snapshot} contains grades of answers, but runs rank documents. Choose a snapshot of documents."
        )
        raise NotValid(message, "snapshot")
    from assay.scoring.intervals import METHODS

    if not 0 < level < 1:
        raise NotValid("The level must be between 0 and 1.", {"level": "Enter a number between 0 and 1, such as 0.95."})
    if method not in METHODS:
        known = ", ".join(METHODS)
        raise NotValid(f"Unknown interval method {method!r}.", {"method": f"One of {known}."})


def metric_names(written: str | Sequence[str] | None) -> list[str] | None:
    """Return the canonical names of the given metrics, or None for the defaults."""
    from assay.metrics.metric import parse_metrics

    texts = [written] if isinstance(written, str) else list(written or ())
    if not any(text.strip() for text in texts):
        return None
    if sum(map(len, texts)) > MOST_WRITTEN:
        raise _not_these(f"the names of the metrics are longer than {MOST_WRITTEN:,} characters together")
    try:
        metrics = parse_metrics(texts)
    except AssayError as error:
        raise _not_these(str(error)) from error
    if len(metrics) > MOST_METRICS:
        raise _not_these(f"{len(metrics):,} metrics exceed the limit of {MOST_METRICS}")
    longest = Score._meta.get_field("metric").max_length or 0
    for bound in metrics:
        if len(bound.name) > longest:
            raise _not_these(f"the metric {bound.name[:40]}… has a name with more than {longest} characters")
        if bound.metric.by_subtopic:
            raise _not_these(
                f"the metric {bound.name} needs labels by subtopic, which snapshots do not have. Compute it with "
                "assay evaluate --subtopics"
            )
    return [bound.name for bound in metrics]


def _not_these(message: str) -> NotValid:
    return NotValid(message, "metrics")


def names_of(runs: Sequence[Run]) -> str:
    """Return the first runs by name, and the number of others."""
    names = [run.name for run in runs[:MOST_NAMED]]
    more = len(runs) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _keep(
    snapshot: Snapshot,
    run: Run,
    scores: RunScores,
    query_ids: Sequence[str],
    actor: User,
    design: dict[str, Any],
    how: dict[str, Any],
) -> Scoring:
    """Store one scoring per run and snapshot: add new metrics and replace existing ones."""
    made, _ = Scoring.objects.get_or_create(snapshot=snapshot, run=run, defaults={"collection": snapshot.collection})
    # Locked, so that two users who score different metrics of a run at the same time keep each other's results.
    scoring = Scoring.objects.select_for_update().get(pk=made.pk)
    before, scoring.diagnostics = scoring.diagnostics, scores.diagnostics.as_json()
    for name in BY_METRIC:
        scoring.diagnostics[name] = before.get(name, {}) | scoring.diagnostics.get(name, {})
    scoring.design, scoring.created_by = design, actor
    scoring.save()
    tiers = {
        tier: {name: one.as_json() for name, one in by_metric.items()} for tier, by_metric in scores.by_tier.items()
    }
    for metric, summary in scores.metrics.items():
        values = scores.per_query[metric].tolist()
        summary_values = {name: getattr(summary, name) for name in SUMMARY}
        by_tier = {tier: by_metric[metric] for tier, by_metric in tiers.items()}
        # A query without a value is left out, because JSON has no NaN.
        per_query = {query_id: value for query_id, value in zip(query_ids, values, strict=True) if value == value}
        reasons = {name: (getattr(summary, name) or "")[:200] for name in REASONS}
        fields = summary_values | reasons | how | {"by_tier": by_tier, "per_query": per_query}
        Score.objects.update_or_create(scoring=scoring, metric=metric, defaults=fields)
    return scoring


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
    level: float = LEVEL,
    method: str = METHOD,
) -> Job:
    """Queue `score_runs` as a job with a single audit entry."""
    check(snapshot, runs, level, method)
    metrics = metric_names(metrics)
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
        sentence = f"{actor} started scoring {names_of(runs)} on {snapshot}"
        audit.record("scoring.score_later", sentence, actor=actor, target=snapshot)
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
    last = used_last(snapshot.collection)
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
            measure(snapshot, [run], actor=work.job.created_by, **how)
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
