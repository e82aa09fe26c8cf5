"""Response of each metric to a new grade for an unjudged document.

What a metric declares here makes its bounds exact and determines which judgments could reverse a decision. A metric
that declares nothing has neither, because the effect of a judgment on it is not worked out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers

# All of these take the metric's parameters as keywords.
Gain = Callable[..., Floats]
Weight = Callable[..., Floats]
Ideal = Callable[..., Floats]


@dataclass(frozen=True)
class Additive:
    """A metric that adds up what documents gain at their ranks and divides by something in which ranks play no part.

    Its value is ``sum(gain(grade) * weight(rank)) / (base + ideal)``, where the ideal is what the judged documents of
    the query are worth in their best order: ``sum over steps of gain of step * ideal(documents that reach the step)``.

    Parameters
    ----------
    gain : callable
        ``gain(grades, **parameters)``: what a grade gains, 0 or more.
    weight : callable
        ``weight(ranks, cutoff, **parameters)``: what a gain of 1 adds at each rank.
    base : callable
        ``base(cutoff, **parameters)``: the part of the divisor that no judgment changes.
    ideal : callable or None
        ``ideal(counts, cutoff, **parameters)``: what so many documents of gain 1 add to the divisor; concave and
        rising. None: judgments do not change the divisor.
    """

    gain: Gain
    weight: Weight
    base: Callable[..., float] = lambda cutoff, **_: 1.0
    ideal: Ideal | None = None


@dataclass(frozen=True)
class Response:
    """What is known of a metric; each promises that a better document never loses by changing places with a worse one.

    Parameters
    ----------
    shape : {"rising", "first", "promoted"}
        ``rising``: whatever the other grades are, the value never falls when one grade of a returned document rises.
        ``first``: rising, and the value depends on a single document, the first relevant or the best one. ``promoted``:
        a relevant document more can lower the value, since it raises what could have been reached.
    additive : Additive or None
        The metric as a sum, where it is one.
    unknown : callable or None
        ``unknown(rankings, cutoff, **parameters)``: what unjudged documents could add at most, where those that were
        not returned are among them.
    bounds : callable or None
        ``bounds(rankings, **parameters)``: the lowest and the highest values of a promoted metric of relevant
        documents that is no sum, over rankings that are cut at its cutoff.
    outside : callable or None
        ``outside(low, high, relevant, further)``: those bounds where so many further documents may be relevant that the
        run did not return, beside so many relevant ones; None where such documents can only lower the value.
    """

    shape: Literal["rising", "first", "promoted"]
    additive: Additive | None = None
    unknown: Callable[..., Floats] | None = None
    bounds: Callable[..., tuple[Floats, Floats]] | None = None
    outside: Callable[..., tuple[Floats, Floats]] | None = None


def reaching(grades: Floats, rel: float = 1, **_: object) -> Floats:
    """Gain 1 from the grade on that is relevant."""
    return (grades >= rel).astype(np.float64)


def labels(grades: Floats, **_: object) -> Floats:
    """Gain the grade itself, nothing where it is negative."""
    return np.maximum(grades, 0.0)


def within(ranks: Integers, cutoff: int | None, **_: object) -> Floats:
    """Weigh all ranks within the cutoff alike."""
    return np.ones(len(ranks)) if cutoff is None else (ranks <= cutoff).astype(np.float64)


def share_of_ranks(ranks: Integers, cutoff: int, **_: object) -> Floats:
    """Weigh all ranks within the cutoff alike, all together 1."""
    return within(ranks, cutoff) / cutoff


def nothing(cutoff: int | None, **_: object) -> float:
    """Divide by nothing but the ideal."""
    return 0.0
