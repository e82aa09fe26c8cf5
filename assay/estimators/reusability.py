"""Reusability of a collection for a system that did not contribute to its pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.estimators.discovery_curve import Discovery, discovery, missed_by_curve
from assay.estimators.left_out_systems import LeftOut, families, leave_out
from assay.estimators.pooled_documents import pooled
from assay.estimators.residual_sample import Missed, Stratum, missed_by_sample
from assay.metrics.metric import BoundMetric
from assay.scoring.evaluate import bind, evaluate

# Depth of the runs for the curve, and the depths at which the share of judged documents is reported.
DEEPEST = 1_000
CUTOFFS = (5, 10, 20, 50, 100)


@dataclass(frozen=True, eq=False)
class Reuse:
    """The reusability of a collection for new systems."""

    metric: str
    relevant_from: float
    depth: int | None
    depth_told: bool
    contributors: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    groups: tuple[LeftOut, ...]
    curve: Discovery
    missed: Missed
    judged: Mapping[str, Mapping[int, float | None]]
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "relevant_from": self.relevant_from,
            "depth": self.depth,
            "depth_told": self.depth_told,
            "contributors": list(self.contributors),
            "left_out": [one.as_json() for one in self.left_out],
            "groups": [one.as_json() for one in self.groups],
            "reason": self.reason,
            "missed": self.missed.as_json(),
            "discovery": self.curve.as_json(),
            "judged": {run: {f"Judged@{k}": value for k, value in of.items()} for run, of in self.judged.items()},
        }


def reuse(
    qrels: Qrels,
    runs: Sequence[Run],
    metric: str | BoundMetric = "nDCG@10",
    *,
    contributors: Sequence[str] | None = None,
    depth: int | None = None,
    together: Sequence[str] = (),
    strata: Sequence[Stratum] = (),
    rel: float = 1,
    scale_top: float | None = None,
    seed: int = 0,
    watch: Callable[[int], None] = lambda done: None,
) -> Reuse:
    """Leave out each contributor and each family, estimate the missed documents, and report the judged share of each
    run.

    Parameters
    ----------
    qrels : Qrels
        The labels.
    runs : sequence of Run
        The runs, with distinct names.
    metric : str or BoundMetric
        One metric.
    contributors : sequence of str, optional
        The runs that the pool was drawn from; all of them by default.
    depth : int, optional
        The depth of the pool. If unknown, a run counts as a contributor down to the last rank to which (nearly) all
        documents of the contributors have labels, or at all ranks if not even the first rank does.
    together : sequence of str
        Contributors to leave out as a group, in addition to the families inferred from names.
    strata : sequence of Stratum
        The residual stratum by query, if one was judged.
    rel : float
        The lowest grade that counts as relevant.
    scale_top : float, optional
        The top grade of the scale, for metrics that need it; by default the largest grade of the qrels.
    seed : int
        Seed of the draws for the interval of the curve.
    watch : callable
        Called with the number of groups done.

    Raises
    ------
    NotValid
        There is no run, the metric is not valid or has no arithmetic mean, a run answers none of the judged queries, or
        a contributor is unknown.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"a": 1}})
    >>> runs = [Run.from_dict({"q1": {"a": 1.0}}, "one"), Run.from_dict({"q1": {"b": 1.0}, "q2": {"a": 1.0}}, "two")]
    >>> found = reuse(qrels, runs, "P@1")
    >>> [(one.name, one.unique, one.worst) for one in found.left_out], found.missed.value
    ([('one', 1, -0.5), ('two', 2, 0.0)], 0.0)
    """
    if not runs:
        raise NotValid("add at least one run")
    one = _one(metric)
    chosen = list(contributors) if contributors is not None else [run.name for run in runs]
    of_name = {run.name: run for run in runs}
    strange = next((name for name in (*chosen, *together) if name not in of_name), None)
    if strange is not None:
        raise NotValid(f"unknown run {strange!r}; runs: {', '.join(of_name)}")
    judged = _judged(qrels, runs)
    own = [of_name[name] for name in chosen]
    curve = discovery(qrels, pooled(qrels, own or runs, DEEPEST), rel)
    deep = depth or curve.whole or None
    reason = _why_not(chosen)
    alone = [] if reason else [(name, [name]) for name in chosen]
    groups = [] if reason else _groups(chosen, together)
    flags = {} if reason else _contributed(qrels, own, deep)
    every = leave_out(qrels, runs, flags, [*alone, *groups], one, rel=rel, scale_top=scale_top, watch=watch)
    relevant = int((qrels.grades >= rel).sum())
    missed = missed_by_sample(strata, relevant) if strata else missed_by_curve(curve, seed=seed)
    return Reuse(
        metric=one.name,
        relevant_from=rel,
        depth=deep,
        depth_told=depth is not None,
        contributors=tuple(chosen),
        left_out=every[: len(alone)],
        groups=every[len(alone) :],
        curve=curve,
        missed=missed,
        judged=judged,
        reason=reason,
    )


def _one(metric: str | BoundMetric) -> BoundMetric:
    bound = bind([metric])
    if len(bound) != 1:
        raise NotValid(f"use one metric, not {len(bound)}")
    if bound[0].metric.mean != "arithmetic":
        raise NotValid(f"the mean of {bound[0].name} is not an arithmetic mean; use a metric such as AP")
    return bound[0]


def _why_not(contributors: Sequence[str]) -> str | None:
    if not contributors:
        return "no run is known to have contributed to the pool"
    if len(contributors) == 1:
        return "only one run contributed, and without it there would be no pool"
    return None


def _contributed(qrels: Qrels, runs: Sequence[Run], depth: int | None) -> dict[str, Any]:
    deepest = max(int(np.diff(run.offsets).max(initial=1)) for run in runs)
    flags = pooled(qrels, runs, depth or deepest).contributed
    return {run.name: flags[:, at] for at, run in enumerate(runs)}


def _groups(contributors: Sequence[str], together: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    """Return the requested group first, then families by name."""
    distinct = tuple(dict.fromkeys(together))
    if len(distinct) == len(contributors):
        raise NotValid("all contributors would be left out, and there would be no pool")
    own = [(" + ".join(distinct), distinct)] if len(distinct) > 1 else []
    return [*own, *((name, of) for name, of in families(contributors).items() if set(of) != set(distinct))]


def _judged(qrels: Qrels, runs: Sequence[Run]) -> dict[str, dict[int, float | None]]:
    names = [f"Judged@{k}" for k in CUTOFFS]
    evaluation = evaluate(qrels, runs, names, ranges=False, overlap=False)
    return {run.name: {k: run.metrics[f"Judged@{k}"].mean for k in CUTOFFS} for run in evaluation.runs}
