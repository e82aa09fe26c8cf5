"""Input and output of the swing search: candidates of two runs, and what judgments could add per query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.decisions.unjudged_candidates import Candidates
from assay.metrics.judged_rankings import Floats, Integers
from assay.metrics.metric import BoundMetric
from assay.metrics.metric_bounds import Grading, bounds_beside, chosen, graded

Graded = list[tuple[int, float]]


@dataclass(frozen=True, eq=False)
class Swings:
    """How much judgments of each query could add to the difference of trailing run minus leading run."""

    reached: Floats
    upper: Floats
    pick: Callable[[int, int], Graded]


@dataclass(frozen=True, eq=False)
class Task:
    """The search task: queries with candidates, from the perspective of the trailing run."""

    metric: BoundMetric
    pool: Candidates
    leading: int
    grades: Floats
    queries: Integers

    @cached_property
    def counts(self) -> Integers:
        """Return the number of candidates of each query."""
        return self.pool.counts[self.queries]

    @cached_property
    def now(self) -> Floats:
        """Return the current difference of each query."""
        nothing = np.zeros(0, dtype=np.int64)
        return self.difference(np.arange(len(self.queries)), nothing, nothing, np.zeros(0))

    def difference(self, places: Integers, way: Integers, candidates: Integers, grades: Floats) -> Floats:
        """Return the difference of trailing run minus leading run for several ways to grade."""
        values = []
        for run in (1 - self.leading, self.leading):
            rankings = chosen(self.pool.rankings[run], self.queries[places])
            values.append(self.metric(graded(rankings, Grading(way, self.pool.ranks[run][candidates], grades))))
        change: Floats = values[0] - values[1]
        return change

    @cached_property
    def rows(self) -> Integers:
        """Return how many judged documents are affected by a way to grade each query."""
        first, second = self.pool.rankings
        of = np.diff(first.offsets) + np.diff(second.offsets) + 2 * np.diff(first.judged_offsets) + 2
        selected: Integers = of[self.queries]
        return selected

    def limit(self) -> Floats:
        """Return the upper bound for any number of judgments: the trailing run at its best, the leading run at its
        worst."""
        ends = []
        for run in (1 - self.leading, self.leading):
            rankings = chosen(self.pool.rankings[run], self.queries)
            values = self.metric(rankings)
            further = np.bincount(self.pool.query[self.pool.ranks[run] == 0], minlength=len(self.pool.counts))
            of = (
                bounds_beside(self.metric, rankings, values, self.grades, further[self.queries])
                if len(self.grades)
                else None
            )
            ends.append(of or (values, values))
        return np.maximum(ends[0][1] - ends[1][0] - self.now, 0.0)

    def among_all(self, rows: Floats) -> Floats:
        """Expand rows of these queries to all queries, with 0 for the others."""
        padded = np.zeros((self.pool.rankings[0].queries, *rows.shape[1:]))
        padded[self.queries] = rows
        return padded


def from_one(reached: Floats, limit: Floats) -> Floats:
    """Use the limit as the upper bound for every number of judgments."""
    upper = np.repeat(limit[:, np.newaxis], reached.shape[1], axis=1)
    upper[:, 0] = 0.0
    return np.maximum(upper, reached)
