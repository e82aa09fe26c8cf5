"""Rankings of the runs without each rater, and by each rater alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from assay.aggregation import RULES
from assay.aggregation.label_rule import Votes
from assay.core.ratings import Ratings, places
from assay.core.run import Run
from assay.effects.pair_effects import Key, Labels, Pairs, Positions, positions, values
from assay.metrics.judged_rankings import Floats, Mask
from assay.metrics.metric import TIE, BoundMetric
from assay.significance.rank_correlation import rank_correlation


@dataclass(frozen=True)
class Ranking:
    """The order of the runs under other labels, compared with the order under all raters' labels on the same
    queries."""

    tau: float | None
    moved: int
    run: str
    rank_before: int
    rank_after: int
    change: float | None
    queries: int
    reason: str = ""


@dataclass(frozen=True)
class RaterEffect:
    """The effect of a rater: the ranking without the rater's grades, and by these grades alone."""

    rater: str
    pairs: int
    without: Ranking
    alone: Ranking

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def rater_effects(
    ratings: Ratings,
    settled: Mapping[Key, int],
    runs: Sequence[Run],
    metric: BoundMetric,
    *,
    rule: str = "median",
    scale: Sequence[int] = (0, 1, 2, 3),
) -> list[RaterEffect]:
    """Compute the labels without each rater, and from each rater's grades alone, and rank the runs by them.

    Examples
    --------
    >>> from assay.metrics.metric import parse_metric
    >>> rows = [("q", "a", "r01", 3), ("q", "b", "r01", 0), ("q", "a", "r02", 0), ("q", "b", "r02", 3)]
    >>> rows += [("q", "a", "r03", 3), ("q", "b", "r03", 0)]
    >>> runs = [Run.from_dict({"q": {"a": 2.0, "b": 1.0}}, "x"), Run.from_dict({"q": {"b": 2.0, "a": 1.0}}, "y")]
    >>> found = rater_effects(Ratings.from_rows(rows), {}, runs, parse_metric("P@1"))
    >>> [(one.rater, one.without.tau, one.alone.tau) for one in found]
    [('r01', None, 1.0), ('r02', 1.0, -1.0), ('r03', None, 1.0)]
    """
    keys = list(dict.fromkeys([*ratings.units, *sorted(settled)]))
    pairs = Pairs(keys)
    every = np.ones(len(ratings), dtype=np.bool_)
    fixed = np.array([float(settled.get(key, np.nan)) for key in pairs.keys])
    judge = _Judge(ratings, pairs, [positions(pairs, run) for run in runs], metric, rule, scale)
    everybody = judge.scored(every, fixed)
    none = np.full(len(keys), np.nan)
    effects = []
    for place, rater in enumerate(ratings.raters):
        own = ratings.rater == place
        without, alone = (judge.scored(~own, fixed), judge.scored(own, none))
        effects.append(
            RaterEffect(rater, int(own.sum()), judge.beside(everybody, without), judge.beside(everybody, alone))
        )
    return effects


@dataclass(frozen=True)
class _Scored:
    """The score of each run on each query under a set of labels."""

    labelled: Mask
    values: list[Floats]


@dataclass(frozen=True, eq=False)
class _Judge:
    ratings: Ratings
    pairs: Pairs
    runs: list[Positions]
    metric: BoundMetric
    rule: str
    scale: Sequence[int]

    def scored(self, included: Mask, fixed: Floats) -> _Scored:
        """Score the runs by the labels from these rows, which fixed labels override."""
        grades = fixed.copy()
        units, made = self._labels(included)
        open_ = np.isnan(fixed[units])
        grades[units[open_]] = made[open_]
        labels = Labels(self.pairs, grades)
        return _Scored(labels.labelled, [values(labels, at, self.metric) for at in self.runs])

    def _labels(self, included: Mask) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Floats]:
        """Return the units of these rows and the label of each under the rule."""
        units, unit = np.unique(self.ratings.unit[included], return_inverse=True)
        if not len(units):
            return units, np.zeros(0)
        values_ = np.unique(np.asarray(self.scale, dtype=np.float64))
        grade, rater = self.ratings.grade[included], self.ratings.rater[included]
        part = replace(self.ratings, units=[], unit=unit, rater=rater, grade=grade)
        codes = places(grade, values_)
        counts = np.bincount(unit * len(values_) + codes, minlength=len(units) * len(values_))
        votes = Votes(part, codes, counts.reshape(len(units), len(values_)).astype(np.int64), values_)
        return units, RULES[self.rule].settle(votes).grades

    def beside(self, before: _Scored, after: _Scored) -> Ranking:
        """Compare two orders of the runs over their common queries."""
        both = before.labelled & after.labelled
        queries = int(both.sum())
        if not queries:
            return Ranking(None, 0, "", 0, 0, None, 0, "no query has a label in both sets")
        means = [[float(one[both].mean()) for one in of.values] for of in (before, after)]
        names = [at.name for at in self.runs]
        orders = [dict(zip(names, one, strict=True)) for one in means]
        correlation = rank_correlation(orders[0], orders[1])
        ranks = [_ranks(one) for one in means]
        moves = [abs(new - old) for old, new in zip(*ranks, strict=True)]
        at = max(range(len(names)), key=lambda place: (moves[place], -place))
        change = sum(abs(new - old) for old, new in zip(*means, strict=True)) / len(names)
        reason = correlation.reasons.get("tau_b", "")
        moved = moves[at]
        run, first, then = (names[at], ranks[0][at], ranks[1][at]) if moved else ("", 0, 0)
        return Ranking(correlation.tau_b, moved, run, first, then, change, queries, reason)


def _ranks(means: Sequence[float]) -> list[int]:
    """Return ranks from 1 for the highest; tied runs share the first of their ranks."""
    return [1 + sum(other > mean + TIE for other in means) for mean in means]
