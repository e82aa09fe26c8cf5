"""Results of a comparison of runs: each pair with its effect size, and the agreement between metrics."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.errors import NotValid
from assay.core.result import Result
from assay.metrics.metric import TIE
from assay.significance.paired_differences import scaled_weights
from assay.significance.paired_t import standard_error
from assay.significance.power import ALPHA, detectable, queries_needed
from assay.significance.rank_correlation import RankCorrelation
from assay.significance.sign_flips import Floats

if TYPE_CHECKING:
    from assay.core.qrels import MachineSource


ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letters(order: Sequence[str], differing: Collection[frozenset[str]]) -> dict[str, str]:
    """Assign letters to runs so that two runs share a letter exactly if they do not differ.

    Parameters
    ----------
    order : sequence of str
        The distinct runs, best first.
    differing : collection of frozenset of str
        The pairs of runs that differ; all other pairs do not.

    Returns
    -------
    dict of str to str
        Run to its letters, in the order given. The best run has ``a``; after ``z`` come capitals, then ``a1``.

    Raises
    ------
    NotValid
        When a run is listed twice, or a pair is not a pair of these runs.

    Notes
    -----
    A letter is a maximal set of runs of which no two differ; a set whose pairs all share another letter is left out.
    The sets are built one pair at a time, farthest first, so that there are never more sets than pairs of runs.
    Insert-and-absorb (Piepho 2004) finds the same letters if runs differ when they are far enough apart, but needs 2^m
    sets for m differing pairs without a common run.

    Source: Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons"; Gramm, Guo,
    Hüffner and Niedermeier 2007 for growing the sets.

    Examples
    --------
    >>> letters(["neural", "hybrid", "bm25"], {frozenset({"neural", "bm25"})})
    {'neural': 'a', 'hybrid': 'ab', 'bm25': 'b'}
    """
    place = {run: at for at, run in enumerate(order)}
    alike = _alike(place, order, differing)
    groups = _swept(_grown(alike))
    names = dict(zip(sorted(groups), _names(len(groups)), strict=True))
    return {run: "".join(name for group, name in names.items() if place[run] in group) for run in order}


def _alike(place: dict[str, int], order: Sequence[str], differing: Collection[frozenset[str]]) -> list[set[int]]:
    """Return for each run the runs that it does not differ from, including itself."""
    if len(place) < len(order):
        twice = next(run for run in order if list(order).count(run) > 1)
        raise NotValid(f"the run {twice!r} is listed twice; list each run once")
    alike = [set(range(len(order))) for _ in order]
    for pair in differing:
        if len(pair) != 2 or not pair <= place.keys():
            raise NotValid(f"{sorted(pair)} is not a pair of the runs {', '.join(order)}")
        first, second = (place[run] for run in pair)
        alike[first].discard(second)
        alike[second].discard(first)
    return alike


def _grown(alike: Sequence[set[int]]) -> list[tuple[int, ...]]:
    """Return maximal sets of runs that do not differ, until each pair of such runs is in one."""
    covered: set[tuple[int, int]] = set()
    cliques: list[tuple[int, ...]] = []
    for first in range(len(alike)):
        for last in sorted(alike[first], reverse=True):
            # A run is alone, as a pair with itself, only if it differs from all others.
            if last < first or (first, last) in covered or (first == last and len(alike[first]) > 1):
                continue
            group = {first, last}
            for run in _from(first, len(alike)):
                if group <= alike[run]:
                    group.add(run)
            cliques.append(tuple(sorted(group)))
            covered.update(combinations(cliques[-1], 2))
    return cliques


def _from(first: int, runs: int) -> Iterator[int]:
    """Yield all runs, first those below the first run, then those above it."""
    yield from range(first, runs)
    yield from range(first - 1, -1, -1)


def _swept(groups: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Leave out each set whose pairs are all in other sets."""
    times: dict[tuple[int, int], int] = {}
    for group in groups:
        for pair in combinations(group, 2):
            times[pair] = times.get(pair, 0) + 1
    maximal = []
    for group in groups:
        pairs = list(combinations(group, 2))
        if pairs and all(times[pair] > 1 for pair in pairs):
            for pair in pairs:
                times[pair] -= 1
        else:
            maximal.append(group)
    return maximal


def _names(number: int) -> Iterator[str]:
    for at in range(number):
        turn, letter = divmod(at, len(ALPHABET))
        yield ALPHABET[letter] + (str(turn) if turn else "")


NO_SPREAD = "no effect size, because the differences do not vary"


@dataclass(frozen=True)
class Effect:
    """The size of a difference."""

    difference: float
    size: float | None
    wins: int
    ties: int
    losses: int
    detectable: float | None
    queries_needed: int | None = None
    reason: str | None = None


def effect(first: Floats, second: Floats, weights: Sequence[float] | None = None) -> Effect:
    """Describe the paired difference of two runs.

    Parameters
    ----------
    first, second : float64 array, shape (queries,)
        A metric of two runs on the same queries, at least one.
    weights : sequence of float, optional
        For each query its share of traffic divided by its inclusion probability, above 0.

    Returns
    -------
    Effect
        Weights enter the mean and the standard deviation, and varying weights make the difference harder to detect: its
        standard error replaces sd / sqrt(n). Source of d_z: Cohen 1988.

    Examples
    --------
    >>> found = effect(np.array([0.1, 0.5, 0.5]), np.array([0.4, 0.5, 0.9]))
    >>> found.wins, found.ties, found.losses, round(found.size, 4)
    (2, 1, 0, 1.1209)
    """
    differences, queries = second - first, len(first)
    scale = scaled_weights(weights, queries)
    mean = math.fsum((differences * scale).tolist()) / queries
    wins, losses = int((differences > TIE).sum()), int((differences < -TIE).sum())
    counts = (wins, queries - wins - losses, losses)
    sd = math.sqrt(float((scale * (differences - mean) ** 2).sum()) / (queries - 1)) if queries > 1 else 0.0
    if sd <= 1e-12 * float(np.abs(differences).max()):
        return Effect(mean, None, *counts, None, None, NO_SPREAD)
    # The standard deviation per query that would give the same uncertainty with equal weights.
    spread = standard_error(differences, scale, [np.arange(queries)]) * math.sqrt(queries)
    needed = queries_needed(0.0 if abs(mean) <= 1e-12 * sd else mean, spread)
    return Effect(mean, mean / sd, *counts, detectable(spread, queries), needed.queries, needed.reason)


@dataclass(frozen=True)
class PairComparison:
    """Two runs compared on a metric; the difference is ``b`` minus ``a``."""

    metric: str
    a: str
    b: str
    effect: Effect
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None
    queries: int
    reason: str | None = None

    def differs(self, alpha: float = ALPHA) -> bool:
        """Return whether the corrected p, or the raw p without a correction, is below alpha."""
        decisive = self.p if self.p_corrected is None else self.p_corrected
        return decisive is not None and decisive < alpha

    def as_json(self) -> dict[str, Any]:
        """Return plain numbers under plain names; the reason only if present."""
        plain = {
            "metric": self.metric,
            "a": self.a,
            "b": self.b,
            "difference": self.effect.difference,
            "low": self.low,
            "high": self.high,
            "p": self.p,
            "p_corrected": self.p_corrected,
            "effect": self.effect.size,
            "wins": self.effect.wins,
            "ties": self.effect.ties,
            "losses": self.effect.losses,
            "queries": self.queries,
            "detectable": self.effect.detectable,
            "queries_needed": self.effect.queries_needed,
        }
        return plain | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Ranking:
    """Agreement of two metrics, ``a`` and ``b``, on the order of the runs by their means."""

    a: str
    b: str
    agreement: RankCorrelation

    def as_json(self) -> dict[str, Any]:
        """Return the two metrics and the coefficients."""
        return {"a": self.a, "b": self.b, **self.agreement.as_json()}


@dataclass(frozen=True)
class Comparison(Result):
    """Several runs compared with each other or with a baseline."""

    runs: Mapping[str, Mapping[str, float]]
    pairs: tuple[PairComparison, ...]
    settings: Mapping[str, Any]
    rankings: tuple[Ranking, ...] = ()
    machine: MachineSource | None = None

    def of_metric(self, metric: str) -> list[PairComparison]:
        """Return the comparisons of a metric, which are corrected together."""
        return [pair for pair in self.pairs if pair.metric == metric]

    def groups(self, metric: str, alpha: float = ALPHA) -> dict[str, str] | None:
        """Give runs that do not differ a common letter."""
        if self.settings.get("baseline") is not None:
            return None
        order = sorted(self.runs, key=lambda run: -self.runs[run][metric])
        return letters(order, {frozenset((pair.a, pair.b)) for pair in self.of_metric(metric) if pair.differs(alpha)})

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dict for each metric and pair of runs."""
        return [pair.as_json() for pair in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``assay compare --format json``."""
        return self.as_json()

    def as_json(self) -> dict[str, Any]:
        """Return the content of ``assay compare --format json``; groups are null if there is a baseline."""
        alpha = self.settings.get("alpha", ALPHA)
        metrics = dict.fromkeys(pair.metric for pair in self.pairs)
        return {
            "runs": {name: dict(means) for name, means in self.runs.items()},
            "groups": {metric: self.groups(metric, alpha) for metric in metrics},
            "pairs": [pair.as_json() for pair in self.pairs],
            "rankings": [ranking.as_json() for ranking in self.rankings],
            "settings": dict(self.settings),
        }
