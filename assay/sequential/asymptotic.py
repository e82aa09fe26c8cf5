"""Asymptotic confidence sequence of a mean."""

from __future__ import annotations

import math

import numpy as np

from assay.sequential.method import Floats, Method, Observed, running_moments

BURN_IN = 15
# The number of queries for which the interval is narrowest.
TUNED_FOR = 60


def mixture_scale(alpha: float, tuned_for: int = TUNED_FOR) -> float:
    """Return rho, the scale of the normal mixture, for which the interval is narrowest after ``tuned_for`` queries.

    Examples
    --------
    >>> round(mixture_scale(0.05), 12)
    0.382574620783
    """
    return math.sqrt((-2 * math.log(alpha) + math.log(-2 * math.log(alpha)) + 1) / tuned_for)


def _bounds(observed: Observed) -> tuple[Floats, Floats]:
    mean, deviation = running_moments(observed)
    counts = np.arange(1, len(mean) + 1)
    spread = counts * mixture_scale(observed.alpha) ** 2
    half = deviation * np.sqrt(2 * (spread + 1) / (counts * spread) * np.log(np.sqrt(spread + 1) / observed.alpha))
    # Identical differences say nothing about how much the next ones vary.
    half[(counts < BURN_IN) | (deviation == 0)] = np.nan
    return mean - half, mean + half


ASYMPTOTIC = Method(
    name="asymptotic",
    title="Asymptotic confidence sequence",
    description=f"Valid after every query from query {BURN_IN} on; narrowest after about {TUNED_FOR} queries.",
    source="Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, Annals of Statistics",
    bounds=_bounds,
)
