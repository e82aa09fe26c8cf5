"""Differences between two sets of labels, and the ranking of the runs under each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.core.run import Run
from assay.effects.pair_effects import Key, Labels, Pairs, positions, values
from assay.metrics.metric import TIE, BoundMetric
from assay.significance.rank_correlation import rank_correlation

SAME, CHANGED, ADDED, GONE = "same", "changed", "added", "gone"


@dataclass(frozen=True)
class Standing:
    """A run under both sets; ranks start at 1 for the highest mean and are shared by tied runs."""

    run: str
    before: float
    after: float
    rank_before: int
    rank_after: int

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def climbed(self) -> int:
        """Return how many ranks the run rose; negative if it fell."""
        return self.rank_before - self.rank_after


@dataclass(frozen=True)
class LabelChanges:
    """Labels of two sets, compared pair by pair."""

    same: int
    changed: list[tuple[Key, float, float]]
    added: list[tuple[Key, None, float]]
    gone: list[tuple[Key, float, None]]
    confusion: dict[tuple[float | None, float | None], int]
    queries_added: list[str]
    queries_gone: list[str]

    @property
    def shared(self) -> int:
        """Return the number of pairs with a label in both sets."""
        return self.same + len(self.changed)


def label_changes(before: Mapping[Key, float], after: Mapping[Key, float]) -> LabelChanges:
    """Compare two sets of labels.

    Examples
    --------
    >>> found = label_changes({("q", "a"): 1, ("q", "b"): 0}, {("q", "a"): 2, ("p", "c"): 1})
    >>> found.changed, found.added, found.gone, found.queries_added
    ([(('q', 'a'), 1, 2)], [(('p', 'c'), None, 1)], [(('q', 'b'), 0, None)], ['p'])
    """
    both = before.keys() & after.keys()
    changed = [(key, before[key], after[key]) for key in sorted(both) if before[key] != after[key]]
    added = [(key, None, after[key]) for key in sorted(after.keys() - both)]
    gone = [(key, before[key], None) for key in sorted(before.keys() - both)]
    first, second = ({query_id for query_id, _ in labels} for labels in (before, after))
    every = before.keys() | after.keys()
    confusion = Counter((before.get(key), after.get(key)) for key in every)
    return LabelChanges(
        same=len(both) - len(changed),
        changed=changed,
        added=added,
        gone=gone,
        confusion=dict(confusion),
        queries_added=sorted(second - first),
        queries_gone=sorted(first - second),
    )


@dataclass(frozen=True)
class Boards:
    """Rankings of the runs under both sets of labels."""

    standings: tuple[Standing, ...]
    tau: float | None
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        rows = [{**asdict(one), "difference": one.difference} for one in self.standings]
        return {"runs": rows, "tau": self.tau, "reason": self.reason}


def boards(before: Mapping[Key, float], after: Mapping[Key, float], runs: Sequence[Run], metric: BoundMetric) -> Boards:
    """Score runs under two sets of labels, each over its labeled queries.

    Examples
    --------
    >>> from assay.metrics.metric import parse_metric
    >>> run = Run.from_dict({"q": {"a": 2.0, "b": 1.0}}, "x")
    >>> found = boards({("q", "a"): 1}, {("q", "b"): 1}, [run], parse_metric("RR@10"))
    >>> [(one.before, one.after) for one in found.standings], found.reason
    ([(1.0, 0.5)], 'at least two systems are needed for an order')
    """
    keys = sorted(before.keys() | after.keys())
    pairs = Pairs(keys)
    sets = [Labels(pairs, np.array([float(one.get(key, np.nan)) for key in keys])) for one in (before, after)]
    placed = [at for run in runs if (at := positions(pairs, run)).returned.any()]
    means = [
        [float(values(labels, at, metric)[labels.labelled].mean()) if labels.labelled.any() else 0.0 for at in placed]
        for labels in sets
    ]
    ranks = [[1 + sum(other > mean + TIE for other in of) for mean in of] for of in means]
    rows = zip([at.name for at in placed], *means, *ranks, strict=True)
    standings = sorted((Standing(*row) for row in rows), key=lambda one: (one.rank_after, one.rank_before, one.run))
    order = rank_correlation({one.run: one.before for one in standings}, {one.run: one.after for one in standings})
    return Boards(tuple(standings), order.tau_b, order.reasons.get("tau_b", ""))
