"""Results of an evaluation: the scores of each run, and the diagnostics that qualify them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.core.result import Result
from assay.metrics.means import GEOMETRIC_FLOOR

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from assay.core.qrels import MachineSource
    from assay.metrics.metric import BoundMetric
    from assay.scoring.diagnostics import Diagnostics


MOST_NAMED = 6


@dataclass(frozen=True)
class Summary:
    """A metric of a run over a set of queries."""

    mean: float | None
    queries: int
    low: float | None = None
    high: float | None = None
    weighted: float | None = None
    weighted_low: float | None = None
    weighted_high: float | None = None
    reason: str | None = None
    weighted_reason: str | None = None
    effective_queries: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values; fields of a design and reasons only if present."""
        plain: dict[str, Any] = {
            "mean": self.mean,
            "queries": self.queries,
            "low": self.low,
            "high": self.high,
            "weighted": self.weighted,
        }
        if self.weighted_low is not None:
            plain |= {"weighted_low": self.weighted_low, "weighted_high": self.weighted_high}
        rest = {
            "effective_queries": self.effective_queries,
            "reason": self.reason,
            "weighted_reason": self.weighted_reason,
        }
        return plain | {name: value for name, value in rest.items() if value is not None}


@dataclass(frozen=True, eq=False)
class RunScores:
    """All metrics of a run."""

    name: str
    metrics: dict[str, Summary]
    per_query: dict[str, npt.NDArray[np.float64]]
    diagnostics: Diagnostics
    by_tier: dict[str, dict[str, Summary]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Evaluation(Result):
    """The scores of several runs against one set of labels."""

    query_ids: tuple[str, ...]
    metrics: tuple[str, ...]
    runs: tuple[RunScores, ...]
    effective_queries: float | None = None
    bound: tuple[BoundMetric, ...] = ()
    unreached: Mapping[str, float] = field(default_factory=dict)
    machine: MachineSource | None = None

    @property
    def unreached_notes(self) -> list[str]:
        """Return which metrics are 0 for any run, one sentence for each threshold."""
        notes = []
        for level in sorted(set(self.unreached.values())):
            names = [name for name, one in self.unreached.items() if one == level]
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            listed = ", ".join(names[:MOST_NAMED]) + more
            notes.append(
                f"no grade of the qrels reaches {level:g}, the lowest relevant grade of {listed}, so the scores "
                "are 0; map the grades, or set a lower threshold, as in P(rel=0.3)@10"
            )
        return notes

    def tested(self, run: RunScores, metric: str) -> npt.NDArray[np.float64]:
        """Return the values whose mean is compared: logarithms if the metric's mean is geometric."""
        values = run.per_query[metric]
        if not any(one.name == metric and one.metric.mean == "geometric" for one in self.bound):
            return values
        import numpy as np

        return np.log(np.maximum(values, GEOMETRIC_FLOOR))

    def query_values(self, run: RunScores) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {metric: value}}`` of one run, without the queries that were left out."""
        columns = {name: run.per_query[name].tolist() for name in self.metrics}
        return {
            query_id: values
            for at, query_id in enumerate(self.query_ids)
            if (values := {name: column[at] for name, column in columns.items() if column[at] == column[at]})
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dict for each run and metric: the mean with its interval and number of queries."""
        return [
            {
                "run": run.name,
                "metric": name,
                "mean": summary.mean,
                "low": summary.low,
                "high": summary.high,
                "queries": summary.queries,
                "weighted": summary.weighted,
                "reason": summary.reason,
            }
            for run in self.runs
            for name, summary in run.metrics.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics, and each run as in ``assay evaluate --format json``."""
        machine = {"machine": self.machine.judge} if self.machine else {}
        return {"metrics": list(self.metrics), **machine, "runs": self.as_json()}

    def as_json(self) -> list[dict[str, Any]]:
        """Return one object per run, as in ``runs`` of ``assay evaluate --format json``."""
        return [
            {
                "name": run.name,
                "metrics": {name: summary.as_json() for name, summary in run.metrics.items()},
                "by_tier": {
                    tier: {name: summary.as_json() for name, summary in metrics.items()}
                    for tier, metrics in run.by_tier.items()
                },
                "per_query": self.query_values(run),
                "diagnostics": run.diagnostics.as_json(),
            }
            for run in self.runs
        ]
