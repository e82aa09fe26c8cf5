"""Estimated means of the runs from a judge's grades of a round and human grades of some of its queries.

An interval is reported only for a random sample. The unit of a metric is the query, so people must have judged whole
queries that were drawn at random. An audit slice is drawn over pairs, so it yields only the share of relevant pairs.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from evaluation.effects.round_runs import METRIC, answering_tables, is_large, metric_named, runs_of, state_key
from judgments.jobs.single_flight import compute_once
from judgments.labels import grade_visibility
from judgments.labels.round_labels import Key, read_rounds
from judgments.machines.calibration import calibration
from judgments.machines.calibration.calibration import alike
from judgments.models import Judge, Round
from pooling.models import Run

if TYPE_CHECKING:
    from assay.estimators.human_machine_mean import HumanMachineMean
    from assay.estimators.stratified_mean import Stratified

DAY = 24 * 3600
FORM = 1
# Default half-width of the interval for planning.
HALF = 0.02
HIDDEN = "You may still grade pairs of this round, and a mean would reveal other grades. Grade your pairs first."


@dataclass(frozen=True)
class Both:
    """Estimates for one run by both methods."""

    run: str
    ppi: HumanMachineMean
    stratified: HumanMachineMean


@dataclass(frozen=True)
class RoundEstimates:
    """Estimates for the runs of a round with machine grades."""

    metric: str
    half: float
    queries: int = 0
    whole: int = 0
    drawn: bool = False
    runs: tuple[Both, ...] = ()
    why: str = ""
    rate: Stratified | None = None
    rate_why: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the estimates as a dict with unrounded numbers."""
        runs = [{"run": one.run, "ppi": one.ppi.as_json(), "stratified": one.stratified.as_json()} for one in self.runs]
        return vars(self) | {"runs": runs, "rate": None if self.rate is None else self.rate.as_json()}


def estimates_of(
    judge: Judge, round_: Round, viewer: Any, *, metric: str = METRIC, half: float = HALF, drawn: bool = False
) -> RoundEstimates:
    """Estimate every run's mean over the queries that the judge labeled, and the share of relevant pairs."""
    bound = metric_named(metric, round_)
    if not (math.isfinite(half) and 0 < half <= 1):
        raise NotValid(
            "The half-width of an interval must be above 0 and at most 1.",
            {"half": "Enter a number above 0 and at most 1."},
        )
    if not grade_visibility.means_visible(viewer, round_):
        return RoundEstimates(bound.name, half, why=HIDDEN, rate_why=HIDDEN)
    if is_large(round_):
        large = "The round has too many grades for a page. Use `assay estimate` with its files."
        return RoundEstimates(bound.name, half, why=large, rate_why=large)
    people, machine = calibration.labels_of(round_), calibration.grades_of(judge, round_)
    # Pairs that people marked as unrateable need no further grade.
    seen = people.keys() | {key for rated in read_rounds(alike(round_)) for key in rated.not_judged}
    # The share covers all pairs of the round, including those with which the judge was prompted.
    rate, rate_why = _rate(judge, round_, people, calibration.grades_of(judge, round_, examples=True), seen)
    machine_queries = {query_id for query_id, _ in machine}
    open_ = {key[0] for key in round_.pairs.values_list("query__query_id", "document__doc_id") if key not in seen}
    whole = {query_id for query_id, _ in people} & machine_queries - open_
    result = RoundEstimates(bound.name, half, len(machine_queries), len(whole), drawn, rate=rate, rate_why=rate_why)
    why = _why_not(result)
    if not why:
        try:
            runs = runs_of(round_)
            ours = {key: grade for key, grade in people.items() if key[0] in whole}
            run_estimates = _cached_estimates(round_, judge, runs, ours, machine, result)
            return replace(
                result,
                runs=run_estimates,
                why="" if run_estimates else "No run has results for a query that both people and the judge labeled.",
            )
        except NotValid as error:
            why = str(error)
    return replace(result, why=why)


def _why_not(result: RoundEstimates) -> str:
    if not result.queries:
        return "This judge has not graded any pair of this round yet."
    if result.whole < 3:
        return (
            f"People have judged {result.whole:,} of {amount(result.queries, 'query', 'queries')} completely, but 3 "
            "are needed. An audit slice covers pairs, not whole queries. Have people judge whole queries drawn at "
            "random."
        )
    if result.whole < result.queries and not result.drawn:
        return (
            f"People have judged {result.whole:,} of {amount(result.queries, 'query', 'queries')} completely. It is "
            "unknown whether these queries were drawn at random. If they were chosen in any other way, such as by a "
            "machine’s uncertainty, an interval would not be valid."
        )
    return ""


def _rate(
    judge: Judge, round_: Round, people: Mapping[Key, float], machine: Mapping[Key, float], seen: Set[Key]
) -> tuple[Stratified | None, str]:
    """Estimate the share of machine-graded pairs that people would call relevant, once the audit slice is judged."""
    from assay.estimators.stratified_mean import stratified_rate

    inside = calibration.slice_keys(judge, round_) & machine.keys()
    left = inside - seen
    if left:
        return None, f"People still have to judge {len(left):,} of {amount(len(inside), 'pair')} in the audit slice."
    known = sorted(inside & people.keys())
    if len(known) < 3:
        return (
            None,
            f"In the audit slice, {amount(len(known), 'pair has', 'pairs have')} both a human grade and a grade by "
            "this judge; 3 are needed.",
        )
    at = round_.scale.relevant_from
    # Pairs that people marked as unrateable are left out on both sides.
    rest = [grade for key, grade in machine.items() if key not in inside]
    return stratified_rate([people[key] >= at for key in known], [machine[key] for key in known], rest), ""


def _cached_estimates(
    round_: Round,
    judge: Judge,
    runs: list[Run],
    people: Mapping[Key, float],
    machine: Mapping[Key, float],
    result: RoundEstimates,
) -> tuple[Both, ...]:
    labels = json.dumps([sorted(people.items()), sorted(machine.items())])
    stands_on = hashlib.sha256(labels.encode()).hexdigest()
    key = f"estimates:{FORM}:{state_key(round_, runs, str(judge.uuid), stands_on, result.metric, result.half)}"
    return compute_once(key, lambda: _computed(runs, people, machine, result), keep=DAY)


def _computed(
    runs: list[Run], people: Mapping[Key, float], machine: Mapping[Key, float], result: RoundEstimates
) -> tuple[Both, ...]:
    from assay.core.qrels import Qrels
    from assay.estimators.human_machine_mean import estimates

    answering = answering_tables(runs, {query_id for query_id, _ in machine})
    if not answering:
        return ()
    ours, theirs = (Qrels.from_rows((*key, grade) for key, grade in side.items()) for side in (people, machine))
    by_method = [
        estimates(ours, theirs, answering, [result.metric], method=method, half=result.half)
        for method in ("ppi", "stratified")
    ]
    return tuple(Both(one.run, one, other) for one, other in zip(*by_method, strict=True))
