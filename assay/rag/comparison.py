"""Paired comparisons of RAG systems, sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from assay.core.errors import NotValid
from assay.rag.evaluation import RagEvaluation, SystemScores
from assay.rag.metric import Metric
from assay.significance.compare import BY_THE_TEST, NO_CORRECTION, Plan
from assay.significance.corrections import corrected
from assay.significance.intervals import difference_intervals
from assay.significance.paired_differences import paired_p_values
from assay.significance.results import Effect, effect

NO_COMMON = "no sample has a value for both systems"
NO_MEAN = "the metric is not a mean over samples"


@dataclass(frozen=True)
class RagComparison:
    """A metric of two systems, over the samples that have a value for both.

    Parameters
    ----------
    metric, a, b : str
        The label of the metric, and the systems; the baseline is ``a``.
    samples : int
        Number of samples with a value for both.
    a_value, b_value : float or None
        The metric over these samples; for a metric that is not a mean, over all samples of each system.
    difference : float or None
        ``b_value - a_value``.
    low, high : float or None
        The bootstrap interval of the difference.
    p, p_corrected : float or None
        p-value of the paired test, and p-value corrected over the comparisons of the metric.
    wins, ties, losses : int or None
        Number of samples on which b is better, the same, or worse; smaller is better for latency.
    reason : str or None
        Why a number is None.
    """

    metric: str
    a: str
    b: str
    samples: int
    a_value: float | None
    b_value: float | None
    difference: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def compare(
    evaluation: RagEvaluation,
    *,
    baseline: str | None = None,
    plan: Plan | None = None,
) -> list[RagComparison]:
    """Compare the systems of an evaluation.

    Parameters
    ----------
    evaluation : RagEvaluation
        An evaluation of two or more systems.
    baseline : str, optional
        The system that all others are compared with; by default all pairs are compared.
    plan : Plan, optional
        Test, correction, draws, seed and interval; the sign-flip test with Holm's correction by default, with the seed,
        the level and the resamples of the evaluation.

    Returns
    -------
    list of RagComparison
        Sorted by metric, then by pair.

    Raises
    ------
    NotValid
        When there are fewer than two systems, or none has the name of the baseline.

    Examples
    --------
    >>> from assay.rag import evaluate
    >>> samples = [{"id": str(n), "question": "Where?", "ground_truth": "in the box"} for n in range(12)]
    >>> systems = {name: [{"id": str(n), "answer": text} for n in range(12)] for name, text in
    ...            {"old": "box", "new": "in the box"}.items()}
    >>> found = compare(evaluate(samples, systems, "ExactMatch"))[0]
    >>> found.difference, found.wins, found.p < 0.001
    (1.0, 12, True)
    """
    systems = {system.name: system for system in evaluation.systems}
    if len(systems) < 2:
        raise NotValid("a comparison needs two systems with different names")
    if baseline is not None and baseline not in systems:
        raise NotValid(f"unknown system {baseline!r}; systems: {', '.join(systems)}")
    pairs = [(baseline, name) for name in systems if name != baseline] if baseline else [*combinations(systems, 2)]
    chosen = plan or Plan(seed=evaluation.seed, level=evaluation.level, resamples=evaluation.resamples)
    comparisons: list[RagComparison] = []
    for metric in evaluation.metrics:
        rows = [_compared(metric, systems[a], systems[b], chosen) for a, b in pairs]
        adjusted = _corrected([row.p for row in rows], chosen)
        comparisons += [
            RagComparison(**{**asdict(row), "p_corrected": value}) for row, value in zip(rows, adjusted, strict=True)
        ]
    return comparisons


def paired_values(metric: str, a: SystemScores, b: SystemScores) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Return the ids of the samples with a value for both systems, and the values, shape (samples, 2)."""
    both = [system.per_sample_of(metric) for system in (a, b)]
    ids = [key for key, value in both[0].items() if value is not None and both[1].get(key) is not None]
    return ids, np.array([[both[0][key], both[1][key]] for key in ids], dtype=float).reshape(len(ids), 2)


def _compared(metric: Metric, a: SystemScores, b: SystemScores, plan: Plan) -> RagComparison:
    scores = a.scores[metric.label], b.scores[metric.label]
    if not all(score.defined for score in scores):
        first, second = (score.value if score.defined else None for score in scores)
        reason = next(score.result.details["reason"] for score in scores if not score.defined)
        return RagComparison(metric.label, a.name, b.name, 0, first, second, None, reason=reason)
    if not all(score.result.is_mean for score in scores):
        first, second = scores[0].value, scores[1].value
        number = min(score.result.details["num_samples"] for score in scores)
        return RagComparison(metric.label, a.name, b.name, number, first, second, second - first, reason=NO_MEAN)
    ids, values = paired_values(metric.label, a, b)
    if not ids:
        return RagComparison(metric.label, a.name, b.name, 0, None, None, None, reason=NO_COMMON)
    p = paired_p_values(values, [(0, 1)], test=plan.test, permutations=plan.permutations, seed=plan.seed)
    (ends,) = difference_intervals(
        values, [(0, 1)], level=plan.level, resamples=plan.resamples, seed=plan.seed, method=plan.interval_by
    )
    size = effect(values[:, 0], values[:, 1])
    first, second = _means(values)
    return RagComparison(
        metric.label,
        a.name,
        b.name,
        len(ids),
        first,
        second,
        size.difference,
        ends.low,
        ends.high,
        p.values[0],
        None,
        *_better(metric, size),
        of_samples(p.reasons[0] or ends.reason),
    )


def of_samples(reason: str | None) -> str | None:
    """Return a reason of the paired tests, worded for samples instead of queries."""
    return reason and reason.replace("queries", "samples").replace("query", "sample")


def _better(metric: Metric, size: Effect) -> tuple[int, int, int]:
    if metric.higher_is_better is False:
        return size.losses, size.ties, size.wins
    return size.wins, size.ties, size.losses


def _corrected(values: list[float | None], plan: Plan) -> list[float | None]:
    if plan.corrected_by == NO_CORRECTION:
        return [None] * len(values)
    return values if plan.corrected_by == BY_THE_TEST else corrected(values, plan.corrected_by)


def _means(values: np.ndarray[Any, Any]) -> Sequence[float]:
    from assay.metrics.metric import mean

    return [mean(column) or 0.0 for column in values.T.tolist()]
