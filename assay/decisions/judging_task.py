"""Input and output of the swing search: candidates of two runs, and what judgments could add per query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.decisions.unjudged_candidates import Candidates
from assay.metrics.hypothetical_grades import Grading, chosen, graded
from assay.metrics.judged_rankings import Floats, Integers
from assay.metrics.metric import BoundMetric
from assay.metrics.metric_bounds import bounds_beside

Graded = list[tuple[int, float]]


@dataclass(frozen=True, eq=False)
class Swings:
    """What judgments of each query could add to the difference "trailing less leading run".

    Parameters
    ----------
    reached : float64 array, shape (queries, judgments + 1)
        What 0, 1, ... judgments are known to add.
    upper : float64 array, shape (queries, judgments + 1)
        What they could not pass; the last column holds for all larger numbers too.
    pick : callable
        ``pick(query, judgments)``: the candidates with the grades that add so much.
    """

    reached: Floats
    upper: Floats
    pick: Callable[[int, int], Graded]


@dataclass(frozen=True, eq=False)
class Task:
    """What is asked: the queries with candidates, seen from the run that trails."""

    metric: BoundMetric
    pool: Candidates
    leading: int
    grades: Floats
    queries: Integers

    @cached_property
    def counts(self) -> Integers:
        """Return how many candidates each of the queries has."""
        return self.pool.counts[self.queries]

    @cached_property
    def now(self) -> Floats:
        """Return the difference of each query as it is."""
        nothing = np.zeros(0, dtype=np.int64)
        return self.difference(np.arange(len(self.queries)), nothing, nothing, np.zeros(0))

    def difference(self, places: Integers, way: Integers, candidates: Integers, grades: Floats) -> Floats:
        """Trailing less leading run for ways to grade.

        Parameters
        ----------
        places : int64 array, shape (ways,)
            The query of each way, as a place in ``queries``.
        way, candidates : int64 array, shape (grades,)
            A way and a candidate.
        grades : float64 array
            The grade that the way gives the candidate.
        """
        values = []
        for run in (1 - self.leading, self.leading):
            rankings = chosen(self.pool.rankings[run], self.queries[places])
            values.append(self.metric(graded(rankings, Grading(way, self.pool.ranks[run][candidates], grades))))
        change: Floats = values[0] - values[1]
        return change

    @cached_property
    def rows(self) -> Integers:
        """Return how many judged documents a way to grade each query has to do with."""
        first, second = self.pool.rankings
        of = np.diff(first.offsets) + np.diff(second.offsets) + 2 * np.diff(first.judged_offsets) + 2
        selected: Integers = of[self.queries]
        return selected

    def limit(self) -> Floats:
        """Return what no number of judgments can pass: the trailing run at its best, the leading one at its worst."""
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
        """Put rows of these queries among those of all; the others add nothing."""
        padded = np.zeros((self.pool.rankings[0].queries, *rows.shape[1:]))
        padded[self.queries] = rows
        return padded


def from_one(reached: Floats, limit: Floats) -> Floats:
    """Say of every number of judgments that it passes no limit."""
    upper = np.repeat(limit[:, np.newaxis], reached.shape[1], axis=1)
    upper[:, 0] = 0.0
    return np.maximum(upper, reached)
