"""Compare runs: which is better, by how much, and whether the difference is significant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal, TypeVar

import numpy as np

from assay.core.errors import NotValid
from assay.metrics.metric import MeanKind, effective_queries, hajek_mean, mean
from assay.scoring.evaluate import Metrics, evaluate
from assay.scoring.results import Evaluation, SamplingDesign
from assay.significance import CORRECTIONS, TESTS
from assay.significance.corrections import corrected
from assay.significance.intervals import LEVEL, METHODS, RESAMPLES, difference_intervals
from assay.significance.paired_differences import PERMUTATIONS, PValues, paired_p_values
from assay.significance.power import ALPHA
from assay.significance.rank_correlation import rank_correlation
from assay.significance.results import Comparison, PairComparison, Ranking, effect
from assay.significance.sign_flips import Floats, Pairs

NO_CORRECTION = "none"
BY_THE_TEST = "the test itself"
DEFAULT_CORRECTION = "holm"
MOST_PERMUTATIONS = 10_000_000


@dataclass(frozen=True)
class Plan:
    """Settings of a comparison.

    Examples
    --------
    >>> Plan().corrected_by, Plan(test="tukey").corrected_by
    ('holm', 'the test itself')
    """

    test: str = "randomization"
    correction: str | None = None
    permutations: int = PERMUTATIONS
    seed: int = 0
    level: float = LEVEL
    resamples: int = RESAMPLES
    alpha: float = ALPHA
    interval: str | None = None

    def __post_init__(self) -> None:
        if self.correction not in (None, NO_CORRECTION):
            CORRECTIONS[self.correction]
        if TESTS[self.test].corrects_itself and self.correction is not None:
            raise NotValid(f"the test {self.test} already corrects for all pairs; remove the correction")
        if self.interval not in (None, *METHODS):
            raise NotValid(f"unknown interval {self.interval!r}; known: {', '.join(METHODS)}")
        if not 1 <= self.permutations <= MOST_PERMUTATIONS:
            raise NotValid(f"permutations is {self.permutations:,}; use a number from 1 to {MOST_PERMUTATIONS:,}")
        if not 1 <= self.resamples <= MOST_PERMUTATIONS:
            raise NotValid(f"resamples is {self.resamples:,}; use a number from 1 to {MOST_PERMUTATIONS:,}")
        if self.seed < 0:
            raise NotValid(f"the seed is {self.seed}; use a whole number, 0 or more")
        if not 0 < self.level < 1:
            raise NotValid(f"the level is {self.level:g}; use a number between 0 and 1, such as 0.95")
        if not 0 < self.alpha < 1:
            raise NotValid(f"alpha is {self.alpha:g}; use a number between 0 and 1, such as 0.05")

    @property
    def interval_by(self) -> str:
        """Return the interval method of the difference."""
        return self.interval or ("t" if self.test == "t" else "bootstrap")

    @property
    def corrected_by(self) -> str:
        """Return the correction that is applied: a name of the family, ``none``, or the test itself."""
        if TESTS[self.test].corrects_itself:
            return BY_THE_TEST
        return self.correction or DEFAULT_CORRECTION


Value = TypeVar("Value")

# Two systems have the same or the reverse order, which needs no coefficient.
LEAST_RANKED = 3


def compare(
    qrels: Any,
    runs: Any,
    metrics: Metrics = "nDCG@10",
    *,
    baseline: str | None = None,
    plan: Plan | None = None,
    missing: Literal["zero", "skip"] = "zero",
    design: SamplingDesign | None = None,
) -> Comparison:
    """Score runs against labels and compare them query by query.

    Parameters
    ----------
    qrels : path, dict, DataFrame, iterable or Qrels
        As in `evaluate`.
    runs : sequence of paths, dicts, data frames or Runs, or a mapping of names to any of these
        Two or more, with different names. A file is read in pieces and never kept in memory as a whole.
    metrics : str, BoundMetric, metric of ir_measures, or iterable of them
        The first metric is the primary metric; choose it before looking at the results.
    baseline : str, optional
        The name of the run that all others are compared with; by default all pairs are compared.
    plan : Plan, optional
        Test, correction, draws and seed; the sign-flip test with Holm's correction by default.
    missing : {"zero", "skip"}
        Whether a judged query that a run does not answer scores 0 or is left out of all comparisons.
    design : SamplingDesign, optional
        How the queries were drawn; means and differences are then weighted, sum(w d) / sum(w). A query whose weight is
        0 is left out.

    Returns
    -------
    Comparison
        One row per metric and pair.

    Raises
    ------
    NotValid
        When there are fewer than two runs, the baseline is unknown, the test has no weighted form, or as for
        `evaluate`.

    Examples
    --------
    >>> qrels = {f"q{n}": {"good": 1} for n in range(8)}
    >>> old = {f"q{n}": {"bad": 2.0, "good": 1.0} for n in range(8)}
    >>> new = {f"q{n}": {"good": 2.0} if n else {"bad": 1.0} for n in range(8)}
    >>> (pair,) = compare(qrels, {"old": old, "new": new}, "RR").pairs
    >>> pair.effect.difference, pair.effect.wins, pair.effect.losses, pair.p
    (0.375, 7, 1, 0.0703125)
    """
    scored = evaluate(qrels, runs, metrics, missing, ranges=False)
    return compare_scores(scored, baseline=baseline, plan=plan, design=design)


def compare_scores(
    evaluation: Evaluation,
    *,
    baseline: str | None = None,
    plan: Plan | None = None,
    design: SamplingDesign | None = None,
) -> Comparison:
    """Compare runs that are already scored, on their common queries."""
    names = [run.name for run in evaluation.runs]
    pairs, plan = _pairs(names, baseline), plan or Plan()
    means: dict[str, dict[str, float]] = {name: {} for name in names}
    rows: list[PairComparison] = []
    for metric in evaluation.metrics:
        common = _common(evaluation, metric, design)
        for run in evaluation.runs:
            means[run.name][metric] = _mean(evaluation, run.per_query[metric], metric, common)
        p_values = paired_p_values(
            common.scores,
            pairs,
            test=plan.test,
            permutations=plan.permutations,
            seed=plan.seed,
            weights=common.weights,
            strata=common.strata,
        )
        rows += _rows(metric, names, pairs, common, plan, p_values)
    settings = _settings(plan, p_values, evaluation, baseline, len(pairs), common)
    return Comparison(means, tuple(rows), settings, _rankings(means, evaluation.metrics), evaluation.machine)


@dataclass(frozen=True, eq=False)
class _Common:
    """The queries that count for a metric: those that every run has and that represent traffic."""

    rows: np.ndarray[tuple[int], np.dtype[np.int64]]
    scores: Floats
    weights: list[float] | None
    strata: list[str] | None


def _pairs(names: Sequence[str], baseline: str | None) -> Pairs:
    if len(names) < 2:
        raise NotValid("a comparison needs two runs; name another run")
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    if baseline not in names:
        raise NotValid(f"unknown baseline run {baseline!r}; runs: {', '.join(names)}")
    base = names.index(baseline)
    return [(base, at) for at in range(len(names)) if at != base]


def _common(evaluation: Evaluation, metric: str, design: SamplingDesign | None) -> _Common:
    scores = np.column_stack([evaluation.tested(run, metric) for run in evaluation.runs])
    counts = ~np.isnan(scores).any(axis=1)
    weights = design.weights_of(evaluation.query_ids) if design else None
    if weights is not None:
        counts &= np.asarray(weights) > 0
    rows = np.flatnonzero(counts)
    if not len(rows):
        raise NotValid("the runs have no judged query in common; count unanswered queries as 0 (missing zero)")
    strata = design.strata_of(evaluation.query_ids) if design and weights is not None else None
    own = _chosen(weights, rows)
    if design is not None and design.strata and weights is not None:
        own = _over_strata(design, evaluation.query_ids, rows.tolist())
    return _Common(rows, scores[rows], own, _chosen(strata, rows))


def _over_strata(design: SamplingDesign, query_ids: Sequence[str], rows: Iterable[int]) -> list[float]:
    """Return the weights of the queries that count; each stratum's share is distributed over its queries."""
    counted = [query_ids[row] for row in rows]
    whole, part = design.units_of(query_ids), design.units_of(counted)
    lost = sorted({*(whole.shares if whole else ())} - {*(part.shares if part else ())})
    if lost:
        raise NotValid(
            f"the runs have no judged query of the stratum {lost[0]!r} in common, so the difference for its share "
            "of the traffic is undefined; count unanswered queries as 0 (missing zero)"
        )
    return design.weights_of(counted) or []


def _chosen(values: Sequence[Value] | None, rows: Iterable[int]) -> list[Value] | None:
    return None if values is None else [values[row] for row in rows]


def _mean(evaluation: Evaluation, values: Floats, metric: str, common: _Common) -> float:
    """Return the mean as in `evaluate`, except that counts have a mean instead of a sum, as the differences do."""
    kinds = {one.name: one.metric.mean for one in evaluation.bound}
    kind: MeanKind = "geometric" if kinds.get(metric) == "geometric" else "arithmetic"
    counted = values[common.rows].tolist()
    mean_value = hajek_mean(counted, common.weights, kind) if common.weights else mean(counted, kind)
    # Some queries count, so there is a mean.
    return mean_value or 0.0


def _rows(
    metric: str, names: Sequence[str], pairs: Pairs, common: _Common, plan: Plan, p_values: PValues
) -> list[PairComparison]:
    family = _corrected(p_values, plan)
    intervals = difference_intervals(
        common.scores,
        pairs,
        level=plan.level,
        resamples=plan.resamples,
        seed=plan.seed,
        weights=common.weights,
        strata=common.strata,
        method=plan.interval_by,
    )
    rows = []
    for at, ((first, second), interval) in enumerate(zip(pairs, intervals, strict=True)):
        size = effect(common.scores[:, first], common.scores[:, second], common.weights)
        rows.append(
            PairComparison(
                metric=metric,
                a=names[first],
                b=names[second],
                effect=size,
                low=interval.low,
                high=interval.high,
                p=p_values.values[at],
                p_corrected=family[at],
                queries=len(common.scores),
                reason="; ".join(one for one in (p_values.reasons[at], interval.reason, size.reason) if one) or None,
            )
        )
    return rows


def _corrected(p_values: PValues, plan: Plan) -> list[float | None]:
    if plan.corrected_by == NO_CORRECTION:
        return [None] * len(p_values.values)
    return list(p_values.values) if plan.corrected_by == BY_THE_TEST else corrected(p_values.values, plan.corrected_by)


def _rankings(means: dict[str, dict[str, float]], metrics: Sequence[str]) -> tuple[Ranking, ...]:
    if len(means) < LEAST_RANKED:
        return ()
    of = {metric: {run: values[metric] for run, values in means.items()} for metric in metrics}
    return tuple(Ranking(a, b, rank_correlation(of[a], of[b])) for a, b in combinations(metrics, 2))


def _settings(
    plan: Plan, p_values: PValues, evaluation: Evaluation, baseline: str | None, family: int, common: _Common
) -> dict[str, Any]:
    return asdict(plan) | {
        "correction": plan.corrected_by,
        "interval": plan.interval_by,
        "permutations": p_values.draws,
        "smallest_p": p_values.smallest,
        "baseline": baseline,
        "primary": evaluation.metrics[0],
        "family": family,
        "queries": len(common.rows),
        "queries_left_out": len(evaluation.query_ids) - len(common.rows),
        "weighted": common.weights is not None,
        "effective_queries": effective_queries(common.weights) if common.weights else None,
        "logarithms": [one.name for one in evaluation.bound if one.metric.mean == "geometric"],
    }
