"""Conversion of a snapshot's stored scores to an evaluation, for files and reports.

The writers are those of ``assay evaluate``, so files from the server and from the command have the same format.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch

from assay.core.unjudged import unjudged_share
from evaluation.models import Score, Scoring
from evaluation.scoring.scoring import REASONS, SEED, SUMMARY, drawn, in_order
from judgments.models import Snapshot
from judgments.models.snapshot import FILES

if TYPE_CHECKING:
    from assay.metrics.metric import MeanKind
    from assay.scoring.results import Evaluation, RunScores, Summary
    from assay.scoring.score_files import ScoreReport

# The diagnostics of a run that do not depend on grades; ranges of means would reveal the means themselves.
WITHOUT_GRADES = (
    "rows",
    "ties",
    "duplicates",
    "queries_missing",
    "queries_unjudged",
    "missing",
    "unjudged",
    "holes@10",
    "least_judged",
    "float32_ties",
    "ranks_contradicted",
    "depth",
)
NOT_SCORED = "not scored with this metric"


@dataclass(frozen=True)
class StoredDiagnostics:
    """Return the diagnostics of a run from the time it was scored."""

    values: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return dict(self.values)


def unjudged(scoring: Scoring) -> float | None:
    """Return the unjudged share of a run's first ten over the judged queries that it answers, as the freshness page
    shows it."""
    score = next((one for one in scoring.scores.all() if one.metric == "Judged@10"), None)
    if score is None or score.mean is None:
        return None
    return unjudged_share(score.mean, score.queries, scoring.diagnostics.get("queries_missing", 0))


def scorings_of(
    snapshot: Snapshot, *, per_query: bool = False, left_out: Collection[str] = (), runs: Collection[int] | None = None
) -> list[Scoring]:
    """Return the scored runs of a snapshot by name."""
    scores = Score.objects.all() if per_query or left_out else Score.objects.defer("per_query")
    wanted = {"run__archived_at": None} if runs is None else {"run__in": runs}
    rows = snapshot.scorings.filter(**wanted)
    rows = rows.select_related("run", "snapshot", "created_by").prefetch_related(Prefetch("scores", scores))
    scorings = list(rows.order_by("run__name"))
    if left_out:
        _leave_out(snapshot, [score for scoring in scorings for score in scoring.scores.all()], frozenset(left_out))
        for scoring in scorings:
            visible = {name: value for name, value in scoring.diagnostics.items() if name in WITHOUT_GRADES}
            scoring.diagnostics = visible
    return scorings


def _leave_out(snapshot: Snapshot, scores: Sequence[Score], left_out: frozenset[str]) -> None:
    """Recompute the scores in memory from the remaining queries."""
    for score in scores:
        score.per_query = {query_id: value for query_id, value in score.per_query.items() if query_id not in left_out}
    for (level, method), alike in _by_interval(scores).items():
        _sum_up(snapshot, alike, level, method)


def _by_interval(scores: Sequence[Score]) -> dict[tuple[float, str], list[Score]]:
    groups: dict[tuple[float, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.level, score.method), []).append(score)
    return groups


def _sum_up(snapshot: Snapshot, scores: Sequence[Score], level: float, method: str) -> None:
    import numpy as np

    from assay.metrics.metric import parse_metrics
    from assay.scoring.results import summarize, summarize_tiers

    ids = sorted({query_id for score in scores for query_id in score.per_query}, key=str.encode)
    values = np.array([_column(score, ids) for score in scores], dtype=np.float64).reshape(len(scores), len(ids)).T
    metrics = [parse_metrics(score.metric)[0].metric for score in scores]
    kinds = [metric.mean for metric in metrics]
    how: dict[str, Any] = {"design": drawn(snapshot, ids).design, "level": level, "method": method, "seed": SEED}
    how["bounded"] = [metric.bounded for metric in metrics]
    tiers = summarize_tiers(values, kinds, ids, **how)
    for at, (score, summary) in enumerate(zip(scores, summarize(values, kinds, ids, **how), strict=True)):
        for name in (*SUMMARY, *REASONS):
            setattr(score, name, getattr(summary, name))
        score.reason = score.reason if ids else "you may still grade documents of every judged query"
        score.by_tier = {tier: summaries[at].as_json() for tier, summaries in tiers.items()}


def mean_kind(metric: str) -> MeanKind:
    """Return how the values of a metric are aggregated: mean, geometric mean or sum."""
    from assay.metrics.metric import parse_metrics

    return parse_metrics(metric)[0].metric.mean


def evaluation_of(scorings: Sequence[Scoring], metrics: Sequence[str] | None = None) -> Evaluation:
    """Rebuild an evaluation from stored scores."""
    from assay.scoring.results import Evaluation

    names = list(metrics) if metrics is not None else metrics_of(scorings)
    scores_by_run = [{score.metric: score for score in one.scores.all() if score.metric in names} for one in scorings]
    ids = {query_id for scores in scores_by_run for score in scores.values() for query_id in score.per_query}
    query_ids = tuple(sorted(ids, key=str.encode))
    runs = [_run_scores(one, scores, names, query_ids) for one, scores in zip(scorings, scores_by_run, strict=True)]
    return Evaluation(query_ids=query_ids, metrics=tuple(names), runs=tuple(runs))


def metrics_of(scorings: Sequence[Scoring]) -> list[str]:
    """Return the metrics that any run was scored with: default metrics first, then by name."""
    return in_order({score.metric for scoring in scorings for score in scoring.scores.all()})


def report_of(snapshot: Snapshot, scorings: Sequence[Scoring], *, per_query: bool = True) -> ScoreReport:
    """Return the scores with their provenance, as the writers of `assay.scoring.results` need them."""
    from assay.metrics.metric import parse_metrics
    from assay.scoring.score_files import ScoreReport

    metrics = metrics_of(scorings)
    bound = {name: parse_metrics(name)[0] for name in metrics}
    entry = snapshot.entry(FILES["trec-qrels"])
    qrels = {"path": entry["path"], "sha256": entry["sha256"]}
    qrels |= {"queries": snapshot.summary["queries"], "judgments": snapshot.summary["labels"]}
    return ScoreReport(
        evaluation=evaluation_of(scorings, metrics),
        trec_names={name: metric.trec_name for name, metric in bound.items()},
        qrels=qrels,
        files=[{"path": one.run.filename, "sha256": one.run.sha256} for one in scorings],
        settings=_settings(scorings, metrics),
        per_query=per_query,
    )


def as_json(snapshot: Snapshot, scorings: Sequence[Scoring]) -> dict[str, Any]:
    """Return the format of ``assay evaluate --format json`` as a dict."""
    report = report_of(snapshot, scorings)
    runs = [
        {"name": run["name"], **file, **{key: value for key, value in run.items() if key != "name"}}
        for run, file in zip(report.evaluation.as_json(), report.files, strict=True)
    ]
    return {"qrels": dict(report.qrels), "runs": runs, "settings": dict(report.settings)}


def _settings(scorings: Sequence[Scoring], metrics: Sequence[str]) -> dict[str, Any]:
    """Return the settings behind the numbers; a metric that was scored again may have its own level or method."""
    by_metric = {score.metric: score for one in scorings for score in one.scores.all()}
    effective = (score.effective_queries for score in by_metric.values() if score.effective_queries is not None)
    return {
        "missing": "zero",
        "seed": SEED,
        "effective_queries": next(effective, None),
        "metrics": {name: {"level": by_metric[name].level, "method": by_metric[name].method} for name in metrics},
    }


def _run_scores(
    scoring: Scoring, scores: Mapping[str, Score], metrics: Sequence[str], query_ids: Sequence[str]
) -> RunScores:
    import numpy as np

    from assay.scoring.results import RunScores

    tiers = sorted({tier for score in scores.values() for tier in score.by_tier}, key=tier_place)
    diagnostics: Any = StoredDiagnostics(scoring.diagnostics)
    return RunScores(
        name=scoring.run.name,
        metrics={name: _summary(scores.get(name)) for name in metrics},
        per_query={name: np.array(_column(scores.get(name), query_ids), dtype=np.float64) for name in metrics},
        diagnostics=diagnostics,
        by_tier={
            tier: {name: summary_of(_tier(scores.get(name), tier)) for name in metrics if name in scores}
            for tier in tiers
        },
    )


def tier_place(tier: str) -> tuple[int, str]:
    """Sort head, torso, tail, then any other tiers."""
    known = ("head", "torso", "tail")
    return (known.index(tier) if tier in known else len(known), tier)


def _tier(score: Score | None, tier: str) -> Mapping[str, Any]:
    missing = {"mean": None, "queries": 0, "reason": "not scored by tier"}
    return score.by_tier.get(tier, missing) if score else missing


def _column(score: Score | None, query_ids: Sequence[str]) -> list[float]:
    values = score.per_query if score else {}
    column = (values.get(query_id) for query_id in query_ids)
    return [math.nan if value is None else value for value in column]


def _summary(score: Score | None) -> Summary:
    if score is None:
        return summary_of({"mean": None, "queries": 0, "reason": NOT_SCORED})
    return summary_of(
        {name: getattr(score, name) for name in SUMMARY} | {name: getattr(score, name) or None for name in REASONS}
    )


def summary_of(plain: Mapping[str, Any]) -> Summary:
    """Build a summary from a dict, ignoring unknown fields."""
    from assay.scoring.results import Summary

    known = {field.name for field in fields(Summary)}
    return Summary(**{name: value for name, value in plain.items() if name in known})
