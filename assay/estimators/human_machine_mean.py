"""Estimates of each run's mean from human and machine labels together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_rules import agree, amount
from assay.estimators.prediction_powered import FEW, LEVEL, REASONS, Floats, Powered, powered_mean, queries_needed
from assay.estimators.stratified_mean import Stratified, stratified_mean
from assay.scoring.evaluate import Metrics, evaluate

Method = Literal["ppi", "stratified"]
METHODS: tuple[Method, ...] = ("ppi", "stratified")
# Below this share of the machine's pairs people labeled single pairs, not queries.
WHOLE = 0.5
# Significance level below which the human queries are not considered a random sample.
UNLIKE = 0.001
UNLIKE_NOTE = "are unlike the others"
Labels = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class HumanMachineMean:
    """The estimate for a run and metric."""

    run: str
    metric: str
    powered: Powered | Stratified
    machine_only: float
    half: float | None = None
    needed: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, with numbers unrounded."""
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
) -> list[HumanMachineMean]:
    """Estimate the mean of every run and metric over all queries that the machine labeled."""
    if method not in METHODS:
        raise NotValid(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    ours, theirs = people.to_dict(), machine.to_dict()
    both = sorted(ours.keys() & theirs.keys(), key=str.encode)
    if not both:
        raise NotValid("no query has both human and machine labels; the estimate needs such queries for its correction")
    missing, pairs = _missing(ours, theirs, both)
    if missing > (1 - WHOLE) * pairs and not partly:
        raise NotValid(
            f"people labeled {pairs - missing:,} of the {amount(pairs, 'pair')} that the machine labeled for the "
            "same queries, but a metric needs labels for the whole query. Have people label whole queries that "
            "are drawn at random"
        )
    rest = sorted(theirs.keys() - ours.keys(), key=str.encode)
    # People may have labeled few queries, so only the machine labels can show that ids do not match.
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
            results.append(
                HumanMachineMean(mine.name, name, shown, float(np.nanmean(values)), half, needed, notes_of_run)
            )
    return results


def _one(method: Method, human: Floats, machine: Floats, elsewhere: Floats, level: float) -> Powered | Stratified:
    if method == "stratified":
        return stratified_mean(human, machine, elsewhere, level=level)
    return powered_mean(human, machine, elsewhere, level=level)


def _unlike(sampled: Floats, others: Floats) -> tuple[str, ...]:
    """Return a note if the machine labels show that the human queries are not a random sample (Kolmogorov-Smirnov
    test)."""
    if not len(others) or not (np.isfinite(sampled).all() and np.isfinite(others).all()):
        return ()
    if chance_alike(sampled, others) >= UNLIKE:
        return ()
    return (
        (
            f"according to the machine labels, the queries that people labeled (mean {sampled.mean():.3f}) "
            f"{UNLIKE_NOTE} ({others.mean():.3f}), which is rare for a random sample (p < {UNLIKE:g}); the interval "
            "is wrong if the sample is not random"
        ),
    )


def chance_alike(a: Floats, b: Floats) -> float:
    """Return the two-sided p-value of the two-sample Kolmogorov-Smirnov test."""
    from scipy.special import kolmogorov

    a, b = np.sort(a), np.sort(b)
    both = np.concatenate([a, b])
    apart = np.abs(np.searchsorted(a, both, "right") / len(a) - np.searchsorted(b, both, "right") / len(b)).max()
    root = np.sqrt(len(a) * len(b) / (len(a) + len(b)))
    return float(kolmogorov((root + 0.12 + 0.11 / root) * apart))


def _missing(ours: Labels, theirs: Labels, both: Sequence[str]) -> tuple[int, int]:
    """Return how many of the machine's pairs on common queries people did not label, and the number of these pairs."""
    pairs = sum(len(theirs[query]) for query in both)
    return pairs - sum(len(theirs[query].keys() & ours[query].keys()) for query in both), pairs


def _needed(powered: Powered | Stratified, human: Floats, half: float) -> tuple[int, int] | None:
    if len(human) < 3:
        return None
    deviation = float(human.std(ddof=1))
    alone = queries_needed(half, deviation, level=powered.level)
    # A useless machine saves nothing, and a machine that contradicts people has weight 0.
    correlation = max(0.0, powered.correlation or 0.0)
    return queries_needed(half, deviation, correlation, powered.others, powered.level), alone


def _notes(both: int, rest: int, lacking: int, missing: int) -> tuple[str, ...]:
    notes = []
    if missing:
        notes.append(
            f"people did not label {amount(missing, 'pair')} that the machine labeled for the same queries: the "
            "mean is correct only if people labeled the same part of each query"
        )
    if lacking:
        notes.append(
            f"{lacking:,} of the queries that people labeled {agree(lacking, 'has', 'have')} no machine label and "
            f"{agree(lacking, 'is', 'are')} left out"
        )
    if not rest:
        notes.append("the machine labeled no other query, so the estimate uses only the human labels")
    if both < FEW:
        notes.append(
            f"people labeled {amount(both, 'query', 'queries')}; below {FEW}, the true coverage of an interval "
            "may be lower than its level"
        )
    return tuple(notes)


def _notes_of(powered: Powered | Stratified, needed: tuple[int, int] | None, queries: int) -> list[str]:
    notes = [REASONS[powered.reason]] if powered.reason else []
    if isinstance(powered, Stratified) and powered.merged:
        notes.append(
            f"{amount(powered.merged, 'stratum', 'strata')} had fewer than two queries that people labeled and "
            f"{agree(powered.merged, 'was', 'were')} merged with a neighbor"
        )
    if needed is not None and needed[0] > queries:
        notes.append(
            f"the machine labeled {amount(queries, 'query', 'queries')}, which is not enough; draw more queries"
        )
    return notes
