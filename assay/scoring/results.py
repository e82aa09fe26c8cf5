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
    """A metric of one run over a set of queries.

    Parameters
    ----------
    mean : float or None
        The plain mean; None, with a reason, when no query counts.
    queries : int
        Over how many queries.
    low, high : float or None
        The interval of the mean, where one was asked for.
    weighted : float or None
        The mean weighted by traffic and inclusion probability, where a sampling design was given.
    weighted_low, weighted_high : float or None
        Its interval.
    reason : str or None
        Why the mean or its interval is undefined.
    weighted_reason : str or None
        Why the weighted mean or its interval is undefined, where a sampling design was given.
    effective_queries : float or None
        How many equally weighted queries would tell as much as those counted here, where a design was given.
    """

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
        """Return plain numbers under plain names; what belongs to a design, and reasons, only where there is one."""
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
    """All metrics of one run.

    Parameters
    ----------
    name : str
        The run's name.
    metrics : dict of str to Summary
        Canonical metric name to its summary over all queries.
    per_query : dict of str to float64 array, shape (queries of the qrels,)
        Canonical metric name to the value of each query, in the order of ``Evaluation.query_ids``. A query that is left
        out (``missing="skip"``) holds NaN here and nothing in `as_json`.
    by_tier : dict of str to dict
        Tier to metric name to summary, where tiers were given.
    diagnostics : Diagnostics
        What to know beside the scores.
    """

    name: str
    metrics: dict[str, Summary]
    per_query: dict[str, npt.NDArray[np.float64]]
    diagnostics: Diagnostics
    by_tier: dict[str, dict[str, Summary]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Evaluation(Result):
    """The scores of several runs against one set of labels.

    Parameters
    ----------
    query_ids : tuple of str
        The judged queries; every ``per_query`` array is aligned with them.
    metrics : tuple of str
        Canonical names, in the order asked for.
    runs : tuple of RunScores
        In the order given.
    effective_queries : float or None
        (sum w)^2 / sum w^2 of the sampling design, where one was given.
    bound : tuple of BoundMetric
        The metrics with all their parameters, those that the labels' scale told included; empty for scores that were
        stored.
    unreached : dict of str to float
        Metrics for which no document is relevant, whatever a run returns: from which grade on one would be.
    machine : MachineSource or None
        The judge, where the labels are a machine's and not people's.
    """

    query_ids: tuple[str, ...]
    metrics: tuple[str, ...]
    runs: tuple[RunScores, ...]
    effective_queries: float | None = None
    bound: tuple[BoundMetric, ...] = ()
    unreached: Mapping[str, float] = field(default_factory=dict)
    machine: MachineSource | None = None

    @property
    def unreached_notes(self) -> list[str]:
        """Say which metrics are 0 whatever a run returns, a sentence for each threshold."""
        notes = []
        for level in sorted(set(self.unreached.values())):
            names = [name for name, one in self.unreached.items() if one == level]
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            listed = ", ".join(names[:MOST_NAMED]) + more
            notes.append(
                f"no grade of the qrels reaches {level:g}, the lowest relevant grade of {listed}, so their values are "
                "0; map the grades, or name a lower threshold, as in P(rel=0.3)@10"
            )
        return notes

    def tested(self, run: RunScores, metric: str) -> npt.NDArray[np.float64]:
        """Return the values whose plain mean is what is compared: logarithms where the metric's mean is geometric."""
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
        """Return one dict for each run and metric: the mean with its interval and number of queries."""
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
        """Return the metrics, and each run in the shape of ``assay evaluate --format json``."""
        machine = {"machine": self.machine.judge} if self.machine else {}
        return {"metrics": list(self.metrics), **machine, "runs": self.as_json()}

    def as_json(self) -> list[dict[str, Any]]:
        """Return one object per run, in the shape of ``runs`` of ``assay evaluate --format json``."""
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
