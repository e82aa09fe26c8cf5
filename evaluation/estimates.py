"""Estimated means of the runs if a machine judged a round and people judged a few of its queries.

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

from evaluation.round_runs import METRIC, is_large, metric_named, runs_of, state_key
from judgments import judged, untold
from judgments.computed import once
from judgments.core.amounts import amount
from judgments.core.errors import NotValid
from judgments.judged_labels import alike
from judgments.models import Judge, Round
from judgments.round_labels import Key, read_rounds
from pooling import runs as pooled
from pooling.models import Run

if TYPE_CHECKING:
    from evaluation.estimators.from_labels import Estimate
    from evaluation.estimators.stratified import Stratified

DAY = 24 * 3600
FORM = 1
# Half of the interval that planning aims at when nobody names one.
HALF = 0.02
HIDDEN = "You may still grade pairs of this round, and a mean less what you know tells the rest. Grade yours first."


@dataclass(frozen=True)
class Both:
    """One run by either method."""

    run: str
    ppi: Estimate
    stratified: Estimate

    def as_json(self) -> dict[str, Any]:
        """Plain names, numbers unrounded."""
        return {"run": self.run, "ppi": self.ppi.as_json(), "stratified": self.stratified.as_json()}


@dataclass(frozen=True)
class Told:
    """What can be told of a judge's round.

    Parameters
    ----------
    metric : str
        Of the runs' means.
    half : float
        Half of the interval that planning aims at.
    queries, whole : int
        That the machine labelled, and of which people have judged every pair of the round.
    drawn : bool
        Whether the lead said that these were drawn at random.
    runs : tuple of Both
        By name; empty where `why` says why.
    why : str
        Why there is no mean.
    rate : Stratified or None
        The share of relevant pairs, by the audit slice; None where `rate_why` says why.
    rate_why : str
        Why there is none.
    """

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
        """Plain names, numbers unrounded."""
        return {
            "metric": self.metric,
            "half": self.half,
            "queries": self.queries,
            "whole": self.whole,
            "drawn": self.drawn,
            "runs": [one.as_json() for one in self.runs],
            "why": self.why,
            "rate": None if self.rate is None else self.rate.as_json(),
            "rate_why": self.rate_why,
        }


def estimates_of(
    judge: Judge, round_: Round, viewer: Any, *, metric: str = METRIC, half: float = HALF, drawn: bool = False
) -> Told:
    """Estimate every run's mean over the queries that the judge labelled, and the share of relevant pairs.

    Parameters
    ----------
    judge, round_ : Judge, Round
        Whose grades, and where.
    viewer : User
        Who reads it. Who may still grade a pair of the round is told nothing.
    metric : str
        One with a plain mean.
    half : float
        How many queries an interval of this half width takes is told.
    drawn : bool
        That the queries which people judged whole were drawn at random. Nobody can see that from labels, and without it
        there is no honest interval, unless people judged all.

    Raises
    ------
    NotValid
        There is no such metric, or no such half width.
    """
    bound = metric_named(metric, round_)
    if not (math.isfinite(half) and 0 < half <= 1):
        raise NotValid("Half of an interval lies above 0 and is 1 at most.", {"half": "Above 0, 1 at most."})
    if not untold.may_be_told_means(viewer, round_):
        return Told(bound.name, half, why=HIDDEN, rate_why=HIDDEN)
    if is_large(round_):
        large = "The round has more grades than can be read while a page waits; `assay estimate` takes its files."
        return Told(bound.name, half, why=large, rate_why=large)
    people, machine = judged.labels_of(round_), judged.grades_of(judge, round_)
    seen = people.keys() | _not_judgeable(round_)
    # The share speaks of all pairs of the round, also of those that a judge learnt from.
    rate, rate_why = _rate(judge, round_, people, judged.grades_of(judge, round_, examples=True), seen)
    asked = {query_id for query_id, _ in machine}
    open_ = {key[0] for key in round_.pairs.values_list("query__query_id", "document__doc_id") if key not in seen}
    whole = {query_id for query_id, _ in people} & asked - open_
    told = Told(bound.name, half, len(asked), len(whole), drawn, rate=rate, rate_why=rate_why)
    why = _why_not(told)
    if not why:
        try:
            runs = runs_of(round_)
            ours = {key: grade for key, grade in people.items() if key[0] in whole}
            found = _kept(round_, judge, runs, ours, machine, told)
            return replace(told, runs=found, why="" if found else "No run answers a query that both labelled.")
        except NotValid as error:
            why = str(error)
    return replace(told, why=why)


def _why_not(told: Told) -> str:
    if not told.queries:
        return "This judge has graded nothing here yet."
    if told.whole < 3:
        return (
            f"People have judged {told.whole:,} of {amount(told.queries, 'query', 'queries')} "
            "whole, and it takes three at least. An "
            "audit slice is drawn over pairs and makes no query whole: let people judge whole queries drawn at random."
        )
    if told.whole < told.queries and not told.drawn:
        return (
            f"People have judged {told.whole:,} of {amount(told.queries, 'query', 'queries')} "
            "whole. Nothing here shows that these were "
            "drawn at random, and of queries that came to people in any other way, such as by a machine’s doubt, no "
            "interval would be right."
        )
    return ""


def _not_judgeable(round_: Round) -> set[Key]:
    """Pairs that people looked at and could not judge: they wait for nobody."""
    return {key for rated in read_rounds(alike(round_)) for key in rated.not_judged}


def _rate(
    judge: Judge, round_: Round, people: Mapping[Key, float], machine: Mapping[Key, float], seen: Set[Key]
) -> tuple[Stratified | None, str]:
    """The share of the pairs graded by the machine that people would call relevant, by the slice once it is judged."""
    from evaluation.estimators.stratified import stratified_rate

    inside = judged.slice_keys(judge, round_) & machine.keys()
    left = inside - seen
    if left:
        return None, f"People have yet to judge {len(left):,} of {amount(len(inside), 'pair')} of the audit slice."
    known = sorted(inside & people.keys())
    if len(known) < 3:
        return (
            None,
            f"Of the audit slice {amount(len(known), 'pair has', 'pairs have')} "
            "a grade of people and of this judge; it takes three.",
        )
    at = round_.scale.relevant_from
    # What people could not judge is left out on both sides.
    rest = [grade for key, grade in machine.items() if key not in inside]
    return stratified_rate([people[key] >= at for key in known], [machine[key] for key in known], rest), ""


def _kept(
    round_: Round,
    judge: Judge,
    runs: list[Run],
    people: Mapping[Key, float],
    machine: Mapping[Key, float],
    told: Told,
) -> tuple[Both, ...]:
    labels = json.dumps([sorted(people.items()), sorted(machine.items())])
    stands_on = hashlib.sha256(labels.encode()).hexdigest()
    key = f"estimates:{FORM}:{state_key(round_, runs, str(judge.uuid), stands_on, told.metric, told.half)}"
    return once(key, lambda: _computed(runs, people, machine, told), keep=DAY)


def _computed(
    runs: list[Run], people: Mapping[Key, float], machine: Mapping[Key, float], told: Told
) -> tuple[Both, ...]:
    from evaluation.estimators.from_labels import estimates
    from judgments.core.qrels import Qrels

    asked = {query_id for query_id, _ in machine}
    tables = [pooled.ranked(run) for run in runs]
    answering = [table for table in tables if not asked.isdisjoint(table.query_ids)]
    if not answering:
        return ()
    ours, theirs = (Qrels.from_dict(_nested(side)) for side in (people, machine))
    by_method = [
        estimates(ours, theirs, answering, [told.metric], method=method, half=told.half)
        for method in ("ppi", "stratified")
    ]
    return tuple(Both(one.run, one, other) for one, other in zip(*by_method, strict=True))


def _nested(grades: Mapping[Key, float]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for (query_id, doc_id), grade in grades.items():
        found.setdefault(query_id, {})[doc_id] = grade
    return found
