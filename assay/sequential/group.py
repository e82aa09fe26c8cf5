"""Group-sequential plan: looks after fixed numbers of queries, with O'Brien-Fleming-type spending of alpha."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from assay.core.errors import NotValid
from assay.sequential.method import Floats, Method, Observed, running_moments

FIRST, EVERY = 20, 10
_STEPS = 60
# Nodes of the integration for each standard deviation of an increment, and at least.
_NODES, _LEAST_NODES = 6, 64


def looks(planned: int) -> list[int]:
    """Return the numbers of queries after which a plan looks.

    Examples
    --------
    >>> looks(45)
    [20, 30, 40, 45]
    """
    if planned < FIRST:
        raise NotValid(f"a group-sequential plan needs at least {FIRST} planned queries, not {planned}")
    return [*range(FIRST, planned, EVERY), planned]


def spent(shares: Sequence[float], alpha: float) -> tuple[float, ...]:
    """Return the alpha spent up to each look, 2 - 2 Phi(z_{alpha/2} / sqrt(t)) for the share t of planned queries."""
    two_sided = NormalDist().inv_cdf(1 - alpha / 2)
    return tuple(math.erfc(two_sided / math.sqrt(2 * share)) for share in shares)


@lru_cache(maxsize=64)
def critical_values(shares: tuple[float, ...], spent: tuple[float, ...]) -> tuple[float, ...]:
    """Return the critical value of |z| at each look.

    Parameters
    ----------
    shares : tuple of float
        The share t of the planned queries at each look, ascending up to 1.
    spent : tuple of float
        The two-sided alpha spent up to each look, ascending.

    Returns
    -------
    tuple of float
        The critical values; infinite if a look has too little alpha to represent.

    Notes
    -----
    Under the null hypothesis sqrt(t) z is a Brownian motion. The density of the paths that have not crossed is
    integrated from look to look by Gauss-Legendre quadrature (Armitage, McPherson and Rowe 1969).

    Source: Lan and DeMets 1983, "Discrete sequential boundaries for clinical trials".

    Examples
    --------
    >>> [round(value, 3) for value in critical_values((0.5, 1.0), spent((0.5, 1.0), 0.05))]
    [2.772, 1.979]
    """
    values: list[float] = []
    at, density, before = np.zeros(1), np.ones(1), 0.0
    for look, share in enumerate(shares):
        sd = math.sqrt(share - before)
        bound = _crossing(at, density, sd, spent[look] - (spent[look - 1] if look else 0.0))
        values.append(bound / math.sqrt(share))
        if math.isfinite(bound):
            # Few different numbers of nodes, because they take long to compute.
            nodes, weights = _quadrature(_LEAST_NODES * math.ceil(_NODES * bound / sd / _LEAST_NODES))
            fresh = bound / 2 * (nodes + 1)
            density = bound / 2 * weights * (_normal(fresh[:, None], at, sd) @ density)
            at, before = fresh, share
    return tuple(values)


def _normal(to: Floats, at: Floats, sd: float) -> Floats:
    """Return the density of moving to a point or its mirror image; the nodes cover the positive half."""
    if len(at) == 1:
        # The first increment starts at 0, which is its own mirror image.
        return 2 * np.exp(-(((to - at) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))
    moved = np.exp(-(((to - at) / sd) ** 2) / 2) + np.exp(-(((to + at) / sd) ** 2) / 2)
    result: Floats = moved / (sd * math.sqrt(2 * math.pi))
    return result


def _crossing(at: Floats, density: Floats, sd: float, alpha: float) -> float:
    """Return the bound that a path crosses at this look, and not earlier, with probability alpha."""
    if alpha < 1e-290:
        return math.inf
    bound, wanted = 2.0, math.log(alpha)
    ahead = [(place, weight) for place, weight in zip(at.tolist(), density.tolist(), strict=True) if weight > 0]
    single = len(at) == 1
    for _ in range(_STEPS):
        above = sum(weight * math.erfc((bound - place) / sd / math.sqrt(2)) for place, weight in ahead)
        below = (
            0.0 if single else sum(weight * math.erfc((bound + place) / sd / math.sqrt(2)) for place, weight in ahead)
        )
        crossing = above if single else (above + below) / 2
        if crossing <= 0:
            bound /= 2
            continue
        slope = float(_normal(np.array([bound]), at, sd) @ density)
        step = (math.log(crossing) - wanted) * crossing / slope
        bound += step
        if abs(step) < 1e-12:
            break
    return bound


@lru_cache(maxsize=16)
def _quadrature(nodes: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(nodes)


def _bounds(observed: Observed) -> tuple[Floats, Floats]:
    planned = observed.planned or 0
    seen = [count for count in looks(planned) if count <= len(observed.differences)]
    mean, deviation = running_moments(observed)
    half = np.full(len(mean), np.nan)
    shares = tuple(count / planned for count in seen)
    for count, value in zip(seen, critical_values(shares, spent(shares, observed.alpha)), strict=True):
        if deviation[count - 1] > 0:
            half[count - 1] = value * deviation[count - 1] / math.sqrt(count)
    return mean - half, mean + half


GROUP = Method(
    name="group",
    title="Group-sequential plan",
    description=(
        f"Looks every {EVERY} queries from query {FIRST} to a number fixed beforehand; decides nearly all comparisons "
        "that judging everything decides."
    ),
    source="Lan and DeMets 1983, Biometrika; O'Brien and Fleming 1979 for the shape",
    bounds=_bounds,
    needs_planned=True,
)
