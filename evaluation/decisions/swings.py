"""How far a few judgments of each query could move the difference between two runs.

For a metric that is a sum divided by an ideal, both runs share the ideal of the query. With a given number of grades
to assign, the highest therefore go to the documents that the one run ranks furthest above the other, and
`evaluation.metrics.steps` computes the rest exactly. For all other metrics, `evaluation.decisions.trials` tries
documents: its result may not be the maximum, and `Swings.upper` gives an upper bound.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluation.decisions.candidates import Candidates
from evaluation.decisions.task import Graded, Swings, Task, from_one
from evaluation.decisions.trials import of_one, of_tried
from evaluation.metrics.bounds import allowed, relevant_grades
from evaluation.metrics.declaration import BoundMetric
from evaluation.metrics.hypothetical import chosen
from evaluation.metrics.judged_rankings import Floats, Integers
from evaluation.metrics.response import Additive, Response
from evaluation.metrics.steps import at_the_top, largest, steps

# Up to so many judgments of a query each number is looked at, then every fourth.
EACH_OF_FIRST = 24


def swings(metric: BoundMetric, found: Candidates, leading: int, grades: Floats, counted: Integers) -> Swings:
    """Compute them.

    Parameters
    ----------
    metric : BoundMetric
        Which metric; one that declares its response.
    found : Candidates
        The unjudged documents.
    leading : {0, 1}
        Which of the two runs is ahead.
    grades : float64 array
        The grades above 0 that a document can get, ascending.
    counted : int64 array
        The queries that enter the mean.
    """
    response = metric.response or Response("promoted")
    useful = counted[found.counts[counted] > 0]
    task = Task(metric, found, leading, _kinds(metric, response, allowed(metric, grades)), useful)
    if response.additive is not None:
        moves = _of_sums(task, response.additive)
    elif response.shape == "first":
        moves = of_one(task)
    else:
        moves = of_tried(task)
    return moves if found.whole else replace(moves, upper=from_one(moves.reached, task.among_all(task.limit())))


def _kinds(metric: BoundMetric, response: Response, grades: Floats) -> Floats:
    """Grades that make a difference: for metrics of relevant documents the lowest relevant one stands for all."""
    of_relevant = response.additive is None and "rel" in metric.parameters
    return relevant_grades(metric, grades) if of_relevant else grades


def _of_sums(task: Task, additive: Additive) -> Swings:
    order, added = _columns(task, additive)
    numbers = np.broadcast_to(np.arange(added.shape[1]), added.shape)
    rankings = chosen(task.found.rankings[0], task.queries)
    stair, start = steps(task.metric, additive, rankings, numbers, task.grades), _start(task, additive)
    rows, last = np.arange(len(task.queries)), added.shape[1] - 1
    looked = np.unique([*range(min(last, EACH_OF_FIRST) + 1), *range(EACH_OF_FIRST, last, 4), last])
    if len(stair.rises) < 2:
        best = above = np.maximum.accumulate(at_the_top(start, added, stair), axis=1)
    else:
        found = [largest(start, added[:, : number + 1], stair.part(rows, number + 1))[0] for number in looked]
        # More judgments never reach less: a number that is not looked at lies between its neighbors.
        best = np.array(found)[np.searchsorted(looked, np.arange(last + 1), side="right") - 1].T
        above = np.array(found)[np.searchsorted(looked, np.arange(last + 1))].T

    def pick(query: int, number: int) -> Graded:
        row = np.searchsorted(task.queries, [query])
        _, columns = largest(start[row], added[row, : number + 1], stair.part(row, number + 1))
        first = int(task.found.offsets[query])
        # Each step is reached by the documents of its column; the highest step that a document is in is its grade.
        given = [
            (int(order[first + place]), float(grade))
            for column, grade in zip(columns[0], stair.grades, strict=True)
            for place in range(int(column))
        ]
        return list(dict(given).items())

    reached, upper = (np.maximum.accumulate(one - best[:, :1], axis=1) for one in (best, above))
    return Swings(task.among_all(reached), task.among_all(upper), pick)


def _columns(task: Task, additive: Additive) -> tuple[Integers, Floats]:
    """Order the candidates by how far they part the runs, and add up how far so many do, shape (queries, number)."""
    found, told = task.found, task.metric.arguments
    weights = np.zeros(found.ranks.shape)
    for own, ranks in zip(weights, found.ranks, strict=True):
        own[ranks > 0] = additive.weight(ranks[ranks > 0], task.metric.cutoff, **told)
    apart = weights[1 - task.leading] - weights[task.leading]
    order = np.lexsort((-apart, found.query))
    most = int(task.counts.max(initial=0))
    filled = np.arange(most) < task.counts[:, np.newaxis]
    each = np.full(filled.shape, -np.inf)
    each[filled] = apart[order[(found.offsets[task.queries][:, np.newaxis] + np.arange(most))[filled]]]
    return order, np.concatenate((np.zeros((len(each), 1)), np.cumsum(each, axis=1)), axis=1)


def _start(task: Task, additive: Additive) -> Floats:
    """The sum of each query as it is, trailing less leading run."""
    values = []
    for run in (1 - task.leading, task.leading):
        of = chosen(task.found.rankings[run], task.queries)
        told = task.metric.arguments
        values.append(
            of.total(additive.gain(of.grades, **told) * additive.weight(of.ranks, task.metric.cutoff, **told))
        )
    found: Floats = values[0] - values[1]
    return found
