"""What do people's and a machine's labels together say about the mean of each run?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.estimators.prediction_powered import FEW, LEVEL, REASONS, Powered, powered_mean, queries_needed
from evaluation.metrics.evaluate import Metrics, evaluate
from judgments.core.errors import NotValid
from judgments.core.qrels import Qrels
from judgments.core.run import Run


@dataclass(frozen=True)
class Estimate:
    """One run under one metric.

    Parameters
    ----------
    run, metric : str
        Which.
    powered : Powered
        The estimate, with that of people alone.
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
    powered: Powered
    machine_only: float
    half: float | None = None
    needed: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain names, numbers unrounded."""
        needed = None if self.needed is None else {"with_machine": self.needed[0], "people_alone": self.needed[1]}
        return {
            "run": self.run,
            "metric": self.metric,
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
    level: float = LEVEL,
    half: float | None = None,
) -> list[Estimate]:
    """Estimate the mean of every run and metric over all queries that the machine labelled.

    Parameters
    ----------
    people : Qrels
        Labels of a random sample of the queries. Queries that the machine did not label are left out and told.
    machine : Qrels
        Labels of these and of other queries.
    runs : sequence of Run
        At least one.
    metrics : str or iterable of str
        As `evaluate` takes them.
    level : float
        Coverage of the intervals.
    half : float, optional
        Half of an interval that is wanted: how many queries it takes is told.

    Returns
    -------
    list of Estimate
        By run, then metric.

    Raises
    ------
    NotValid
        No query has labels of both.
    """
    ours, theirs = people.to_dict(), machine.to_dict()
    both = sorted(ours.keys() & theirs.keys(), key=str.encode)
    if not both:
        raise NotValid("no query has labels of both people and the machine; the estimate needs some to correct it by")
    rest = sorted(theirs.keys() - ours.keys(), key=str.encode)
    by_people = evaluate(Qrels.from_dict({query: ours[query] for query in both}), runs, metrics, ranges=False)
    by_machine = evaluate(
        Qrels.from_dict({query: theirs[query] for query in [*both, *rest]}), runs, metrics, ranges=False
    )
    places = {query_id: place for place, query_id in enumerate(by_machine.query_ids)}
    on_both = [places[query_id] for query_id in by_people.query_ids]
    on_rest = [places[query_id] for query_id in rest]
    notes = _notes(len(both), len(rest), len(ours) - len(both))
    found = []
    for mine, other in zip(by_people.runs, by_machine.runs, strict=True):
        for name in by_people.metrics:
            human, values = mine.per_query[name], other.per_query[name]
            powered = powered_mean(human, values[on_both], values[on_rest], level=level)
            needed = None if half is None else _needed(powered, human, half)
            told = (*notes, *([REASONS[powered.reason]] if powered.reason else []))
            found.append(Estimate(mine.name, name, powered, float(np.nanmean(values)), half, needed, told))
    return found


def _needed(powered: Powered, human: np.ndarray[Any, np.dtype[np.float64]], half: float) -> tuple[int, int] | None:
    if len(human) < 3:
        return None
    deviation = float(human.std(ddof=1))
    alone = queries_needed(half, deviation, level=powered.level)
    # A machine of no use saves nothing, and one that contradicts people is given no weight.
    correlation = max(0.0, powered.correlation or 0.0)
    return queries_needed(half, deviation, correlation, powered.others, powered.level), alone


def _notes(both: int, rest: int, lacking: int) -> tuple[str, ...]:
    notes = []
    if lacking:
        notes.append(f"{lacking:,} queries that people labelled have no label of the machine and are left out")
    if not rest:
        notes.append("the machine labelled no other query, so the estimate is that of people alone")
    if both < FEW:
        notes.append(f"people labelled {both:,} queries; below {FEW} an interval may cover less than it says")
    return tuple(notes)
