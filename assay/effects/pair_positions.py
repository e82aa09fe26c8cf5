"""Positions of the pairs in a run, independent of the pairs' labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, Mask
from assay.metrics.matching import match
from assay.metrics.metric import BoundMetric

Key = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs with a label in any of the sets, numbered in the given order."""

    keys: Sequence[Key]

    @cached_property
    def table(self) -> Qrels:
        """Return the pairs as labels whose grade is the pair's number, so that matching a run returns the numbers."""
        judged: dict[str, dict[str, float]] = {}
        for number, (query_id, doc_id) in enumerate(self.keys):
            judged.setdefault(query_id, {})[doc_id] = float(number)
        return Qrels.from_dict(judged)

    @property
    def query_ids(self) -> tuple[str, ...]:
        return self.table.query_ids

    @property
    def queries(self) -> int:
        return len(self.table.query_ids)

    @cached_property
    def query(self) -> Integers:
        """Return the query of each pair, as a position in `query_ids`."""
        queries_of = np.empty(len(self.keys), dtype=np.int64)
        queries_of[self.table.grades.astype(np.int64)] = self.table.query_of
        return queries_of


@dataclass(frozen=True, eq=False)
class Positions:
    """The ranks of the pairs in a run."""

    name: str
    returned: Integers
    query: Integers
    rank: Integers
    pair: Integers


def positions(pairs: Pairs, run: Run) -> Positions:
    """Find the pairs in a run."""
    matched = match(pairs.table, run)
    of = matched.rankings
    returned = np.zeros(pairs.queries, dtype=np.int64)
    returned[matched.codes] = of.returned
    query, rank = matched.codes[of.query], of.ranks
    order = np.lexsort((rank, query))
    return Positions(run.name, returned, query[order], rank[order], of.grades.astype(np.int64)[order])


@dataclass(frozen=True, eq=False)
class Labels:
    """A set of labels: a grade for each pair, NaN if it has none."""

    pairs: Pairs
    grades: Floats

    @cached_property
    def labelled(self) -> Mask:
        """Return the queries with a label."""
        mask = np.zeros(self.pairs.queries, dtype=np.bool_)
        mask[self.pairs.query[~np.isnan(self.grades)]] = True
        return mask

    @cached_property
    def ideal(self) -> tuple[Integers, Floats, Integers]:
        """Return the labeled pairs by query and descending grade, their grades, and the start of each query."""
        labeled = np.flatnonzero(~np.isnan(self.grades))
        order = labeled[np.lexsort((-self.grades[labeled], self.pairs.query[labeled]))]
        return order, self.grades[order], offsets(self.pairs.query[order], self.pairs.queries)


def offsets(query: Integers, queries: int) -> Integers:
    """Return the start of each query in rows sorted by query."""
    return np.concatenate(([0], np.cumsum(np.bincount(query, minlength=queries))))


def rankings(labels: Labels, at: Positions) -> tuple[JudgedRankings, Integers]:
    """Return the run's labeled documents as metrics use them, over all queries, and the pair of each."""
    labeled = ~np.isnan(labels.grades[at.pair])
    pair, query = at.pair[labeled], at.query[labeled]
    _, judged, begins = labels.ideal
    rankings_of_pairs = JudgedRankings(
        returned=at.returned,
        offsets=offsets(query, labels.pairs.queries),
        ranks=at.rank[labeled],
        grades=labels.grades[pair],
        judged=judged,
        judged_offsets=begins,
    )
    return rankings_of_pairs, pair


def values(labels: Labels, at: Positions, metric: BoundMetric) -> Floats:
    """Return the run's score on each query; scores of queries without labels are meaningless, see `Labels.labelled`."""
    return metric(rankings(labels, at)[0])
