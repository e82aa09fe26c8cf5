"""Leave-one-out test of a pool: how much a system would lose if it had not contributed."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.estimators.pooled_documents import Flags
from assay.metrics.metric import TIE, BoundMetric
from assay.scoring.evaluate import evaluate
from assay.scoring.results import Evaluation
from assay.significance.rank_correlation import rank_correlation

JUDGED = "Judged@10"


@dataclass(frozen=True)
class Hurt:
    """A run that is left out, with the current labels and with the labels without it."""

    run: str
    score: float | None
    score_without: float | None
    rank: int | None
    rank_without: int | None
    judged: float | None
    judged_without: float | None

    @property
    def change(self) -> float | None:
        """Return the change of its mean; negative if the run loses."""
        if self.score is None or self.score_without is None:
            return None
        return self.score_without - self.score


@dataclass(frozen=True)
class LeftOut:
    """A run or group of runs that is left out of the pool."""

    name: str
    runs: tuple[Hurt, ...]
    contributed: int
    unique: int
    unique_relevant: int
    queries: int
    tau: float | None
    reason: str | None = None

    @property
    def worst(self) -> float | None:
        """Return the largest loss among its runs, 0 or below."""
        changes = [one.change for one in self.runs if one.change is not None]
        return min([0.0, *changes]) if changes else None

    @property
    def ranks_lost(self) -> int | None:
        """Return the largest number of ranks that one of its runs falls."""
        falls = [one.rank_without - one.rank for one in self.runs if one.rank and one.rank_without]
        return max([0, *falls]) if falls else None

    def as_json(self) -> dict[str, Any]:
        values = {key: value for key, value in asdict(self).items() if key != "runs"}
        runs = [asdict(one) | {"change": one.change} for one in self.runs]
        return values | {"worst": self.worst, "ranks_lost": self.ranks_lost, "runs": runs}


def families(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Group runs by the first word of their names, which variants of a system usually share.

    Examples
    --------
    >>> families(["bm25-v1", "bm25-v2", "neural", "splade_a", "splade_b"])
    {'bm25': ('bm25-v1', 'bm25-v2'), 'splade': ('splade_a', 'splade_b')}
    """
    by_stem: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_stem[re.split(r"[-_.\s:/]", name, maxsplit=1)[0].lower()].append(name)
    return {stem: tuple(of) for stem, of in by_stem.items() if stem and 1 < len(of) < len(names)}


def leave_out(
    qrels: Qrels,
    runs: Sequence[Run],
    contributed: Mapping[str, Flags],
    groups: Sequence[tuple[str, Sequence[str]]],
    metric: str | BoundMetric = "nDCG@10",
    *,
    rel: float = 1,
    scale_top: float | None = None,
    watch: Callable[[int], None] = lambda done: None,
) -> tuple[LeftOut, ...]:
    """Score all runs as if some runs had not contributed to the pool.

    Parameters
    ----------
    qrels : Qrels
        The labels.
    runs : sequence of Run
        All runs that are ranked, contributors or not.
    contributed : mapping of str to bool array, shape (rows of the qrels,)
        Whether each contributor returned each judged pair.
    groups : sequence of (str, sequence of str)
        The name of each group, and its contributors, which are left out together.
    metric : str or BoundMetric
        One metric.
    rel : float
        The lowest grade that counts as relevant.
    scale_top : float, optional
        The top grade of the scale, for metrics that need it; by default the largest grade of the qrels.
    watch : callable
        Called with the number of groups done.

    Returns
    -------
    tuple of LeftOut
        Sorted like ``groups``.

    Raises
    ------
    NotValid
        A group names a run that did not contribute.

    Notes
    -----
    A judged pair is removed if all runs that returned it are left out. Pairs that no contributor returned, such as a
    random sample or an import, stay. Both means are computed over the queries that keep a judgment. Source: Zobel 1998;
    Buckley, Dimmick, Soboroff and Voorhees 2007, "Bias and the limits of pooling for large collections".

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"a": 1, "b": 1, "c": 0}})
    >>> one, two = Run.from_dict({"q1": {"a": 1.0}}, "one"), Run.from_dict({"q1": {"c": 2.0, "b": 1.0}}, "two")
    >>> by = {"one": np.array([True, False, False]), "two": np.array([False, True, True])}
    >>> (found,) = leave_out(qrels, [one, two], by, [("two", ["two"])], "P@2")
    >>> found.unique, found.unique_relevant, found.runs[0].score, found.runs[0].score_without
    (2, 1, 0.5, 0.0)
    """
    strange = next((name for _, names in groups for name in names if name not in contributed), None)
    if strange is not None:
        known = ", ".join(contributed)
        raise NotValid(f"the run {strange!r} did not contribute, so it cannot be left out; contributors: {known}")
    # Use the same scale with and without the run, although the top grade may be removed.
    top = float(qrels.grades.max(initial=0)) if scale_top is None else scale_top

    def score(labels: Qrels) -> Evaluation:
        return evaluate(labels, runs, [metric, JUDGED], scale_top=top, ranges=False, overlap=False)

    whole = score(qrels)
    effects = []
    for done, group in enumerate(groups, 1):
        effects.append(_left_out(qrels, contributed, whole, group, score, rel))
        watch(done)
    return tuple(effects)


def _left_out(
    qrels: Qrels,
    contributed: Mapping[str, Flags],
    whole: Evaluation,
    group: tuple[str, Sequence[str]],
    score: Callable[[Qrels], Evaluation],
    rel: float,
) -> LeftOut:
    name, names = group
    nobody = np.zeros(len(qrels), dtype=np.bool_)
    own = np.logical_or.reduce([contributed[one] for one in names])
    others = np.logical_or.reduce([nobody, *(flags for one, flags in contributed.items() if one not in names)])
    gone = own & ~others
    counts = int(own.sum()), int(gone.sum()), int((gone & (qrels.grades >= rel)).sum())
    rest = _without(qrels, gone)
    if not rest.queries:
        return LeftOut(name, (), *counts, 0, None, "without it, no documents would be judged")
    try:
        after = whole if not gone.any() else score(rest)
    except NotValid as error:
        return LeftOut(name, (), *counts, rest.queries, None, str(error))
    rows_left = np.array([qrels.codes[query_id] for query_id in rest.query_ids], dtype=np.int64)
    column = whole.metrics[0]
    before = {one.name: _mean(one.per_query[column][rows_left]) for one in whole.runs}
    now = {one.name: _mean(one.per_query[column]) for one in after.runs}
    judged = {one.name: _mean(one.per_query[JUDGED][rows_left]) for one in whole.runs}
    judged_now = {one.name: _mean(one.per_query[JUDGED]) for one in after.runs}
    hurt = tuple(
        Hurt(one, before[one], now[one], _rank(before, one), _rank(now, one), judged[one], judged_now[one])
        for one in names
    )
    return LeftOut(name, hurt, *counts, rest.queries, _tau(before, now))


def _without(qrels: Qrels, gone: Flags) -> Qrels:
    """Return the labels without some rows; queries without remaining labels are removed."""
    sizes = np.bincount(qrels.query_of[~gone], minlength=qrels.queries)
    remaining = np.flatnonzero(sizes)
    offsets = np.concatenate(([0], np.cumsum(sizes[remaining]))).astype(np.int64)
    rows = np.flatnonzero(~gone)
    return Qrels(tuple(qrels.query_ids[at] for at in remaining), offsets, qrels.doc_ids.take(rows), qrels.grades[rows])


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
    known = values[~np.isnan(values)]
    return math.fsum(known.tolist()) / len(known) if len(known) else None


def _rank(scores: Mapping[str, float | None], name: str) -> int | None:
    """Return the rank among all runs; runs with equal scores share a rank."""
    mine = scores[name]
    if mine is None:
        return None
    return 1 + sum(score is not None and score > mine + TIE for score in scores.values())


def _tau(before: Mapping[str, float | None], now: Mapping[str, float | None]) -> float | None:
    both = [name for name in before if before[name] is not None and now[name] is not None]
    first, second = ({name: one[name] or 0.0 for name in both} for one in (before, now))
    return rank_correlation(first, second).tau_b
