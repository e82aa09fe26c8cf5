"""Run orders that depend on the order of tied documents or on missing judgments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.scoring.results import Evaluation, RunScores
    from assay.scoring.score_ranges import Range
    from assay.significance.results import Comparison, PairComparison


@dataclass(frozen=True)
class TieDoubt:
    """A mean that depends strongly on the order of tied documents."""

    run: str
    metric: str
    low: float
    high: float
    queries: int
    others: tuple[str, ...]


def tie_doubts(evaluation: Evaluation) -> list[TieDoubt]:
    """Find the means that the order of tied documents can move by over half of their interval, or past another run.

    Examples
    --------
    >>> from evaluation import evaluate
    >>> from assay.core import Qrels, Run
    >>> tied = Run.from_dict({"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, "tied")
    >>> plain = Run.from_dict({"q": {"b": 2.0, "a": 1.0}}, "plain")
    >>> found = evaluate(Qrels.from_dict({"q": {"a": 1}}), [tied, plain], "RR@10")
    >>> [(one.run, one.others) for one in tie_doubts(found)]
    [('tied', ('plain',))]
    """
    doubts = []
    for run in evaluation.runs:
        for metric, tied in run.diagnostics.ties_at.items():
            others = tuple(other.name for other in evaluation.runs if other is not run and _swap(run, other, metric))
            if others or tied.high - tied.low > _half_width(run, metric):
                doubts.append(TieDoubt(run.name, metric, tied.low, tied.high, tied.queries, others))
    return doubts


def _half_width(run: RunScores, metric: str) -> float:
    one = run.metrics[metric]
    return float("inf") if one.low is None or one.high is None else (one.high - one.low) / 2


def _swap(run: RunScores, other: RunScores, metric: str) -> bool:
    """Return whether other orders of both runs' tied documents could reverse the order of the runs."""
    first, second = run.metrics[metric].mean, other.metrics[metric].mean
    if first is None or second is None:
        return False
    mine, theirs = _range(run, metric, first), _range(other, metric, second)
    return mine[0] < theirs[1] if first > second else mine[1] > theirs[0]


def _range(run: RunScores, metric: str, mean: float) -> tuple[float, float]:
    tied = run.diagnostics.ties_at.get(metric)
    return (mean, mean) if tied is None else (tied.low, tied.high)


@dataclass(frozen=True)
class OpenPair:
    """Two runs that differ significantly although their bounds overlap."""

    pair: PairComparison
    a: Range
    b: Range

    @property
    def sentence(self) -> str:
        """Return the finding as a sentence."""
        ranges = [f"{one.low:.4f} to {one.high:.4f}" for one in (self.a, self.b)]
        return (
            f"{self.pair.a}, {self.pair.b}: {self.pair.metric} differs, but depending on the grades of unjudged "
            f"documents the scores range over {ranges[0]} and {ranges[1]}, which overlap"
        )


def open_pairs(comparison: Comparison, evaluation: Evaluation, alpha: float) -> list[OpenPair]:
    """Find the pairs that differ at `alpha` although missing judgments could reverse the difference."""
    bounds = {run.name: run.diagnostics.bounds for run in evaluation.runs}
    open_ones = []
    for pair in comparison.pairs:
        first, second = bounds[pair.a].get(pair.metric), bounds[pair.b].get(pair.metric)
        if pair.differs(alpha) and first and second and first.low < second.high and second.low < first.high:
            open_ones.append(OpenPair(pair, first, second))
    return open_ones
