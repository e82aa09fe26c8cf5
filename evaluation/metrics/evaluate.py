"""How good is each run, according to the labels?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation.metrics import DEFAULT_METRICS
from evaluation.metrics.declaration import BoundMetric
from evaluation.metrics.design import SamplingDesign
from evaluation.metrics.judged_ranking import JudgedRanking, judged_rankings
from evaluation.metrics.means import Interval, bootstrap_interval, effective_queries, hajek_mean, mean
from evaluation.metrics.names import parse_metrics
from evaluation.metrics.results import Diagnostics, Evaluation, RunScores, Summary
from judgments.core.errors import NotValid
from judgments.core.qrels import Qrels
from judgments.core.run import Run

DEPTH_OF_HOLES = 10


def evaluate(
    qrels: Qrels,
    runs: Run | Iterable[Run],
    metrics: str | Iterable[str | BoundMetric] = DEFAULT_METRICS,
    missing: Literal["zero", "skip"] = "zero",
    *,
    level: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    design: SamplingDesign | None = None,
    watch: Callable[[int], None] = lambda done: None,
) -> Evaluation:
    """Score runs against labels, by trec_eval's rules.

    Documents stand by score descending, then id descending by bytes. The mean runs over the queries of the qrels;
    queries that only a run has are ignored and counted. An unjudged document gains 0.

    Parameters
    ----------
    qrels : Qrels
        The labels.
    runs : Run or iterable of Run
        The runs; their names must differ.
    metrics : str or iterable of str or BoundMetric
        Names such as ``"nDCG@10"``; one text may hold several.
    missing : {"zero", "skip"}
        A judged query that a run does not answer scores 0, or is left out of that run's mean.
    level : float, optional
        Coverage of a bootstrap interval over queries, such as 0.95; none by default.
    resamples, seed : int
        Of that bootstrap.
    design : SamplingDesign, optional
        Adds the weighted mean and the breakdown by tier.
    watch : callable
        Called with the number of runs done, for a progress bar.

    Returns
    -------
    Evaluation
        Means, values per query, diagnostics.

    Raises
    ------
    NotValid
        When two runs have one name, a metric is unknown, or no run answers any judged query.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 3, "d2": 1, "d3": 0, "d4": 2, "d5": 0}})
    >>> bm25 = Run.from_dict({"q1": {"d1": 9.1, "d2": 8.7, "d3": 8.7}}, name="bm25")
    >>> result = evaluate(qrels, bm25, ["nDCG@3", "RR@3"])
    >>> round(result.runs[0].metrics["nDCG@3"].mean, 4)
    0.735
    """
    bound = _bind(metrics)
    many = [runs] if isinstance(runs, Run) else list(runs)
    _check(qrels, many, missing)
    plan = _Plan(qrels, bound, missing, level, resamples, seed, design or SamplingDesign())
    scores = []
    for done, run in enumerate(many, 1):
        scores.append(plan.score(run))
        watch(done)
    weights = plan.design.weights_of(qrels.query_ids)
    return Evaluation(
        query_ids=qrels.query_ids,
        metrics=tuple(metric.name for metric in bound),
        runs=tuple(scores),
        effective_queries=effective_queries(weights) if weights else None,
    )


def _bind(metrics: str | Iterable[str | BoundMetric]) -> tuple[BoundMetric, ...]:
    if isinstance(metrics, str):
        return parse_metrics(metrics)
    bound = [one for item in metrics for one in ((item,) if isinstance(item, BoundMetric) else parse_metrics(item))]
    if not bound:
        raise NotValid("no metric is named; write for example nDCG@10")
    return tuple({metric.name: metric for metric in bound}.values())


def _check(qrels: Qrels, runs: Sequence[Run], missing: str) -> None:
    if missing not in ("zero", "skip"):
        raise NotValid(f"missing is zero or skip, not {missing!r}")
    if not qrels.query_ids:
        raise NotValid("the qrels hold no judgment; there is nothing to evaluate against")
    names = [run.name for run in runs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise NotValid(f"two runs are named {twice[0]!r}; give one of them another name, as in NAME=PATH")
    judged = set(qrels.query_ids)
    for run in runs:
        if judged.isdisjoint(run.query_ids):
            theirs = run.query_ids[0] if run.query_ids else "none"
            raise NotValid(
                f"the run {run.name!r} answers none of the judged queries; "
                f"query ids look like {qrels.query_ids[0]!r} in the qrels and {theirs!r} in the run"
            )


@dataclass(frozen=True)
class _Plan:
    """Everything but the run: what each run is scored with."""

    qrels: Qrels
    metrics: tuple[BoundMetric, ...]
    missing: str
    level: float | None
    resamples: int
    seed: int
    design: SamplingDesign

    def score(self, run: Run) -> RunScores:
        rankings = list(judged_rankings(self.qrels, run))
        absent = np.nan if self.missing == "skip" else 0.0
        per_query = {
            metric.name: np.array([absent if r is None else metric(r) for r in rankings], dtype=np.float64)
            for metric in self.metrics
        }
        counted = [at for at, ranking in enumerate(rankings) if ranking is not None or self.missing == "zero"]
        return RunScores(
            name=run.name,
            metrics={name: self._summary(values.tolist(), counted) for name, values in per_query.items()},
            per_query=per_query,
            diagnostics=_diagnose(self.qrels, run, rankings),
            by_tier=self._by_tier(per_query, counted),
        )

    def _by_tier(
        self, per_query: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]], counted: list[int]
    ) -> dict[str, dict[str, Summary]]:
        tiers = self.design.tiers_of(self.qrels.query_ids)
        if tiers is None or not self.design.by_tier:
            return {}
        order = sorted(set(tiers), key=lambda tier: (("head", "torso", "tail", tier).index(tier), tier))
        return {
            tier: {
                name: self._summary(values.tolist(), [at for at in counted if tiers[at] == tier])
                for name, values in per_query.items()
            }
            for tier in order
        }

    def _summary(self, column: list[float], counted: list[int]) -> Summary:
        values = [column[at] for at in counted]
        if not values:
            return Summary(None, 0, reason="no query counts: the run answers none of them")
        query_ids = [self.qrels.query_ids[at] for at in counted]
        weights = self.design.weights_of(query_ids)
        plain = self._interval(values, None, query_ids)
        weighted = self._interval(values, weights, query_ids) if weights else Interval(None, None)
        return Summary(
            mean=mean(values),
            queries=len(values),
            low=plain.low,
            high=plain.high,
            weighted=hajek_mean(values, weights) if weights else None,
            weighted_low=weighted.low,
            weighted_high=weighted.high,
            reason=plain.reason,
        )

    def _interval(self, values: list[float], weights: list[float] | None, query_ids: list[str]) -> Interval:
        if self.level is None:
            return Interval(None, None)
        strata = self.design.tiers_of(query_ids) if weights else None
        return bootstrap_interval(
            values, self.level, resamples=self.resamples, seed=self.seed, weights=weights, strata=strata
        )


def _diagnose(qrels: Qrels, run: Run, rankings: Sequence[JudgedRanking | None]) -> Diagnostics:
    answered = [ranking for ranking in rankings if ranking is not None]
    best = np.maximum.reduceat(qrels.grades, qrels.offsets[:-1])
    return Diagnostics(
        rows=len(run),
        ties=run.ties or 0.0,
        duplicates=qrels.duplicates,
        queries_missing=len(rankings) - len(answered),
        queries_unjudged=run.queries - len(answered),
        queries_without_relevant=int((best <= 0).sum()),
        holes=sum(min(DEPTH_OF_HOLES, r.returned) - r.judged_within(DEPTH_OF_HOLES) for r in answered),
    )
