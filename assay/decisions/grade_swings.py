"""How far a few judgments of each query could move the difference between two runs.

For a metric that is a sum divided by an ideal, both runs share the ideal of the query. The highest of a given number of
grades therefore go to the documents that one run ranks furthest above the other, and `assay.metrics.metric_bounds`
computes the rest exactly. For all other metrics, `assay.decisions.trial_grades` tries documents: its result may not be
the maximum, and `Swings.upper` gives an upper bound.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.decisions.judging_task import Candidates, Graded, Swings, Task, from_one
from assay.decisions.trial_grades import of_one, of_tried
from assay.metrics.grade_response import Additive, Response
from assay.metrics.judged_rankings import Floats, Integers
from assay.metrics.metric import BoundMetric
from assay.metrics.metric_bounds import allowed, at_the_top, chosen, largest, relevant_grades, steps

# Up to this many judgments of a query every number is tried, then every fourth.
EACH_OF_FIRST = 24


def swings(metric: BoundMetric, pool: Candidates, leading: int, grades: Floats, counted: Integers) -> Swings:
    """Compute the swings."""
    response = metric.response or Response("promoted")
    useful = counted[pool.counts[counted] > 0]
    task = Task(metric, pool, leading, _kinds(metric, response, allowed(metric, grades)), useful)
    if response.additive is not None:
        moves = _of_sums(task, response.additive)
    elif response.shape == "first":
        moves = of_one(task)
    else:
        moves = of_tried(task)
    return moves if pool.whole else replace(moves, upper=from_one(moves.reached, task.among_all(task.limit())))


def _kinds(metric: BoundMetric, response: Response, grades: Floats) -> Floats:
    """Return the grades that matter; for metrics of relevant documents, the lowest relevant grade represents all."""
    of_relevant = response.additive is None and "rel" in metric.parameters
    return relevant_grades(metric, grades) if of_relevant else grades


def _of_sums(task: Task, additive: Additive) -> Swings:
    order, added = _columns(task, additive)
    numbers = np.broadcast_to(np.arange(added.shape[1]), added.shape)
    rankings = chosen(task.pool.rankings[0], task.queries)
    stair, start = steps(task.metric, additive, rankings, numbers, task.grades), _start(task, additive)
    rows, last = np.arange(len(task.queries)), added.shape[1] - 1
    looked = np.unique([*range(min(last, EACH_OF_FIRST) + 1), *range(EACH_OF_FIRST, last, 4), last])
    if len(stair.rises) < 2:
        best = above = np.maximum.accumulate(at_the_top(start, added, stair), axis=1)
    else:
        sums = [largest(start, added[:, : number + 1], stair.part(rows, number + 1))[0] for number in looked]
        # More judgments never have less effect: a number that is not tried is between its neighbors.
        best = np.array(sums)[np.searchsorted(looked, np.arange(last + 1), side="right") - 1].T
        above = np.array(sums)[np.searchsorted(looked, np.arange(last + 1))].T

    def pick(query: int, number: int) -> Graded:
        row = np.searchsorted(task.queries, [query])
        _, columns = largest(start[row], added[row, : number + 1], stair.part(row, number + 1))
        first = int(task.pool.offsets[query])
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
    """Sort the candidates by how far they separate the runs, and return the cumulative effect, shape (queries,
    number)."""
    pool, arguments = task.pool, task.metric.arguments
    weights = np.zeros(pool.ranks.shape)
    for own, ranks in zip(weights, pool.ranks, strict=True):
        own[ranks > 0] = additive.weight(ranks[ranks > 0], task.metric.cutoff, **arguments)
    apart = weights[1 - task.leading] - weights[task.leading]
    order = np.lexsort((-apart, pool.query))
    most = int(task.counts.max(initial=0))
    filled = np.arange(most) < task.counts[:, np.newaxis]
    each = np.full(filled.shape, -np.inf)
    each[filled] = apart[order[(pool.offsets[task.queries][:, np.newaxis] + np.arange(most))[filled]]]
    return order, np.concatenate((np.zeros((len(each), 1)), np.cumsum(each, axis=1)), axis=1)


def _start(task: Task, additive: Additive) -> Floats:
    """Return the current sum of each query, trailing run minus leading run."""
    values = []
    for run in (1 - task.leading, task.leading):
        of = chosen(task.pool.rankings[run], task.queries)
        arguments = task.metric.arguments
        values.append(
            of.total(additive.gain(of.grades, **arguments) * additive.weight(of.ranks, task.metric.cutoff, **arguments))
        )
    difference: Floats = values[0] - values[1]
    return difference
