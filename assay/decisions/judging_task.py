"""Input and output of the swing search: candidates of two runs, and what judgments could add per query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_column import spans
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, Match, match
from assay.metrics.metric import BoundMetric
from assay.metrics.metric_bounds import Grading, bounds_beside, chosen, graded

# Minimum depth of the search for unjudged documents, and total number of rows for metrics with a deep cutoff or none.
DEPTH, ROWS = 50, 1_000_000


@dataclass(frozen=True, eq=False)
class Candidates:
    """The unjudged documents that could change a metric for two runs."""

    query: Integers
    doc_ids: tuple[str, ...]
    ranks: Integers
    depth: int
    whole: bool
    rankings: tuple[JudgedRankings, JudgedRankings]
    answered: np.ndarray[tuple[int, int], np.dtype[np.bool_]]

    @cached_property
    def offsets(self) -> Integers:
        """Return the start of each query's candidates."""
        return np.searchsorted(self.query, np.arange(self.rankings[0].queries + 1))

    @property
    def counts(self) -> Integers:
        """Return the number of candidates of each query."""
        return np.diff(self.offsets)


def candidates(qrels: Qrels, runs: tuple[Run, Run], cutoff: int | None) -> Candidates:
    """Find the unjudged documents that could change a metric.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"a": 1}})
    >>> first, second = Run.from_dict({"q1": {"a": 2.0, "b": 1.0}}), Run.from_dict({"q1": {"b": 2.0, "c": 1.0}})
    >>> found = candidates(qrels, (first, second), 10)
    >>> found.doc_ids, found.ranks.tolist()
    (('b', 'c'), [[2, 0], [1, 2]])
    """
    matches = match(qrels, runs[0]), match(qrels, runs[1])
    most = max(DEPTH, ROWS // max(1, qrels.queries))
    depth = most if cutoff is None else min(cutoff, most)
    numbers: dict[str, dict[str, float]] = {}
    for run, matched in zip(runs, matches, strict=True):
        _collect(numbers, qrels, run, matched, depth)
    table = Qrels.from_dict({query: numbers[query] for query in qrels.query_ids if query in numbers})
    # Matching the runs with this table returns their ranks of its documents, because each grade is the document's
    # position.
    table.grades[:] = np.arange(len(table))
    ranks = np.zeros((2, len(table)), dtype=np.int64)
    for own, run in zip(ranks, runs, strict=True):
        placed = match(table, run).rankings
        own[placed.grades.astype(np.int64)] = placed.ranks
    if cutoff is not None:
        ranks[ranks > cutoff] = 0
    codes = np.array([qrels.codes[query] for query in table.query_ids], dtype=np.int64)
    return Candidates(
        query=np.repeat(codes, np.diff(table.offsets)),
        doc_ids=tuple(table.doc_ids.tolist()),
        ranks=ranks,
        depth=depth,
        whole=all(int(matched.rankings.returned.max(initial=0)) <= depth for matched in matches) or cutoff == depth,
        rankings=(_whole(qrels, matches[0]), _whole(qrels, matches[1])),
        answered=np.array([np.isin(np.arange(qrels.queries), matched.codes) for matched in matches]),
    )


def _collect(numbers: dict[str, dict[str, float]], qrels: Qrels, run: Run, matched: Match, depth: int) -> None:
    sizes = np.minimum(matched.rankings.returned, depth)
    rows = spans(matched.starts, sizes)
    unjudged = np.isin(rows, matched.rows, invert=True)
    queries = np.repeat(matched.codes, sizes)[unjudged]
    for code, doc_id in zip(queries.tolist(), run.doc_ids.take(rows[unjudged]).tolist(), strict=True):
        numbers.setdefault(qrels.query_ids[code], {})[doc_id] = 0.0


def _whole(qrels: Qrels, matched: Match) -> JudgedRankings:
    """Return the rankings over all queries of the qrels, in their order."""
    returned, counts = np.zeros((2, qrels.queries), dtype=np.int64)
    returned[matched.codes] = matched.rankings.returned
    counts[matched.codes] = np.diff(matched.rankings.offsets)
    order = np.argsort(matched.codes, kind="stable")
    rows = spans(matched.rankings.offsets[:-1][order], np.diff(matched.rankings.offsets)[order])
    return JudgedRankings(
        returned=returned,
        offsets=np.concatenate(([0], np.cumsum(counts))),
        ranks=matched.rankings.ranks[rows],
        grades=matched.rankings.grades[rows],
        judged=qrels.descending,
        judged_offsets=qrels.offsets,
    )


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
