"""The fewest steps, taken from several rows of steps, whose sum exceeds a given value."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers

# Above this many additions, the exact search is skipped.
MOST_WORK = 200_000_000
MOST_CELLS = 50_000_000
SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Fewest:
    """A choice of steps."""

    taken: Integers
    at_least: int

    @property
    def total(self) -> int:
        """Return the number of steps taken."""
        return int(self.taken.sum())


def fewest(reached: Floats, need: float) -> Fewest | None:
    """Choose the fewest steps whose sum exceeds `need`.

    Examples
    --------
    >>> fewest(np.array([[0.0, 3.0, 4.0], [0.0, 2.0, 2.0]]), 4.5).taken.tolist()
    [1, 1]
    >>> fewest(np.array([[0.0, 0.0, 5.0], [0.0, 2.0, 2.0]]), 4.5).taken.tolist()
    [2, 0]
    """
    if float(reached[:, -1].sum()) <= need:
        return None
    lengths, rises, places = _hulls(reached)
    order = np.argsort(-(rises / lengths), kind="stable")
    sums = np.cumsum(rises[order])
    last = int(np.searchsorted(sums, need, side="right"))
    taken = np.bincount(places[order[: last + 1]], lengths[order[: last + 1]], len(reached)).astype(np.int64)
    before = float(sums[last - 1]) if last else 0.0
    share = (need - before) / float(rises[order[last]]) * float(lengths[order[last]])
    least = int(lengths[order[:last]].sum()) + max(1, int(np.ceil(share - SLACK)))
    lighter = _lighter(reached, taken, need)
    # If sums equal the required value up to rounding, the bound may be one too high.
    bounds = Fewest(lighter, min(least, int(lighter.sum())))
    return bounds if bounds.total == bounds.at_least else _by_trying(reached, need, bounds)


def _hulls(reached: Floats) -> tuple[Integers, Floats, Integers]:
    """Return the segments of each row's concave hull: their lengths, rises and rows, in order."""
    lengths: list[int] = []
    rises: list[float] = []
    places: list[int] = []
    useful = np.flatnonzero(reached[:, -1] > 0)
    for place, row in zip(useful.tolist(), reached[useful].tolist(), strict=True):
        corners = [0]
        for step in range(1, len(row)):
            if row[step] <= row[corners[-1]]:
                continue
            while len(corners) > 1 and _rise(row, corners[-2], corners[-1]) < _rise(row, corners[-2], step) - SLACK:
                corners.pop()
            corners.append(step)
        for begin, end in pairwise(corners):
            lengths.append(end - begin)
            rises.append(row[end] - row[begin])
            places.append(place)
    return np.array(lengths, dtype=np.int64), np.array(rises), np.array(places, dtype=np.int64)


def _rise(row: list[float], begin: int, end: int) -> float:
    return (row[end] - row[begin]) / (end - begin)


def _lighter(reached: Floats, taken: Integers, need: float) -> Integers:
    """Remove steps while the sum stays above the required value, smallest first."""
    taken = taken.copy()
    spare = float(np.take_along_axis(reached, taken[:, np.newaxis], axis=1).sum()) - need
    while True:
        open_places = np.flatnonzero(taken)
        last = reached[open_places, taken[open_places]] - reached[open_places, taken[open_places] - 1]
        if not len(last) or last.min() >= spare:
            return taken
        spare -= float(last.min())
        taken[open_places[int(last.argmin())]] -= 1


def _by_trying(reached: Floats, need: float, bounds: Fewest) -> Fewest:
    """Return the largest sum for each smaller number of steps, by dynamic programming over the rows."""
    useful = np.flatnonzero(reached[:, -1] > 0)
    width, steps = bounds.total, min(reached.shape[1] - 1, bounds.total)
    if len(useful) * steps * width > MOST_WORK or len(useful) * width > MOST_CELLS:
        return bounds
    best = np.zeros(width)
    choice = np.zeros((len(useful), width), dtype=np.int32)
    for at, row in enumerate(reached[useful]):
        before = best.copy()
        for step in range(1, min(steps, width - 1) + 1):
            tried = before[: width - step] + row[step]
            better = tried > best[step:]
            best[step:][better] = tried[better]
            choice[at, step:][better] = step
    enough = np.flatnonzero(best > need)
    if not len(enough):
        return Fewest(bounds.taken, bounds.total)
    left, taken = int(enough[0]), np.zeros(len(reached), dtype=np.int64)
    total = left
    for at in reversed(range(len(useful))):
        taken[useful[at]] = choice[at, left]
        left -= int(choice[at, left])
    return Fewest(taken, total)
