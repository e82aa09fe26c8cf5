"""How far a few judgments of a query could move a difference without a closed formula.

For a metric that is the best value over single documents, each document is checked. For the others, every way to
grade is tried if the queries have few unjudged documents; otherwise documents are added one by one, the best first,
and many at once in the order in which they separate the runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.decisions.judging_task import Candidates, Graded, Swings, Task, from_one
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings
from assay.metrics.metric import BoundMetric
from assay.metrics.metric_bounds import (
    Additive,
    Grading,
    Response,
    allowed,
    at_the_top,
    chosen,
    graded,
    largest,
    relevant_grades,
    steps,
)

# Up to this many judgments of a query every number is tried, then every fourth.
EACH_OF_FIRST = 24


# For a metric that is a sum divided by an ideal, both runs share the ideal of the query. The highest of a given number
# of grades therefore go to the documents that one run ranks furthest above the other, and `assay.metrics.metric_bounds`
# computes the rest exactly. For all other metrics, `best_trial` tries documents: its result may not
# be the maximum, and `Swings.upper` gives an upper bound.
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


# Maximum number of judged documents in all tried ways to grade, in total and at once; each way is a separate ranking.
MOST_ROWS, AT_ONCE = 16_000_000, 1_000_000
# Number of judgments of a query that are chosen individually.
DEEPEST = 6


def of_one(task: Task) -> Swings:
    """Return the swings of a metric that is the best value over single documents: one judgment has the full effect."""
    candidates, grades, places = _each(task, np.arange(len(task.pool.query)))
    ways, values = np.arange(len(candidates)), []
    for run in (1 - task.leading, task.leading):
        ranks = task.pool.ranks[run][candidates]
        alone = task.metric(graded(_without_judgments(ranks), Grading(ways, ranks, grades)))
        now = task.metric(chosen(task.pool.rankings[run], task.queries))
        values.append(np.maximum(alone, now[places]))
    best = _best_of(places, values[0] - values[1], len(task.queries))
    added = np.maximum((values[0] - values[1])[best] - task.now, 0.0) if len(best) else np.zeros(len(task.queries))
    reached = task.among_all(np.column_stack((np.zeros(len(added)), added)))

    def pick(query: int, number: int) -> Graded:
        place = int(np.searchsorted(task.queries, query))
        return [(int(candidates[best[place]]), float(grades[best[place]]))] if number else []

    return Swings(reached, reached, pick)


def _without_judgments(ranks: Integers) -> JudgedRankings:
    nothing, begins = np.zeros(0), np.zeros(len(ranks) + 1, dtype=np.int64)
    return JudgedRankings(ranks, begins, nothing.astype(np.int64), nothing, nothing, begins)


def _each(task: Task, candidates: Integers) -> tuple[Integers, Floats, Integers]:
    """Return each candidate of the queries with each grade: candidates, grades, and the places of their queries."""
    own = candidates[np.isin(task.pool.query[candidates], task.queries)]
    each, grades = np.repeat(own, len(task.grades)), np.tile(task.grades, len(own))
    return each, grades, np.searchsorted(task.queries, task.pool.query[each])


def _best_of(places: Integers, values: Floats, queries: int) -> Integers:
    """Return the row of the largest value of each query; rows are sorted by query, and the first row wins ties."""
    order = np.lexsort((-values, places))
    return order[np.searchsorted(places, np.arange(queries))] if len(order) else order


def of_tried(task: Task) -> Swings:
    few = bool((task.counts <= 16).all()) and len(task.grades) > 0
    if few and float(((len(task.grades) + 1.0) ** task.counts * task.rows).sum()) <= MOST_ROWS:
        return _of_every_way(task)
    return _of_some_ways(task)


def _of_every_way(task: Task) -> Swings:
    most = int(task.counts.max(initial=0))
    reached = np.zeros((len(task.queries), most + 1))
    picked: dict[tuple[int, int], Graded] = {}
    kinds = np.concatenate(([0.0], task.grades))
    for place, query in enumerate(task.queries.tolist()):
        count, first = int(task.counts[place]), int(task.pool.offsets[query])
        ways = kinds[np.indices((len(kinds),) * count).reshape(count, -1).T]
        way, candidate = np.nonzero(ways)
        values = task.difference(np.full(len(ways), place), way, first + candidate, ways[way, candidate])
        numbers = np.count_nonzero(ways, axis=1)
        for number in range(1, count + 1):
            of = np.flatnonzero(numbers <= number)
            best = int(of[values[of].argmax()])
            reached[place, number:] = max(values[best] - task.now[place], 0.0)
            there = np.flatnonzero(ways[best])
            picked[query, number] = [(first + int(at), float(ways[best, at])) for at in there]
    rows = task.among_all(reached)
    return Swings(rows, rows, lambda query, number: picked[query, min(number, int(task.pool.counts[query]))])


def _of_some_ways(task: Task) -> Swings:
    limit, most = task.limit(), int(task.counts.max(initial=0)) if len(task.grades) else 0
    order = _by_rank(task)
    ways, tried_all = _one_by_one(task, order)
    ways += _many_at_once(task, order, most)
    numbers = np.array([0, *(one.number for one in ways)])
    values = np.array([np.zeros(len(task.queries)), *(one.added for one in ways)])
    reached = np.zeros((len(task.queries), most + 1))
    source = np.zeros((len(task.queries), most + 1), dtype=np.int64)
    for at in np.argsort(numbers, kind="stable").tolist():
        number = int(numbers[at])
        better = values[at] > reached[:, number] + 1e-12
        reached[better, number:] = values[at][better, np.newaxis]
        source[better, number:] = at
    upper = from_one(reached, limit)
    if tried_all and most:
        upper[:, 1] = reached[:, 1]

    def pick(query: int, number: int) -> Graded:
        place = int(np.searchsorted(task.queries, query))
        at = int(source[place, number])
        return ways[at - 1].graded(place) if at else []

    return Swings(task.among_all(reached), task.among_all(upper), pick)


@dataclass(frozen=True, eq=False)
class _Way:
    """A way to grade a number of documents of every query: their candidates, -1 for none, shape (number, queries)."""

    candidates: Integers
    grades: Floats
    added: Floats

    @property
    def number(self) -> int:
        return len(self.candidates)

    def graded(self, place: int) -> Graded:
        given = zip(self.candidates[:, place].tolist(), self.grades[:, place].tolist(), strict=True)
        return [(candidate, grade) for candidate, grade in given if candidate >= 0]


def _by_rank(task: Task) -> Integers:
    """Return the candidates by query, first those that the trailing run ranks furthest above the leading run."""
    parts = [np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0) for ranks in task.pool.ranks]
    return np.lexsort((parts[task.leading] - parts[1 - task.leading], task.pool.query))


def _one_by_one(task: Task, order: Integers) -> tuple[list[_Way], bool]:
    """In each round, try candidates with every grade in addition to those chosen; return whether all candidates were
    tried."""
    place_in_query = np.arange(len(order)) - task.pool.offsets[task.pool.query[order]]
    cost = task.rows * len(task.grades) * DEEPEST
    most = int(task.counts.max(initial=0))
    while most > 1 and int((np.minimum(task.counts, most) * cost).sum()) > MOST_ROWS:
        most //= 2
    candidates, grades, places = _each(task, np.sort(order[place_in_query < most]))
    if not len(candidates):
        return [], True
    ways: list[_Way] = []
    so_far = _Way(np.zeros((0, len(task.queries)), dtype=np.int64), np.zeros((0, len(task.queries))), task.now * 0.0)
    for _ in range(min(DEEPEST, most)):
        values = _beside(task, so_far, places, candidates, grades)
        best = _best_of(places, values, len(task.queries))
        added = values[best] - task.now
        better = added > so_far.added + 1e-12
        if not better.any():
            break
        so_far = _Way(
            np.vstack((so_far.candidates, np.where(better, candidates[best], -1))),
            np.vstack((so_far.grades, grades[best])),
            np.where(better, added, so_far.added),
        )
        ways.append(so_far)
    return ways, most >= int(task.counts.max(initial=0))


def _beside(task: Task, so_far: _Way, places: Integers, candidates: Integers, grades: Floats) -> Floats:
    """Return the difference with each candidate graded in addition to those so far; minus infinity for chosen
    candidates."""
    values = np.full(len(places), -np.inf)
    pieces = np.cumsum(task.rows[places]) // AT_ONCE
    for rows in np.split(np.arange(len(places)), np.flatnonzero(np.diff(pieces)) + 1):
        there = so_far.candidates[:, places[rows]]
        rounds, way = np.nonzero(there >= 0)
        values[rows] = task.difference(
            places[rows],
            np.concatenate((np.arange(len(rows)), way)),
            np.concatenate((candidates[rows], there[rounds, way])),
            np.concatenate((grades[rows], so_far.grades[:, places[rows]][rounds, way])),
        )
    values[(so_far.candidates[:, places] == candidates).any(axis=0)] = -np.inf
    return values


def _many_at_once(task: Task, order: Integers, most: int) -> list[_Way]:
    """Try the first 2, 3, 4, 6, 8, ... candidates of each query, all with the lowest or all with the top grade."""
    numbers = sorted({min(most, size) for power in range(1, 32) for size in (2**power, 3 * 2 ** (power - 1))})
    column = np.full((most, len(task.queries)), -1, dtype=np.int64)
    for at in range(most):
        there = np.flatnonzero(task.counts > at)
        column[at, there] = order[task.pool.offsets[task.queries[there]] + at]
    ways = []
    for number in numbers if most else []:
        for grade in {float(task.grades[0]), float(task.grades[-1])}:
            candidates, grades = column[:number], np.full((number, len(task.queries)), grade)
            rows, way = np.nonzero(candidates >= 0)
            values = task.difference(np.arange(len(task.queries)), way, candidates[rows, way], grades[rows, way])
            ways.append(_Way(candidates, grades, values - task.now))
    return ways
