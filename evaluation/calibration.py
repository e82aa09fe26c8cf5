"""Effect of a judge's labels on the metrics and on the ranking of the systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.round_runs import METRIC, metric_named, runs_of, state_key
from judgments import judged, untold
from judgments.computed import once
from judgments.core.errors import NotValid
from judgments.models import Judge, Round
from judgments.round_labels import Key
from pooling import runs as pooled
from pooling.models import Run

if TYPE_CHECKING:
    from evaluation.estimators.bias import Biases

DAY = 24 * 3600
FORM = 2


@dataclass(frozen=True)
class Effect:
    """Metrics under people's labels and under the judge's, on the queries that both labelled.

    Parameters
    ----------
    metric : str
        Which.
    found : Biases or None
        By run; None where `why` says why not.
    why : str
        Why there is none.
    """

    metric: str
    found: Biases | None
    why: str = ""

    @property
    def tau(self) -> float | None:
        """Kendall's tau of the two orders of the runs."""
        return None if self.found is None else self.found.tau.get(self.metric)


def effect(judge: Judge, round_: Round, viewer: Any, *, metric: str = METRIC) -> Effect:
    """Score the collection's runs by people's labels and by the judge's.

    Only pairs that both graded make labels on either side, so that what differs is the grades and not how many there
    are.

    Raises
    ------
    NotValid
        There is no such metric.
    """
    bound = metric_named(metric, round_)
    hidden = set(untold.untold_pairs(viewer, round_).values_list("query__query_id", "document__doc_id"))
    people = judged.labels_of(round_)
    machine = judged.grades_of(judge, round_, among=people)
    both = (people.keys() & machine.keys()) - hidden
    if not both:
        return Effect(bound.name, None, "no pair was graded by people and by this judge")
    try:
        runs = runs_of(round_)
    except NotValid as error:
        return Effect(bound.name, None, str(error))
    sides = _only(people, both), _only(machine, both)
    # By the grades themselves: people's may come from other rounds, and each reader has pairs of their own left out.
    stands_on = [sorted(side.items()) for side in sides]
    key = f"judge:{FORM}:{state_key(round_, runs, str(judge.uuid), stands_on, bound.name)}"
    return once(key, lambda: _computed(runs, *sides, bound.name), keep=DAY)


def _computed(runs: Sequence[Run], people: dict[Key, float], machine: dict[Key, float], metric: str) -> Effect:
    from evaluation.estimators.bias import metric_bias
    from judgments.core.qrels import Qrels

    asked = {query_id for query_id, _ in people}
    tables = [pooled.ranked(run) for run in runs]
    answering = [table for table in tables if not asked.isdisjoint(table.query_ids)]
    if not answering:
        return Effect(metric, None, "no run answers a query that both graded")
    sides = [Qrels.from_dict(_nested(side)) for side in (people, machine)]
    return Effect(metric, metric_bias(sides[0], sides[1], answering, [metric]))


def _only(grades: dict[Key, float], keys: set[Key]) -> dict[Key, float]:
    return {key: grade for key, grade in grades.items() if key in keys}


def _nested(grades: dict[Key, float]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for (query_id, doc_id), grade in grades.items():
        found.setdefault(query_id, {})[doc_id] = grade
    return found
