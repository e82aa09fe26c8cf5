"""What does a comparison of runs answer for each pair?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.metrics.means import TIE
from evaluation.significance.draws import Floats

# Normal quantiles of a two-sided test at .05 and of a power of .80: 1.960 + 0.842.
DETECTABLE = 2.8


@dataclass(frozen=True)
class Effect:
    """How large a difference is, beside how certain.

    Parameters
    ----------
    difference : float
        Mean of the differences, second run less first.
    size : float or None
        d_z, the mean of the differences over their standard deviation; None where they do not vary.
    wins, ties, losses : int
        On how many queries the second run is better, as good (within 1e-9), worse.
    detectable : float or None
        The smallest mean difference that so many queries would show with a chance of .80, at .05.
    """

    difference: float
    size: float | None
    wins: int
    ties: int
    losses: int
    detectable: float | None


def effect(first: Floats, second: Floats) -> Effect:
    """Describe the paired difference of two runs.

    Parameters
    ----------
    first, second : float64 array, shape (queries,)
        One metric of two runs on the same queries, at least one.

    Returns
    -------
    Effect
        Source of d_z: Cohen 1988.

    Examples
    --------
    >>> found = effect(np.array([0.1, 0.5, 0.5]), np.array([0.4, 0.5, 0.9]))
    >>> found.wins, found.ties, found.losses, round(found.size, 4)
    (2, 1, 0, 1.1209)
    """
    found = second - first
    mean = math.fsum(found.tolist()) / len(found)
    spread = float(found.std(ddof=1)) if len(found) > 1 else 0.0
    varies = spread > 1e-12 * float(np.abs(found).max())
    wins, losses = int((found > TIE).sum()), int((found < -TIE).sum())
    detectable = DETECTABLE * spread / math.sqrt(len(found)) if varies else None
    return Effect(mean, mean / spread if varies else None, wins, len(found) - wins - losses, losses, detectable)


@dataclass(frozen=True)
class PairComparison:
    """Two runs under one metric; the difference is that of ``b`` less ``a``.

    Parameters
    ----------
    metric, a, b : str
        The metric and the names of the runs.
    effect : Effect
        Difference, size, wins and losses.
    low, high : float or None
        The interval of the difference.
    p, p_corrected : float or None
        Of the test; corrected within the comparisons of this metric, None without a correction.
    queries : int
        Over how many queries.
    reason : str or None
        Why something that was asked for is None.
    """

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

    def as_json(self) -> dict[str, Any]:
        """Return plain numbers under plain names; the reason only where there is one."""
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
        }
        return plain | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Comparison:
    """Several runs compared with each other, or with one baseline.

    Parameters
    ----------
    runs : dict of str to dict
        Run to metric to its mean over the compared queries.
    pairs : tuple of PairComparison
        By metric, then in the order of the runs. The first metric is the primary one, the others are exploratory.
    settings : dict
        Test, correction, draws, seed, level: what the numbers hang on.
    """

    runs: Mapping[str, Mapping[str, float]]
    pairs: tuple[PairComparison, ...]
    settings: Mapping[str, Any]

    def of_metric(self, metric: str) -> list[PairComparison]:
        """The comparisons of one metric: the family that is corrected together."""
        return [pair for pair in self.pairs if pair.metric == metric]

    def as_json(self) -> dict[str, Any]:
        """Return the shape of ``assay compare --format json``."""
        return {
            "runs": {name: dict(means) for name, means in self.runs.items()},
            "pairs": [pair.as_json() for pair in self.pairs],
            "settings": dict(self.settings),
        }
