"""Estimates of each run's mean from people's and a machine's labels together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.core.counted_nouns import agree, amount
from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.estimators.mean_estimate import LEVEL, REASONS
from assay.estimators.prediction_powered import FEW, Floats, Powered, powered_mean, queries_needed
from assay.estimators.stratified_mean import Stratified, stratified_mean
from assay.scoring.evaluate import Metrics, evaluate

Method = Literal["ppi", "stratified"]
METHODS: tuple[Method, ...] = ("ppi", "stratified")
# Below this share of the machine's pairs people labeled single pairs, not queries.
WHOLE = 0.5
# So rarely are the queries of a random sample as unlike the others as those that are called no sample.
UNLIKE = 0.001
UNLIKE_NOTE = "are unlike the others"
Labels = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Estimate:
    """One run under one metric.

    Parameters
    ----------
    run, metric : str
        Which.
    powered : Powered or Stratified
        The estimate, with that of people alone; which of the two, the method decides.
    machine_only : float
        The machine's mean over all its queries: what one would have without people. It may be far off.
    half : float or None
        Half of the interval that was asked for.
    needed : (int, int) or None
        How many queries people must label in all for it, with the machine and without.
    notes : tuple of str
        What limits it, each a sentence.
    """

    run: str
    metric: str
    powered: Powered | Stratified
    machine_only: float
    half: float | None = None
    needed: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return plain names, numbers unrounded."""
        needed = None if self.needed is None else {"with_machine": self.needed[0], "people_alone": self.needed[1]}
        return {
            "run": self.run,
            "metric": self.metric,
            "method": "ppi" if isinstance(self.powered, Powered) else "stratified",
            **self.powered.as_json(),
            "machine_only": self.machine_only,
            "half": self.half,
            "needed": needed,
            "notes": list(self.notes),
        }


def estimates(
    people: Qrels,
    machine: Qrels,
    runs: Sequence[Run],
    metrics: Metrics,
    *,
    method: Method = "ppi",
    level: float = LEVEL,
    half: float | None = None,
    partly: bool = False,
) -> list[Estimate]:
    """Estimate the mean of every run and metric over all queries that the machine labeled.

    Parameters
    ----------
    people : Qrels
        Labels of a random sample of the queries. Queries that the machine did not label are left out and reported.
    machine : Qrels
        Labels of these and of other queries.
    runs : sequence of Run
        At least one.
    metrics : str or iterable of str
        As `evaluate` takes them.
    method : {"ppi", "stratified"}
        How the machine's labels go in: `powered_mean` or `stratified_mean`.
    level : float
        Coverage of the intervals.
    half : float, optional
        Half of an interval that is wanted: how many queries it takes is reported.
    partly : bool
        Whether people may have labeled less than half of what the machine labeled of their queries: honest only where
        they labeled the same part of each, such as a shallower pool.

    Returns
    -------
    list of Estimate
        By run, then metric.

    Raises
    ------
    NotValid
        No query has labels of both; or people labeled single pairs, so that no value of a query is theirs.
    """
    if method not in METHODS:
        raise NotValid(f"{method!r} is no method; there are {' and '.join(METHODS)}")
    ours, theirs = people.to_dict(), machine.to_dict()
    both = sorted(ours.keys() & theirs.keys(), key=str.encode)
    if not both:
        raise NotValid("no query has labels of both people and the machine; the estimate needs some to correct it by")
    missing, pairs = _missing(ours, theirs, both)
    if missing > (1 - WHOLE) * pairs and not partly:
        raise NotValid(
            f"people labelled {pairs - missing:,} of the {amount(pairs, 'pair')} "
            "that the machine labelled of their queries; a "
            "metric of a query takes labels of the whole query. Let people label whole queries that are drawn at random"
        )
    rest = sorted(theirs.keys() - ours.keys(), key=str.encode)
    # People may have labeled few queries: only the machine's labels show that ids do not match.
    few = Qrels.from_dict({query: ours[query] for query in both})
    by_people = evaluate(few, runs, metrics, ranges=False, overlap=False)
    by_machine = evaluate(
        Qrels.from_dict({query: theirs[query] for query in [*both, *rest]}), runs, metrics, ranges=False
    )
    places = {query_id: place for place, query_id in enumerate(by_machine.query_ids)}
    on_both = [places[query_id] for query_id in by_people.query_ids]
    on_rest = [places[query_id] for query_id in rest]
    notes = _notes(len(both), len(rest), len(ours) - len(both), missing)
    bounded = {one.name: one.metric.bounded for one in by_people.bound}
    results = []
    for mine, other in zip(by_people.runs, by_machine.runs, strict=True):
        for name in by_people.metrics:
            human, values = mine.per_query[name], other.per_query[name]
            powered = _one(method, human, values[on_both], values[on_rest], level)
            needed = None if half is None else _needed(powered, human, half)
            unlike = _unlike(values[on_both], values[on_rest])
            notes_of_run = (*unlike, *notes, *_notes_of(powered, needed, len(both) + len(rest)))
            shown = powered.within_bounds() if bounded[name] else powered
            results.append(Estimate(mine.name, name, shown, float(np.nanmean(values)), half, needed, notes_of_run))
    return results


def _one(method: Method, human: Floats, machine: Floats, elsewhere: Floats, level: float) -> Powered | Stratified:
    if method == "stratified":
        return stratified_mean(human, machine, elsewhere, level=level)
    return powered_mean(human, machine, elsewhere, level=level)


def _unlike(sampled: Floats, others: Floats) -> tuple[str, ...]:
    """What to say where the machine finds people's queries to be no sample of all (Kolmogorov and Smirnov's test)."""
    if not len(others) or not (np.isfinite(sampled).all() and np.isfinite(others).all()):
        return ()
    if chance_alike(sampled, others) >= UNLIKE:
        return ()
    return (
        f"by the machine's labels the queries that people labelled (mean {sampled.mean():.3f}) {UNLIKE_NOTE} "
        f"({others.mean():.3f}): a random sample rarely is (p < {UNLIKE:g}), and of any other the interval is "
        "wrong",
    )


def chance_alike(a: Floats, b: Floats) -> float:
    """Return the two-sided p of Kolmogorov and Smirnov's test of two samples.

    The limiting distribution with the correction of Stephens (1970, J. Royal Statistical Society B 32, 115-122). Not
    scipy.stats.ks_2samp, whose import costs a page seconds.
    """
    from scipy.special import kolmogorov

    a, b = np.sort(a), np.sort(b)
    both = np.concatenate([a, b])
    apart = np.abs(np.searchsorted(a, both, "right") / len(a) - np.searchsorted(b, both, "right") / len(b)).max()
    root = np.sqrt(len(a) * len(b) / (len(a) + len(b)))
    return float(kolmogorov((root + 0.12 + 0.11 / root) * apart))


def _missing(ours: Labels, theirs: Labels, both: Sequence[str]) -> tuple[int, int]:
    """Return how many of the machine's pairs on their common queries people did not label, and how many there are."""
    pairs = sum(len(theirs[query]) for query in both)
    return pairs - sum(len(theirs[query].keys() & ours[query].keys()) for query in both), pairs


def _needed(powered: Powered | Stratified, human: Floats, half: float) -> tuple[int, int] | None:
    if len(human) < 3:
        return None
    deviation = float(human.std(ddof=1))
    alone = queries_needed(half, deviation, level=powered.level)
    # A machine of no use saves nothing, and one that contradicts people is given no weight.
    correlation = max(0.0, powered.correlation or 0.0)
    return queries_needed(half, deviation, correlation, powered.others, powered.level), alone


def _notes(both: int, rest: int, lacking: int, missing: int) -> tuple[str, ...]:
    notes = []
    if missing:
        notes.append(
            f"people did not label {amount(missing, 'pair')} that the "
            "machine labelled of their queries: the mean is that of a "
            "metric by such labels, and right only where the same part of each query was labelled"
        )
    if lacking:
        notes.append(
            f"{lacking:,} of the queries that people labelled {agree(lacking, 'has', 'have')} "
            f"no label of the machine and {agree(lacking, 'is', 'are')} left out"
        )
    if not rest:
        notes.append("the machine labelled no other query, so the estimate is that of people alone")
    if both < FEW:
        notes.append(
            f"people labelled {amount(both, 'query', 'queries')}; below {FEW} an interval may cover less than it says"
        )
    return tuple(notes)


def _notes_of(powered: Powered | Stratified, needed: tuple[int, int] | None, queries: int) -> list[str]:
    notes = [REASONS[powered.reason]] if powered.reason else []
    if isinstance(powered, Stratified) and powered.merged:
        notes.append(
            f"{amount(powered.merged, 'stratum', 'strata')} had fewer than "
            "two queries that people labelled, and went to a neighbour"
        )
    if needed is not None and needed[0] > queries:
        notes.append(f"the machine labelled {amount(queries, 'query', 'queries')}, fewer than it takes: draw more")
    return notes
