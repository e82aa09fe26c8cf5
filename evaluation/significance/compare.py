"""Which of these runs is better, by how much, and could it be luck?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from evaluation.metrics.declaration import BoundMetric
from evaluation.metrics.evaluate import evaluate
from evaluation.metrics.means import mean
from evaluation.metrics.results import Evaluation
from evaluation.significance import CORRECTIONS, TESTS
from evaluation.significance.comparison import Comparison, PairComparison, effect
from evaluation.significance.corrections import corrected
from evaluation.significance.draws import Floats
from evaluation.significance.intervals import LEVEL, RESAMPLES, difference_intervals
from evaluation.significance.paired import PERMUTATIONS, Pairs, PValues, paired_p_values
from judgments.core.errors import NotValid
from judgments.core.qrels import Qrels
from judgments.core.run import Run

NO_CORRECTION = "none"
NO_SPREAD = "the differences do not vary: no effect size"
MOST_PERMUTATIONS = 10_000_000


@dataclass(frozen=True)
class Design:
    """How runs are compared.

    Parameters
    ----------
    test : str
        A member of ``evaluation.significance.TESTS``.
    correction : str
        A member of ``evaluation.significance.CORRECTIONS``, or ``none``.
    permutations : int
        Draws of a test that draws.
    seed : int
        Of these draws, and of the resamples of the interval.
    level : float
        Coverage of the interval of the difference.
    resamples : int
        Of that interval.

    Raises
    ------
    NotValid
        For a name or number that cannot be used.
    """

    test: str = "randomization"
    correction: str = "holm"
    permutations: int = PERMUTATIONS
    seed: int = 0
    level: float = LEVEL
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        TESTS[self.test]
        if self.correction != NO_CORRECTION:
            CORRECTIONS[self.correction]
        if not 1 <= self.permutations <= MOST_PERMUTATIONS:
            raise NotValid(f"permutations is {self.permutations:,}; give a number from 1 to {MOST_PERMUTATIONS:,}")
        if self.seed < 0:
            raise NotValid(f"the seed is {self.seed}; give a whole number from 0")
        if not 0 < self.level < 1:
            raise NotValid(f"the level is {self.level:g}; give a number between 0 and 1, such as 0.95")


def compare(
    qrels: Qrels,
    runs: Iterable[Run],
    metrics: str | Iterable[str | BoundMetric] = "nDCG@10",
    *,
    baseline: str | None = None,
    design: Design | None = None,
    missing: Literal["zero", "skip"] = "zero",
) -> Comparison:
    """Score runs against labels and compare them query by query.

    Parameters
    ----------
    qrels : Qrels
        The labels.
    runs : iterable of Run
        Two or more, with different names.
    metrics : str or iterable of str or BoundMetric
        The first one named is the primary one; choose it before you look.
    baseline : str, optional
        The name of the run that all others are compared with; by default all pairs are.
    design : Design, optional
        Test, correction, draws and seed; the sign-flip test with Holm's correction by default.
    missing : {"zero", "skip"}
        A judged query that a run does not answer scores 0, or is left out of all comparisons.

    Returns
    -------
    Comparison
        For each metric one row per pair.

    Raises
    ------
    NotValid
        When there are fewer than two runs, the baseline is none of them, or `evaluate` refuses.

    Examples
    --------
    >>> qrels = Qrels.from_dict({f"q{n}": {"good": 1} for n in range(8)})
    >>> old = Run.from_dict({f"q{n}": {"bad": 2.0, "good": 1.0} for n in range(8)}, name="old")
    >>> new = Run.from_dict({f"q{n}": {"good": 2.0} if n else {"bad": 1.0} for n in range(8)}, name="new")
    >>> (pair,) = compare(qrels, [old, new], "RR").pairs
    >>> pair.effect.difference, pair.effect.wins, pair.effect.losses, pair.p
    (0.375, 7, 1, 0.0703125)
    """
    return compare_scores(evaluate(qrels, list(runs), metrics, missing), baseline=baseline, design=design)


def compare_scores(evaluation: Evaluation, *, baseline: str | None = None, design: Design | None = None) -> Comparison:
    """Compare runs that are scored already, on the queries that all of them have.

    Parameters and errors are those of `compare`.
    """
    names = [run.name for run in evaluation.runs]
    pairs = _pairs(names, baseline)
    plan = design or Design()
    means: dict[str, dict[str, float]] = {name: {} for name in names}
    rows: list[PairComparison] = []
    found = PValues((), ())
    queries = 0
    for metric in evaluation.metrics:
        scores = _scores(evaluation, metric)
        queries = len(scores)
        for at, name in enumerate(names):
            means[name][metric] = mean(scores[:, at].tolist()) or 0.0
        found = paired_p_values(scores, pairs, test=plan.test, permutations=plan.permutations, seed=plan.seed)
        rows += _rows(metric, names, pairs, scores, plan, found)
    return Comparison(means, tuple(rows), _settings(plan, found, evaluation, baseline, len(pairs), queries))


def _pairs(names: Sequence[str], baseline: str | None) -> Pairs:
    if len(names) < 2:
        raise NotValid("a comparison needs two runs; name another one")
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    if baseline not in names:
        raise NotValid(f"there is no run {baseline!r} to be the baseline; the runs are {', '.join(names)}")
    base = names.index(baseline)
    return [(base, at) for at in range(len(names)) if at != base]


def _scores(evaluation: Evaluation, metric: str) -> Floats:
    scores = np.column_stack([run.per_query[metric] for run in evaluation.runs])
    common: Floats = scores[~np.isnan(scores).any(axis=1)]
    if not len(common):
        raise NotValid("the runs have no judged query in common; count unanswered queries as 0 (missing zero)")
    return common


def _rows(
    metric: str, names: Sequence[str], pairs: Pairs, scores: Floats, plan: Design, found: PValues
) -> list[PairComparison]:
    family = [None] * len(pairs) if plan.correction == NO_CORRECTION else corrected(found.values, plan.correction)
    intervals = difference_intervals(scores, pairs, level=plan.level, resamples=plan.resamples, seed=plan.seed)
    rows = []
    for at, ((first, second), interval) in enumerate(zip(pairs, intervals, strict=True)):
        size = effect(scores[:, first], scores[:, second])
        reasons = [found.reasons[at], interval.reason, NO_SPREAD if size.size is None else None]
        rows.append(
            PairComparison(
                metric=metric,
                a=names[first],
                b=names[second],
                effect=size,
                low=interval.low,
                high=interval.high,
                p=found.values[at],
                p_corrected=family[at],
                queries=len(scores),
                reason="; ".join(reason for reason in reasons if reason) or None,
            )
        )
    return rows


def _settings(
    plan: Design, found: PValues, evaluation: Evaluation, baseline: str | None, family: int, queries: int
) -> dict[str, Any]:
    return asdict(plan) | {
        "permutations": found.draws,
        "smallest_p": found.smallest,
        "baseline": baseline,
        "primary": evaluation.metrics[0],
        "family": family,
        "queries": queries,
        "queries_left_out": len(evaluation.query_ids) - queries,
    }
