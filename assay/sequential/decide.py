"""Decide between two systems: the verdict that the judged queries allow, and whether judging may stop."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.result import Result
from assay.core.run import Run
from assay.metrics.metric import TIE
from assay.scoring.results import SamplingDesign
from assay.sequential import ALPHA, DELTA, METHODS
from assay.sequential.method import Floats, Method, Observed, running_moments

Verdict = Literal["better", "worse", "equivalent", "undecided"]
# Above this, the asymptotic sequence of a skewed sample has more false alarms than alpha.
SKEWED = 1.0
REASONS = {
    "identical_lists": "both systems return the same documents in the same order for every planned query",
    "too_few_queries": "too few queries are judged for an interval",
    "no_variation": "all differences are equal, so that their variation is unknown",
    "plan_ended": "the planned queries are judged; more queries need a new plan",
    "no_forecast": "no verdict is expected with a realistic number of queries",
}


@dataclass(frozen=True)
class Step:
    """The state after a judged query; ``low`` and ``high`` are None where the method gives no interval."""

    n: int
    query_id: str
    difference: float
    mean: float
    low: float | None
    high: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Decision(Result):
    """A verdict about a candidate and its baseline.

    Attributes
    ----------
    verdict : {"better", "worse", "equivalent", "undecided"}
        Whether the candidate is better or worse than the baseline, or differs from it by less than ``delta``.
    difference, low, high : float or None
        The mean difference and its interval when the verdict was reached, or after all queries if undecided.
    queries, judgments : int
        The number of queries when the verdict was reached, and of judged documents in both lists of these queries.
    expected_more : int or None
        The number of further queries until a verdict, if they resemble those judged so far; 0 with a verdict.
    reason : str or None
        Why there is no verdict or interval, or why no query was needed: a key of `REASONS`.
    skewness : float or None
        The skewness of the differences.
    undefined, unweighted : int
        The number of judged queries that were left out because the metric is undefined for them, or their weight is 0.
    trace : tuple of Step
        The state after each query.
    """

    verdict: Verdict
    difference: float | None
    low: float | None
    high: float | None
    queries: int
    judgments: int
    expected_more: int | None
    method: str
    alpha: float
    delta: float
    metric: str = ""
    baseline: str = ""
    candidate: str = ""
    planned: int | None = None
    reason: str | None = None
    skewness: float | None = None
    undefined: int = 0
    unweighted: int = 0
    trace: tuple[Step, ...] = ()

    @property
    def advises_betting(self) -> bool:
        """Return whether the differences are too skewed for a method that assumes normal means."""
        return self.method != "betting" and self.skewness is not None and abs(self.skewness) > SKEWED

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as the command's JSON, without the trace."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "trace"}

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dict for each judged query."""
        return [{name: getattr(step, name) for name in Step.__dataclass_fields__} for step in self.trace]

    def trace_lines(self) -> Iterator[str]:
        """Yield a JSON line for each judged query."""
        return (json.dumps(row, ensure_ascii=False) + "\n" for row in self.to_rows())


def decide(
    qrels: Any,
    baseline: Any,
    candidate: Any,
    metric: Any = "nDCG@10",
    *,
    delta: float = DELTA,
    alpha: float = ALPHA,
    method: str = "asymptotic",
    planned: int | None = None,
    candidates: int = 1,
    order: Sequence[str] | None = None,
    design: SamplingDesign | None = None,
    missing: Literal["zero", "skip"] = "zero",
    scale_top: float | None = None,
    overlap: bool = True,
) -> Decision:
    """Decide whether a candidate is better than its baseline, after any number of judged queries.

    Parameters
    ----------
    qrels : path, dict, DataFrame, iterable or Qrels
        The labels, as in `evaluate`. The queries must be judged whole and in random order.
    baseline, candidate : path, dict, DataFrame or Run
        The two runs.
    metric : str, BoundMetric or metric of ir_measures
        One metric.
    delta : float
        The largest difference that does not matter, above 0.
    alpha : float
        The probability of a wrong verdict, for all looks together.
    method : str
        A member of ``assay.sequential.METHODS``.
    planned : int, optional
        The largest number of queries, for the method ``group``.
    candidates : int
        The number of candidates that are compared with this baseline; ``alpha`` is divided by it.
    order : sequence of str, optional
        The query ids in the order of judging; by default the order of the qrels. It may contain planned queries that
        are not judged yet. Those with identical lists that are not empty count with the difference 0, up to the first
        planned query that still needs judging.
    design : SamplingDesign, optional
        How the queries were drawn; the difference is then weighted. Queries with weight 0 are left out.
    missing : {"zero", "skip"}
        Whether a judged query that a run does not answer scores 0 or is left out.
    scale_top : float, optional
        The top grade of the scale, for metrics that need it.
    overlap : bool
        Whether to reject a run that has no documents in common with the labels, as in `evaluate`.

    Returns
    -------
    Decision
        The verdict, which never changes once it is reached, with the state after each query.

    Raises
    ------
    NotValid
        When a setting is out of range, the order lists a query twice or lacks a judged query, the metric is not
        between 0 and 1 and the method needs that, or as for `evaluate`.

    Notes
    -----
    Source: Waudby-Smith and others 2024 (asymptotic), Lan and DeMets 1983 (group), Waudby-Smith and Ramdas 2024
    (betting).

    Examples
    --------
    >>> qrels = {f"q{n:02}": {"good": 1} for n in range(40)}
    >>> old = {query: {"bad": 2.0, "good": 1.0} for query in qrels}
    >>> new = {query: {"good": 1.0} if n % 4 else {"bad": 1.0} for n, query in enumerate(qrels)}
    >>> decision = decide(qrels, old, new, "RR")
    >>> decision.verdict, decision.queries, round(decision.difference, 4)
    ('better', 32, 0.25)
    """
    from assay.formats.qrels_and_runs import read_qrels, read_run
    from assay.scoring.evaluate import bind, evaluate

    labels = read_qrels(qrels)
    runs = [read_run(baseline), read_run(candidate)]
    names = ("baseline", "candidate")
    metrics = bind(metric)
    if len(metrics) != 1:
        raise NotValid(f"a decision needs one metric, not {len(metrics)}; choose the one that the decision is based on")
    (bound,) = metrics
    depth = bound.cutoff if isinstance(bound.cutoff, int) else None
    scored = evaluate(
        labels,
        [run.named(name) for run, name in zip(runs, names, strict=True)],
        [bound],
        missing,
        scale_top=scale_top,
        ranges=False,
        overlap=overlap,
    )
    query_ids = _ordered(
        labels, order, lambda query_id: bool(runs[0].ranking(query_id)) and _identical(runs, [query_id], depth)
    )
    first, second = (scored.tested(run, scored.metrics[0]) for run in scored.runs)
    by_query = dict(zip(scored.query_ids, (second - first).tolist(), strict=True))
    differences = np.array([by_query.get(query_id, 0.0) for query_id in query_ids], dtype=np.float64)
    weights = np.array((design.weights_of(query_ids) if design else None) or [1.0] * len(query_ids), dtype=np.float64)
    defined, weighted = ~np.isnan(differences), weights > 0
    if not weighted.any():
        raise NotValid("all queries have the weight 0; give at least one query a weight above 0")
    used = np.flatnonzero(defined & weighted)
    used_ids = [query_ids[at] for at in used.tolist()]
    decision = decide_differences(
        differences[used],
        weights[used],
        query_ids=used_ids,
        delta=delta,
        alpha=alpha,
        method=method,
        planned=planned,
        candidates=candidates,
        bounded=bound.metric.bounded and bound.metric.mean != "geometric",
        identical=_identical(runs, order or labels.query_ids, depth),
    )
    return replace(
        decision,
        judgments=_judgments(labels, runs, used_ids[: decision.queries], depth),
        metric=scored.metrics[0],
        baseline=runs[0].name,
        candidate=runs[1].name,
        undefined=int((~defined).sum()),
        unweighted=int((defined & ~weighted).sum()),
    )


def decide_differences(
    differences: Sequence[float] | Floats,
    weights: Sequence[float] | Floats | None = None,
    *,
    query_ids: Sequence[str] | None = None,
    delta: float = DELTA,
    alpha: float = ALPHA,
    method: str = "asymptotic",
    planned: int | None = None,
    candidates: int = 1,
    bounded: bool = True,
    identical: bool = False,
    forecast: bool = True,
) -> Decision:
    """Decide from the differences of the judged queries, candidate minus baseline, in the order of judging.

    Parameters
    ----------
    differences : array-like of float, shape (n,)
        Finite numbers.
    weights : array-like of float, shape (n,), optional
        Weights above 0.
    query_ids : sequence of str, optional
        The ids for the trace.
    delta, alpha, method, planned, candidates
        As for `decide`.
    bounded : bool
        Whether the metric is between 0 and 1.
    identical : bool
        Whether the two lists are identical for every planned query.
    forecast : bool
        Whether to compute ``expected_more``, which takes longer than the verdict.

    Returns
    -------
    Decision
        The verdict with the state after each query; ``judgments`` is 0.

    Raises
    ------
    NotValid
        When a setting is out of range, or the method needs a bounded metric and this one is not.

    Examples
    --------
    >>> differences = [((37 * i % 23) - 9) / 20 for i in range(1, 61)]
    >>> decision = decide_differences(differences, delta=0.3)
    >>> decision.verdict, decision.queries, round(decision.low, 4), round(decision.high, 4)
    ('equivalent', 25, -0.1115, 0.2995)
    """
    member = METHODS[method]
    values = np.asarray(differences, dtype=np.float64)
    sizes = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    _check(member, values, sizes, delta, alpha, planned, candidates, bounded)
    planned = planned if member.needs_planned else None
    settings: dict[str, Any] = {"method": method, "alpha": alpha, "delta": delta, "planned": planned}
    if identical:
        return Decision("equivalent", 0.0, 0.0, 0.0, 0, 0, 0, reason="identical_lists", **settings)
    observed = Observed(values, sizes, alpha / candidates, planned)
    low, high = member.bounds(observed)
    means = running_moments(observed)[0]
    first = _first_verdict(low, high, delta)
    ids = query_ids or [str(at + 1) for at in range(len(values))]
    decided, verdict = first or (len(values), "undecided")
    rows = zip(ids, values.tolist(), means.tolist(), low.tolist(), high.tolist(), strict=True)
    trace = tuple(
        Step(at + 1, name, value, mean, _number(lowest), _number(highest), verdict if at >= decided else "undecided")
        for at, (name, value, mean, lowest, highest) in enumerate(rows)
    )
    skewness = _skewness(values)
    if first is not None:
        step = trace[decided]
        return Decision(
            step.verdict, step.mean, step.low, step.high, step.n, 0, 0, skewness=skewness, trace=trace, **settings
        )
    if member.needs_planned and planned is not None:
        trace = trace[:planned]
    last = next((step for step in reversed(trace) if step.low is not None), None)
    reason = _reason(values, last, planned)
    more = _expected_more(member, observed, delta) if forecast and reason != "plan_ended" else None
    return Decision(
        "undecided",
        trace[-1].mean if trace else None,
        last.low if last else None,
        last.high if last else None,
        len(trace),
        0,
        more,
        reason=reason or ("no_forecast" if forecast and more is None else None),
        skewness=skewness,
        trace=trace,
        **settings,
    )


def _check(
    member: Method,
    differences: Floats,
    weights: Floats,
    delta: float,
    alpha: float,
    planned: int | None,
    candidates: int,
    bounded: bool,
) -> None:
    if not (math.isfinite(delta) and delta > 0):
        raise NotValid(f"delta is {delta:g}; use a number above 0, such as {DELTA}")
    if not 0 < alpha < 0.5:
        raise NotValid(f"alpha is {alpha:g}; use a number between 0 and 0.5, such as {ALPHA}")
    if candidates < 1:
        raise NotValid(f"the number of candidates is {candidates}; use at least 1")
    if member.needs_planned and planned is None:
        raise NotValid(f"the method {member.name} needs the planned number of queries; add it (--planned N)")
    if not member.needs_planned and planned is not None:
        raise NotValid(f"the method {member.name} has no planned number of queries; remove it, or use the method group")
    if len(weights) != len(differences) or not np.isfinite(differences).all():
        raise NotValid("expected a finite difference and a weight for each query")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise NotValid("a weight is not above 0; leave out queries without traffic")
    if member.needs_bounded and (not bounded or (np.abs(differences) > 1 + TIE).any()):
        raise NotValid(f"the method {member.name} needs a metric between 0 and 1, such as nDCG@10; or use asymptotic")


def _ordered(labels: Qrels, order: Sequence[str] | None, same: Callable[[str], bool]) -> list[str]:
    """Return the judged queries in the order of judging, with those that need no judging because their lists are the
    same, up to the first query that still needs judging."""
    if order is None:
        return list(labels.in_source_order)
    judged, listed = set(labels.query_ids), set(order)
    if len(listed) < len(order):
        twice = next(query_id for at, query_id in enumerate(order) if query_id in order[:at])
        raise NotValid(f"the order lists the query {twice!r} twice; keep one")
    if absent := sorted(judged - listed):
        raise NotValid(
            f"the order lacks {len(absent)} of {len(judged)} judged queries, such as {absent[0]!r}; add them"
        )
    needs_judging = (at for at, query_id in enumerate(order) if query_id not in judged and not same(query_id))
    reached = next(needs_judging, len(order))
    return [query_id for at, query_id in enumerate(order) if query_id in judged or at < reached]


def _identical(runs: Sequence[Run], query_ids: Sequence[str], depth: int | None) -> bool:
    first, second = runs
    return all(first.ranking(query_id)[:depth] == second.ranking(query_id)[:depth] for query_id in query_ids)


def _judgments(labels: Qrels, runs: Sequence[Run], query_ids: Sequence[str], depth: int | None) -> int:
    """Count the judged documents in both lists of these queries."""
    judged = labels.to_dict()
    return sum(
        len({doc_id for run in runs for doc_id in run.ranking(query_id)[:depth]} & judged.get(query_id, {}).keys())
        for query_id in query_ids
    )


def _first_verdict(low: Floats, high: Floats, delta: float) -> tuple[int, Verdict] | None:
    """Return the place and kind of the first verdict; comparisons with NaN are false."""
    better, worse, equivalent = low > 0, high < 0, (low > -delta) & (high < delta)
    reached = np.flatnonzero(better | worse | equivalent)
    if not len(reached):
        return None
    at = int(reached[0])
    return at, "better" if better[at] else "worse" if worse[at] else "equivalent"


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _skewness(values: Floats) -> float | None:
    """Return the skewness of the differences; None if they do not vary."""
    centered = values - values.mean() if len(values) else values
    variance = float(np.mean(centered**2)) if len(values) else 0.0
    return None if len(values) < 3 or variance <= TIE**2 else float(np.mean(centered**3)) / variance**1.5


def _reason(values: Floats, last: Step | None, planned: int | None) -> str | None:
    if planned is not None and len(values) >= planned:
        return "plan_ended"
    if last is not None:
        return None
    return "no_variation" if len(values) > 1 and not np.ptp(values) else "too_few_queries"


def _expected_more(member: Method, observed: Observed, delta: float) -> int | None:
    """Return the number of further queries until a verdict, if they repeat the differences seen so far."""
    seen = len(observed.differences)
    if not seen or not np.ptp(observed.differences):
        return None
    rows = np.arange(observed.planned or max(member.farthest, seen)) % seen
    ahead = Observed(observed.differences[rows], observed.weights[rows], observed.alpha, observed.planned)
    first = _first_verdict(*member.bounds(ahead), delta)
    return None if first is None else first[0] + 1 - seen
