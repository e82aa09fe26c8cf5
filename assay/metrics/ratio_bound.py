"""Maximum of a sum divided by an ideal, over all grades of some documents.

The documents are sorted so that an optimal solution never gives a later document a higher grade. It remains to choose,
for each step of gain, how many of the first documents reach it. A step's part of the sum and divisor depends only on
its own count, so Dinkelbach's method (1967) finds the largest quotient: it repeatedly maximizes "sum minus quotient
times divisor", separately for each step. The resulting counts never increase from step to step, because the ideal grows
less for each additional document that reaches a step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.metrics.grade_response import Additive
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings
from assay.metrics.metric import BoundMetric

MOST_PASSES = 64


@dataclass(frozen=True, eq=False)
class Steps:
    """The gains of grades, as steps."""

    rises: Floats
    grades: Floats
    divisor: Floats
    ideals: tuple[Floats, ...]

    @property
    def height(self) -> float:
        """Return the gain of the top step."""
        return float(self.rises.sum())

    def part(self, rows: Integers, columns: int) -> Steps:
        """Return the steps for some of the queries and the first columns."""
        ideals = tuple(ideal[rows, :columns] for ideal in self.ideals)
        return Steps(self.rises, self.grades, self.divisor[rows], ideals)


def steps(metric: BoundMetric, additive: Additive, rankings: JudgedRankings, counts: Integers, grades: Floats) -> Steps:
    """Compute the steps for some queries."""
    arguments = metric.arguments
    reach, first = _distinct(additive.gain(grades, **arguments))
    divisor = np.full(rankings.queries, additive.base(metric.cutoff, **arguments))
    ideals = [np.zeros(counts.shape) for _ in reach]
    if additive.ideal is not None:
        kinds, kind = rankings.judged_kinds
        gains = additive.gain(kinds, **arguments)
        levels, _ = _distinct(np.concatenate((gains, reach)))
        for level, rise in zip(levels, np.diff(levels, prepend=0.0), strict=True):
            there = np.bincount(rankings.judged_query[(gains >= level)[kind]], minlength=rankings.queries)
            step = int(np.searchsorted(reach, level))
            if step == len(reach):
                divisor += rise * additive.ideal(there, metric.cutoff, **arguments)
            else:
                ideals[step] += rise * additive.ideal(there[:, np.newaxis] + counts, metric.cutoff, **arguments)
    return Steps(np.diff(reach, prepend=0.0), grades[first], divisor, tuple(ideals))


def _distinct(gains: Floats) -> tuple[Floats, Integers]:
    """Return the distinct gains above 0 in ascending order, and the first position of each."""
    # Not np.unique: its first call imports numpy.ma, which takes as long as all of this.
    above = np.flatnonzero(gains > 0)
    order = above[np.argsort(gains[above], kind="stable")]
    ascending = gains[order]
    new = np.diff(ascending, prepend=0.0) > 0
    return ascending[new], order[new]


def at_the_top(start: Floats, added: Floats, stair: Steps) -> Floats:
    """Compute the quotient in each column if all its documents reach the top step, shape (queries, columns)."""
    whole = stair.divisor[:, np.newaxis] + sum(stair.ideals, np.zeros(added.shape))
    value = np.zeros(added.shape)
    there = np.isfinite(added)
    total = start[:, np.newaxis] + stair.height * np.where(there, added, 0.0)
    np.divide(total, whole, out=value, where=whole > 0)
    value[~there] = -np.inf
    return value


def largest(start: Floats, added: Floats, stair: Steps) -> tuple[Floats, Integers]:
    """Find the largest quotient."""
    value = at_the_top(start, added, stair)
    top = value.argmax(axis=1)
    best = np.take_along_axis(value, top[:, np.newaxis], axis=1)[:, 0]
    columns = np.repeat(top[:, np.newaxis], len(stair.rises), axis=1)
    rising = np.flatnonzero(best > 0) if len(stair.rises) > 1 else np.zeros(0, dtype=np.int64)
    for _ in range(MOST_PASSES):
        if not len(rising):
            break
        columns_now, quotient = _pass(start[rising], added[rising], stair, rising, best[rising])
        better = quotient > best[rising] * (1 + 1e-14)
        rising = rising[better]
        best[rising], columns[rising] = quotient[better], columns_now[better]
    return best, columns


def _pass(start: Floats, added: Floats, stair: Steps, rows: Integers, quotient: Floats) -> tuple[Integers, Floats]:
    """Choose the column of each step that maximizes its sum minus the quotient times its part of the divisor."""
    columns, total, whole = [], start.copy(), stair.divisor[rows].copy()
    for rise, ideal in zip(stair.rises, stair.ideals, strict=True):
        of_step = ideal[rows]
        column = (rise * added - quotient[:, np.newaxis] * of_step).argmax(axis=1)[:, np.newaxis]
        columns.append(column)
        total += rise * np.take_along_axis(added, column, axis=1)[:, 0]
        whole += np.take_along_axis(of_step, column, axis=1)[:, 0]
    return np.concatenate(columns, axis=1), np.divide(total, whole, out=np.zeros(len(total)), where=whole > 0)
