"""Bias of metrics and run rankings when machine labels replace human labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.estimators.prediction_powered import human_only
from assay.metrics.judged_rankings import Floats
from assay.scoring.evaluate import Metrics, evaluate
from assay.significance.rank_correlation import rank_correlation

LEVEL = 0.95


@dataclass(frozen=True)
class Bias:
    """The bias for a run and metric."""

    run: str
    metric: str
    people: float
    machine: float
    difference: float
    low: float | None
    high: float | None
    correlation: float | None
    queries: int


@dataclass(frozen=True)
class Biases:
    """The biases of all runs and metrics, and the change in the order of the runs."""

    rows: list[Bias]
    tau: dict[str, float | None]
    queries: int

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, with numbers unrounded."""
        return asdict(self)


def metric_bias(people: Qrels, machine: Qrels, runs: Sequence[Run], metrics: Metrics, level: float = LEVEL) -> Biases:
    """Score the same runs by both sets of labels, on their common queries."""
    labels = [given.to_dict() for given in (people, machine)]
    common = sorted(labels[0].keys() & labels[1].keys(), key=str.encode)
    if not common:
        raise NotValid("no query has both kinds of labels, so no metric can be compared")
    ours, theirs = (
        evaluate(
            Qrels.from_dict({query_id: one[query_id] for query_id in common}),
            runs,
            metrics,
            ranges=False,
            overlap=False,
        )
        for one in labels
    )
    rows = [
        _bias(mine.name, name, mine.per_query[name], other.per_query[name], level)
        for mine, other in zip(ours.runs, theirs.runs, strict=True)
        for name in ours.metrics
    ]
    return Biases(rows, {name: _tau([row for row in rows if row.metric == name]) for name in ours.metrics}, len(common))


def _tau(rows: Sequence[Bias]) -> float | None:
    """Return Kendall's tau of the two orders of the runs."""
    if len(rows) < 2:
        return None
    people, machine = ({row.run: getattr(row, side) for row in rows} for side in ("people", "machine"))
    return rank_correlation(people, machine).tau_b


def _bias(run: str, metric: str, people: Floats, machine: Floats, level: float) -> Bias:
    both = ~(np.isnan(people) | np.isnan(machine))
    ours, theirs = people[both], machine[both]
    apart = human_only(theirs - ours, level) if len(ours) > 2 else None
    varied = len(ours) > 2 and ours.std() > 1e-12 and theirs.std() > 1e-12
    return Bias(
        run,
        metric,
        float(ours.mean()),
        float(theirs.mean()),
        float((theirs - ours).mean()),
        None if apart is None else apart.low,
        None if apart is None else apart.high,
        float(np.corrcoef(ours, theirs)[0, 1]) if varied else None,
        len(ours),
    )
