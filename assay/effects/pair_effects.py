"""How far each run's mean moves when the label of one pair changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.core.grouping import spans
from assay.core.run import Run
from assay.effects.pair_positions import Key, Labels, Pairs, offsets, positions, rankings
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings
from assay.metrics.metric import BoundMetric

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
    >>> from assay.metrics.metric_names import parse_metric
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
