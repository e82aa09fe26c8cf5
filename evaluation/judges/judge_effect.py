"""Effect of a judge's labels on the metrics and on the ranking of the systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotValid
from evaluation.effects.round_runs import METRIC, answering_tables, metric_named, runs_of, state_key
from judgments.jobs.single_flight import compute_once
from judgments.labels import grade_visibility
from judgments.labels.round_labels import Key
from judgments.machines.calibration import calibration
from judgments.models import Judge, Round
from pooling.models import Run

if TYPE_CHECKING:
    from assay.estimators.judge_bias import Biases

DAY = 24 * 3600
FORM = 3


@dataclass(frozen=True)
class Effect:
    """Metrics under human labels and under the judge's labels, on the queries that both labeled."""

    metric: str
    biases: Biases | None
    why: str = ""

    @property
    def tau(self) -> float | None:
        """Return Kendall's tau of the two rankings of the runs."""
        return None if self.biases is None else self.biases.tau.get(self.metric)


def effect(judge: Judge, round_: Round, viewer: Any, *, metric: str = METRIC) -> Effect:
    """Score the collection's runs by human labels and by the judge's labels."""
    bound = metric_named(metric, round_)
    hidden = grade_visibility.hidden_keys_of_round(viewer, round_)
    people = calibration.labels_of(round_)
    machine = calibration.grades_of(judge, round_, among=people)
    both = (people.keys() & machine.keys()) - hidden
    if not both:
        return Effect(bound.name, None, "no pair has both a human grade and a grade by this judge")
    try:
        runs = runs_of(round_)
    except NotValid as error:
        return Effect(bound.name, None, str(error))
    sides = [{key: grade for key, grade in side.items() if key in both} for side in (people, machine)]
    # The cache key contains the grades, because human grades may come from other rounds and hidden pairs depend on the
    # reader.
    stands_on = [sorted(side.items()) for side in sides]
    key = f"judge:{FORM}:{state_key(round_, runs, str(judge.uuid), stands_on, bound.name)}"
    return compute_once(key, lambda: _computed(runs, *sides, bound.name), keep=DAY)


def _computed(runs: Sequence[Run], people: dict[Key, float], machine: dict[Key, float], metric: str) -> Effect:
    from assay.core.qrels import Qrels
    from assay.estimators.judge_bias import metric_bias

    answering = answering_tables(runs, {query_id for query_id, _ in people})
    if not answering:
        return Effect(metric, None, "no run has results for a query that both people and the judge graded")
    sides = [Qrels.from_rows((*key, grade) for key, grade in side.items()) for side in (people, machine)]
    return Effect(metric, metric_bias(sides[0], sides[1], answering, [metric]))
