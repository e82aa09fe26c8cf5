"""Response of each metric to a new grade for an unjudged document.

The declared response makes a metric's bounds exact and determines which judgments could reverse a comparison. A metric
without a declared response has no bounds or decision-critical pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers

# All of these take the metric's parameters as keyword arguments.
Gain = Callable[..., Floats]
Weight = Callable[..., Floats]
Ideal = Callable[..., Floats]


@dataclass(frozen=True)
class Additive:
    """A metric that sums the gains of documents at their ranks, divided by a value that does not depend on ranks."""

    gain: Gain
    weight: Weight
    base: Callable[..., float] = lambda cutoff, **_: 1.0
    ideal: Ideal | None = None


@dataclass(frozen=True)
class Response:
    """How a metric responds to judgments; all shapes guarantee that swapping a better document above a worse document
    never lowers the value.
    """

    shape: Literal["rising", "first", "promoted"]
    additive: Additive | None = None
    unknown: Callable[..., Floats] | None = None
    bounds: Callable[..., tuple[Floats, Floats]] | None = None
    outside: Callable[..., tuple[Floats, Floats]] | None = None


def reaching(grades: Floats, rel: float = 1, **_: object) -> Floats:
    """Return a gain of 1 for relevant grades."""
    return (grades >= rel).astype(np.float64)


def labels(grades: Floats, **_: object) -> Floats:
    """Return the grade as the gain, or 0 if it is negative."""
    return np.maximum(grades, 0.0)


def within(ranks: Integers, cutoff: int | None, **_: object) -> Floats:
    """Weight all ranks within the cutoff equally."""
    return np.ones(len(ranks)) if cutoff is None else (ranks <= cutoff).astype(np.float64)


def share_of_ranks(ranks: Integers, cutoff: int, **_: object) -> Floats:
    """Weight all ranks within the cutoff equally, with a total of 1."""
    return within(ranks, cutoff) / cutoff


def nothing(cutoff: int | None, **_: object) -> float:
    """Return 0, so that the divisor is only the ideal."""
    return 0.0
