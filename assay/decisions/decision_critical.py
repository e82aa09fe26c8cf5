"""Decision-critical pairs: the fewest judgments that could reverse a comparison of two runs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_rules import amount
from assay.decisions.judging_task import Candidates, Swings, candidates
from assay.decisions.trial_grades import swings
from assay.metrics.judged_rankings import Floats, Integers
from assay.metrics.metric import TIE, BoundMetric
from assay.metrics.metric_bounds import Grading, graded, scale_grades
from assay.scoring.evaluate import bind

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


# Assumed seconds per judgment if there are no timed answers.
SECONDS = 20.0


@dataclass(frozen=True)
class TurningPair:
    """A pair whose grade could help reverse the decision."""

    query_id: str
    doc_id: str
    grade: float
    rank_a: int | None
    rank_b: int | None


@dataclass(frozen=True)
class Turning:
    """The judgments that could reverse the decision between two runs."""

    metric: str
    a: str
    b: str
    difference: float
    winner: str | None
    turns: bool | None
    pairs: tuple[TurningPair, ...]
    exact: bool
    at_least: int | None
    difference_after: float | None
    most: float
    unjudged: int
    queries: int
    reason: str | None = None

    def hours(self, seconds: float = SECONDS, ratings: int = 1) -> float:
        """Return the rater hours for the pairs, for the given seconds per judgment and judgments per pair."""
        return len(self.pairs) * seconds * ratings / 3600.0

    def sentence(self, seconds: float = SECONDS) -> str:
        """Return the number of pairs and their cost at this many seconds per judgment, in one line.

        Examples
        --------
        >>> a, b = Run.from_dict({"q": {"x": 1.0}}, "a"), Run.from_dict({"q": {"y": 1.0}}, "b")
        >>> turning(Qrels.from_dict({"q": {"x": 1}}), a, b, "P@1").sentence()
        'no judgments of the returned documents can reverse this result'
        >>> turning(Qrels.from_dict({"q": {"x": 1}}), a, b, "RR@1").turns
        False
        """
        if not self.pairs:
            return self.reason or ""
        number = amount(len(self.pairs), "unjudged pair")
        least = "" if self.exact else f" (at least {amount(self.at_least or 0, 'is', 'are')} needed)"
        return f"{number} could reverse this result{least}, about {self.hours(seconds):.1f} rater hours"

    def as_json(self, seconds: float = SECONDS) -> dict[str, Any]:
        """Return the fields as JSON values, with the rater hours for the given seconds per judgment."""
        values = {key: value for key, value in asdict(self).items() if key != "pairs"}
        pairs = [asdict(pair) for pair in self.pairs]
        cost = {"number": len(pairs), "hours": self.hours(seconds), "seconds": seconds}
        return values | cost | {"sentence": self.sentence(seconds), "pairs": pairs}


def turning(
    qrels: Qrels,
    a: Run,
    b: Run,
    metric: str | BoundMetric = "nDCG@10",
    *,
    missing: Literal["zero", "skip"] = "zero",
    scale_top: float | None = None,
) -> Turning:
    """Find the fewest unjudged pairs whose judgments could put the other run ahead.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"a": 1}})
    >>> old = Run.from_dict({"q1": {"a": 2.0, "x": 1.0}, "q2": {"y": 2.0, "z": 1.0}}, "old")
    >>> new = Run.from_dict({"q1": {"x": 2.0, "z": 1.0}, "q2": {"y": 2.0, "x": 1.0}}, "new")
    >>> found = turning(qrels, old, new, "P@2")
    >>> found.winner, [(pair.query_id, pair.doc_id) for pair in found.pairs], found.exact
    ('old', [('q1', 'z'), ('q2', 'x')], True)
    """
    one = metric_of(metric)
    largest = float(qrels.grades.max(initial=0.0))
    one = one.on_scale(largest if scale_top is None else scale_top)
    cutoff = int(one.cutoff) if one.cutoff is not None else None
    pool = candidates(qrels, (a, b), cutoff)
    counted = np.flatnonzero(pool.answered.all(axis=0)) if missing == "skip" else np.arange(qrels.queries)
    if not len(counted):
        raise NotValid("the runs have no judged query in common; count unanswered queries as 0 (missing zero)")
    grades = scale_grades(max(largest, scale_top or 0.0))
    return _Search(qrels, (a.name, b.name), one, pool, counted, grades).turning()


def metric_of(metric: str | BoundMetric) -> BoundMetric:
    """Return the metric, if its comparisons can be reversed."""
    bound = bind([metric])
    if len(bound) != 1:
        raise NotValid(f"use one metric, not {len(bound)}")
    if bound[0].response is None:
        name = bound[0].name
        raise NotValid(f"the response of {name} to a judgment is unknown; use a metric such as nDCG@10, AP or RR@10")
    if bound[0].metric.mean != "arithmetic":
        raise NotValid(f"the mean of {bound[0].name} is not an arithmetic mean; use a metric such as AP")
    return bound[0]


@dataclass(frozen=True, eq=False)
class _Search:
    qrels: Qrels
    names: tuple[str, str]
    metric: BoundMetric
    pool: Candidates
    counted: Integers
    grades: np.ndarray[tuple[int], np.dtype[np.float64]]

    def turning(self) -> Turning:
        """Return the result for any means."""
        difference = self._difference(*(self.metric(rankings) for rankings in self.pool.rankings))
        if abs(difference) <= TIE:
            return self._outcome(difference, None, None, reason="the runs are tied: any judgment may break the tie")
        leading = int(difference > 0)
        moves = swings(self.metric, self.pool, leading, self.grades, self.counted)
        need = (abs(difference) + TIE) * len(self.counted)
        farthest = float(moves.upper[:, -1].sum())
        most = farthest / len(self.counted)
        steps = fewest(moves.reached, need)
        winner = self.names[leading]
        if steps is None:
            turns = None if farthest > need else False
            return self._outcome(difference, winner, turns, most=most, reason=_why_not(turns))
        limit = fewest(moves.upper, need)
        at_least = min(steps.at_least, limit.at_least) if limit else steps.at_least
        chosen = self._chosen(moves, steps.taken)
        # The selection may need fewer pairs than counted.
        exact = len(chosen) == at_least
        return self._outcome(
            difference,
            winner,
            True,
            most=most,
            chosen=chosen,
            exact=exact,
            at_least=at_least,
            reason=None if exact else "fewer pairs may be enough: not all possible judgments could be tried",
        )

    def _difference(self, first: Any, second: Any) -> float:
        return math.fsum((second - first)[self.counted].tolist()) / len(self.counted)

    def _chosen(self, moves: Swings, taken: Integers) -> list[tuple[int, float]]:
        """Return the candidates with their grades, first the queries with the largest effect per pair."""
        queries = np.flatnonzero(taken)
        each = moves.reached[queries, taken[queries]] / taken[queries]
        ordered = queries[np.argsort(-each, kind="stable")].tolist()
        return [one for query in ordered for one in moves.pick(query, int(taken[query]))]

    def _outcome(
        self,
        difference: float,
        winner: str | None,
        turns: bool | None,
        *,
        most: float = 0.0,
        chosen: list[tuple[int, float]] | None = None,
        exact: bool = True,
        at_least: int | None = None,
        reason: str | None = None,
    ) -> Turning:
        chosen = chosen or []
        inside = np.isin(self.pool.query, self.counted)
        return Turning(
            metric=self.metric.name,
            a=self.names[0],
            b=self.names[1],
            difference=difference,
            winner=winner,
            turns=turns,
            pairs=tuple(self._pair(candidate, grade) for candidate, grade in chosen),
            exact=exact,
            at_least=at_least,
            difference_after=self._after(chosen) if chosen else None,
            most=most,
            unjudged=int(np.count_nonzero(inside)),
            queries=len(self.counted),
            reason=reason,
        )

    def _pair(self, candidate: int, grade: float) -> TurningPair:
        first, second = (int(rank) or None for rank in self.pool.ranks[:, candidate])
        query_id = self.qrels.query_ids[int(self.pool.query[candidate])]
        return TurningPair(query_id, self.pool.doc_ids[candidate], grade, first, second)

    def _after(self, chosen: list[tuple[int, float]]) -> float:
        """Return the difference with these grades, computed by the metric."""
        places = np.array([candidate for candidate, _ in chosen], dtype=np.int64)
        grade = np.array([grade for _, grade in chosen])
        values = [
            self.metric(graded(rankings, Grading(self.pool.query[places], ranks[places], grade)))
            for rankings, ranks in zip(self.pool.rankings, self.pool.ranks, strict=True)
        ]
        return self._difference(*values)


def _why_not(turns: bool | None) -> str:
    if turns is False:
        return "no judgments of the returned documents can reverse this result"
    return "no judgments were found that reverse this result, but some may exist"
