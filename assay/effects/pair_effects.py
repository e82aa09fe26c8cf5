"""How far each run's mean moves when the label of one pair changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_column import spans
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, Mask, match
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


# Number of judged documents to process at once.
BLOCK = 400_000


@dataclass(frozen=True)
class Doubt:
    """A pair with the lowest and highest of its grades."""

    key: Key
    low: float
    high: float


def moves(labels: Mapping[Key, float], doubts: Sequence[Doubt], runs: Sequence[Run], metric: BoundMetric) -> Floats:
    """Return how much each run's mean changes if a pair's label changes from its lowest to its highest grade.

    This is exact for every metric: the query is scored with each grade, with all other labels unchanged.

    Examples
    --------
    >>> from assay.metrics.metric import parse_metric
    >>> run = Run.from_dict({"q": {"a": 2.0, "b": 1.0}, "p": {"c": 1.0}}, "x")
    >>> labels = {("q", "a"): 1.0, ("q", "b"): 1.0, ("p", "c"): 1.0}
    >>> moves(labels, [Doubt(("q", "a"), 0, 1), Doubt(("p", "c"), 0, 1)], [run], parse_metric("P@2")).tolist()
    [[0.25, 0.25]]
    """
    known = {**{doubt.key: doubt.low for doubt in doubts}, **labels}
    pairs = Pairs(list(known))
    number = {key: place for place, key in enumerate(known)}
    base = Labels(pairs, np.array(list(known.values()), dtype=np.float64))
    low, high = (np.array([getattr(doubt, end) for doubt in doubts], dtype=np.float64) for end in ("low", "high"))
    changes = np.zeros((len(runs), len(doubts)))
    placed = [rankings(base, positions(pairs, run)) for run in runs]
    pair = np.array([number[doubt.key] for doubt in doubts], dtype=np.int64)
    for block in _blocks(base, pair):
        cases = [_Cases(base, pair[block], grades[block]) for grades in (low, high)]
        for at, (of, row_pairs) in enumerate(placed):
            lowest, highest = (metric(case.ranked(of, row_pairs)) for case in cases)
            changes[at, block] = (highest - lowest) / pairs.queries
    return changes


@dataclass(frozen=True, eq=False)
class _Cases:
    """The queries of several pairs, each with another grade for its pair."""

    base: Labels
    pair: Integers
    grades: Floats

    @cached_property
    def query(self) -> Integers:
        return self.base.pairs.query[self.pair]

    @cached_property
    def ideal(self) -> tuple[Floats, Integers]:
        """Return all grades of each case's query in descending order, and the start of each case."""
        order, judged, begins = self.base.ideal
        case, rows = self._rows(begins)
        grades = self._regraded(case, order[rows], judged[rows])
        return grades[np.lexsort((-grades, case))], offsets(case, len(self.pair))

    def ranked(self, of: JudgedRankings, row_pairs: Integers) -> JudgedRankings:
        """Return a run's ranking of each case's query, with the case's grade."""
        case, rows = self._rows(of.offsets)
        judged, begins = self.ideal
        return JudgedRankings(
            returned=of.returned[self.query],
            offsets=offsets(case, len(self.pair)),
            ranks=of.ranks[rows],
            grades=self._regraded(case, row_pairs[rows], of.grades[rows]),
            judged=judged,
            judged_offsets=begins,
        )

    def _rows(self, begins: Integers) -> tuple[Integers, Integers]:
        counts = np.diff(begins)[self.query]
        return np.repeat(np.arange(len(self.pair)), counts), spans(begins[self.query], counts)

    def _regraded(self, case: Integers, pair: Integers, grades: Floats) -> Floats:
        return np.where(pair == self.pair[case], self.grades[case], grades)


def _blocks(base: Labels, pair: Integers) -> Iterator[slice]:
    """Yield blocks of pairs with a limited number of judged documents."""
    _, _, begins = base.ideal
    sizes = np.cumsum(np.diff(begins)[base.pairs.query[pair]]) // BLOCK if len(pair) else np.zeros(0)
    ends = [*(np.flatnonzero(np.diff(sizes)) + 1).tolist(), len(pair)]
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        yield slice(start, end)
