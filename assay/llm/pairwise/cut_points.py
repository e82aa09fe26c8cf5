"""Cut points that turn scores into grades, learned from anchors.

Scores of battles have no zero point of relevance. Anchors, which are documents graded by people, locate the grades on
the score axis: the cut points make the anchors' grades most probable.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.formats.battles_jsonl import Battle
from assay.llm.pairwise.battles import Floats, Ints

# With fewer anchors of a grade, its cut points are arbitrary.
LEAST = 5
STEEPEST = 50.0


@dataclass(frozen=True)
class CutPoints:
    """Boundaries between grades on the score axis."""

    values: tuple[int, ...]
    cuts: tuple[float, ...]
    steepness: float
    anchors: int
    right: float

    def grades(self, scores: npt.ArrayLike) -> Ints:
        """Return the most probable grade of each score."""
        likely: Ints = np.argmax(self.probabilities(scores), axis=1)
        return np.asarray(self.values, dtype=np.int64)[likely]

    def probabilities(self, scores: npt.ArrayLike) -> Floats:
        """Return the probability of each grade, shape (scores, grades)."""
        return _probabilities(np.asarray(scores, dtype=np.float64), np.array(self.cuts), self.steepness)


def learn(scores: npt.ArrayLike, grades: Sequence[int]) -> CutPoints:
    """Learn the cut points from anchors.

    Examples
    --------
    >>> found = learn([-2.1, -1.9, -1.5, 1.2, 1.9, 2.2], [0, 0, 0, 3, 3, 3])
    >>> found.grades([-3, 3]).tolist(), found.right
    ([0, 3], 1.0)
    """
    from scipy.optimize import minimize

    x = np.asarray(scores, dtype=np.float64)
    values, codes = np.unique(np.asarray(grades, dtype=np.int64), return_inverse=True)
    if len(x) != len(codes):
        raise NotValid(f"{amount(len(x), 'score')} and {amount(len(codes), 'grade')}; each anchor needs one of each")
    if len(x) < LEAST or len(values) < 2:
        raise NotValid(
            f"{amount(len(x), 'anchor')} with {amount(len(values), 'grade')}; cut points need at least {LEAST} "
            "anchors with two grades"
        )
    shares = np.cumsum(np.bincount(codes))[:-1] / len(codes)
    start = np.quantile(x, shares) + np.arange(len(shares)) * 1e-6

    def loss(free: Floats) -> float:
        cuts, slope = _bound(free)
        likely = _probabilities(x, cuts, slope)[np.arange(len(x)), codes]
        return float(-np.log(np.maximum(likely, 1e-300)).sum() + 0.5 * free[-1] ** 2)

    gaps = np.log(np.maximum(np.diff(start), 1e-3))
    best = minimize(loss, np.concatenate([start[:1], gaps, [0.0]]), method="L-BFGS-B")
    cuts, slope = _bound(best.x)
    points = CutPoints(tuple(values.tolist()), tuple(cuts.tolist()), slope, len(x), 0.0)
    right = float((points.grades(x) == values[codes]).mean())
    return CutPoints(points.values, points.cuts, points.steepness, points.anchors, right)


def _bound(free: Floats) -> tuple[Floats, float]:
    """Return ascending cut points and a positive slope from unconstrained numbers."""
    cuts = free[0] + np.concatenate([[0.0], np.cumsum(np.exp(free[1:-1]))])
    return cuts, float(min(np.exp(free[-1]), STEEPEST))


def _probabilities(scores: Floats, cuts: Floats, slope: float) -> Floats:
    from scipy.special import expit

    below = expit(slope * (cuts[None, :] - scores[:, None]))
    edges = np.concatenate([np.zeros((len(scores), 1)), below, np.ones((len(scores), 1))], axis=1)
    return np.diff(edges, axis=1)


def turned(battles: Iterable[Battle]) -> dict[tuple[str, str], float]:
    """Return for each document compared in both orders how often the same position won twice.

    Comparisons that ended in a tie in either order do not depend on the position.

    Examples
    --------
    >>> rows = [Battle("q", "a", "b", -1.0), Battle("q", "a", "b", 0.5, swapped=True), Battle("q", "a", "c", 1.0)]
    >>> turned(rows)
    {('q', 'a'): 1.0, ('q', 'b'): 1.0}
    """
    meetings: dict[tuple[str, ...], dict[bool, float]] = {}
    for row in battles:
        if row.score is None:
            continue
        a, b = sorted((row.a, row.b))
        for_b = row.score if (row.a, row.b) == (a, b) else -row.score
        a_first = ((row.a, row.b) == (a, b)) != row.swapped
        meetings.setdefault((row.query_id, a, b, row.model), {})[a_first] = for_b
    counts: dict[tuple[str, str], list[int]] = {}
    for (query_id, a, b, _), orders in meetings.items():
        if len(orders) < 2:
            continue
        # The two answers have different signs, so the preference depends on the order.
        other = orders[True] * orders[False] < 0
        for doc_id in (a, b):
            counted = counts.setdefault((query_id, doc_id), [0, 0])
            counted[0] += other
            counted[1] += 1
    return {key: times / met for key, (times, met) in counts.items()}


def other_grade(score: float, error: float, cuts: Sequence[float]) -> float:
    """Return the probability that a document's true score is beyond a cut point.

    Examples
    --------
    >>> round(other_grade(0.0, 0.5, [-1.0, 1.0]), 4), round(other_grade(1.0, 0.5, [-1.0, 1.0]), 4)
    (0.0455, 0.5)
    """
    if error < 0:
        raise NotValid(f"the standard error is {error:g}; use 0 or more")
    if not len(cuts) or error == 0:
        return 0.0
    from scipy.special import ndtr

    place = bisect_right(cuts, score)
    above = ndtr((score - cuts[place]) / error) if place < len(cuts) else 0.0
    below = ndtr((cuts[place - 1] - score) / error) if place else 0.0
    return float(above + below)
