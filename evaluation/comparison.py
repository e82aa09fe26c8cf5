"""On which queries does one run beat another, and does the mean difference stand out from chance?

The numbers are those of `evaluation.significance`, which ``assay compare`` prints: page and command cannot differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.metrics.means import TIE
from evaluation.models import Scoring
from evaluation.scoring import LEVEL, SEED
from judgments.core.errors import NotValid


@dataclass(frozen=True)
class Difference:
    """One query under both runs; ``value`` is b - a."""

    query_id: str
    a: float
    b: float

    @property
    def value(self) -> float:
        apart = self.b - self.a
        return 0.0 if abs(apart) <= TIE else apart

    @property
    def outcome(self) -> str:
        """``better``, ``equal`` or ``worse``, for b."""
        return "better" if self.value > 0 else "worse" if self.value < 0 else "equal"


@dataclass(frozen=True)
class Comparison:
    """Run b against run a under one metric; differences from the largest gain to the largest loss.

    ``low`` and ``high`` bound the mean difference (paired percentile bootstrap over queries); None with a reason.
    """

    metric: str
    a: Scoring
    b: Scoring
    differences: list[Difference]
    mean: float
    low: float | None
    high: float | None
    reason: str | None

    def count(self, outcome: str) -> int:
        """How many queries are ``better``, ``equal`` or ``worse`` under b."""
        return sum(one.outcome == outcome for one in self.differences)

    @property
    def decided(self) -> bool:
        """Whether the whole interval lies on one side of zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def compare(a: Scoring, b: Scoring, metric: str) -> Comparison:
    """Compare two runs query by query.

    Parameters
    ----------
    a, b : Scoring
        Of one snapshot; b is the candidate.
    metric : str
        One that both were scored with.

    Returns
    -------
    Comparison
        Over the queries that have a value under both. The interval is that of the mean of the differences, queries
        drawn with replacement, which is what pairing means; below 10 queries there is none.

    Raises
    ------
    NotValid
        The scorings are of different snapshots, or one of them lacks the metric.
    """
    import numpy as np

    from evaluation.significance.comparison import effect
    from evaluation.significance.intervals import difference_intervals

    if a.snapshot_id != b.snapshot_id:
        raise NotValid("These runs were scored on different snapshots. Score both on one.")
    first, second = _values(a, metric), _values(b, metric)
    both = sorted(first.keys() & second.keys())
    if not both:
        raise NotValid(f"No query has {metric} under both runs.")
    scores = np.array([[first[query_id], second[query_id]] for query_id in both])
    (interval,) = difference_intervals(scores, [(0, 1)], level=LEVEL, seed=SEED)
    mean = effect(scores[:, 0], scores[:, 1]).difference
    found = [Difference(query_id, first[query_id], second[query_id]) for query_id in both]
    ordered = sorted(found, key=lambda one: (-one.value, one.query_id))
    return Comparison(metric, a, b, ordered, mean, interval.low, interval.high, interval.reason)


def _values(scoring: Scoring, metric: str) -> dict[str, float]:
    score = next((score for score in scoring.scores.all() if score.metric == metric), None)
    if score is None:
        raise NotValid(f"{scoring.run} was not scored with {metric} on {scoring.snapshot}.")
    return {query_id: value for query_id, value in score.per_query.items() if value is not None}
