"""Declaration of a sequential method, its input, and running moments of weighted differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Observed:
    """Input of a method.

    Attributes
    ----------
    differences : float64 array, shape (n,)
        Candidate minus baseline on each query, in the order of judging.
    weights : float64 array, shape (n,)
        The weight of each query, above 0; all 1 for a plain random sample.
    alpha : float
        Probability of a wrong verdict, over all looks together.
    planned : int or None
        Largest number of queries, for a method that needs it.
    """

    differences: Floats
    weights: Floats
    alpha: float
    planned: int | None = None


@dataclass(frozen=True)
class Method:
    """A sequential method.

    Attributes
    ----------
    name, title, description, source : str
        The name that users type, its readable form, a sentence about when to use it, and its source.
    bounds : callable
        ``bounds(Observed) -> (low, high)``: the interval after each query; NaN where the method gives none.
    needs_planned : bool
        Whether the largest number of queries must be fixed beforehand.
    needs_bounded : bool
        Whether the values of the metric must lie between 0 and 1.
    farthest : int
        The largest number of queries to which a forecast extends, so that it takes well below a second.
    """

    name: str
    title: str
    description: str
    source: str
    bounds: Callable[[Observed], tuple[Floats, Floats]]
    needs_planned: bool = False
    needs_bounded: bool = False
    farthest: int = 20_000


def running_moments(observed: Observed) -> tuple[Floats, Floats]:
    """Compute the weighted mean of the differences after each query, and the standard deviation of its residuals.

    The residual of query i after n queries is ``n w_i (d_i - m) / sum(w)``; with equal weights the standard deviation
    is the usual one, with n - 1 in the denominator, and 0 for n = 1.
    """
    # Relative to the first difference, equal differences have a standard deviation of exactly 0.
    first = observed.differences[:1]
    shifted, weights = observed.differences - first, observed.weights
    counts = np.arange(1, len(shifted) + 1)
    total = np.cumsum(weights)
    mean = np.cumsum(weights * shifted) / total
    squares = np.cumsum(weights**2 * shifted**2)
    squares += mean**2 * np.cumsum(weights**2) - 2 * mean * np.cumsum(weights**2 * shifted)
    variance = (counts / total) ** 2 * np.maximum(squares, 0) / np.maximum(counts - 1, 1)
    return first + mean, np.sqrt(variance)
