"""Unjudged documents of two runs that could change a metric, with their rank in each run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.core.grouping import spans
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.metrics.judged_rankings import Integers, JudgedRankings
from assay.metrics.matching import Match, match

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
