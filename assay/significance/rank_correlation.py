"""Rank correlations between two orders of the same systems: Kendall's tau-b, tau AP and RBO."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from assay.core.errors import NotValid
from assay.metrics.metric import TIE

PERSISTENCE = 0.9


@dataclass(frozen=True)
class RankCorrelation:
    """Agreement of two orders; each coefficient is None exactly if ``reasons`` has it."""

    tau_b: float | None
    tau_ap: float | None
    rbo: float | None
    p: float
    systems: int
    reasons: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return plain numbers under plain names; reasons only if present."""
        plain = {"tau_b": self.tau_b, "tau_ap": self.tau_ap, "rbo": self.rbo, "p": self.p, "systems": self.systems}
        return plain | ({"reasons": dict(self.reasons)} if self.reasons else {})


def rank_correlation(a: Mapping[str, float], b: Mapping[str, float], p: float = PERSISTENCE) -> RankCorrelation:
    """Compare two orders of the same systems by score, highest first.

    Parameters
    ----------
    a, b : mapping of str to float
        System to score. Scores within 1e-9 of the next one are tied.
    p : float
        The persistence of RBO, above 0 and below 1.

    Returns
    -------
    RankCorrelation
        tau_b = (concordant - discordant) / sqrt(pairs untied in a * pairs untied in b).

        tau_ap is the mean of both directions, because neither order is the truth. In one direction it is 2 m - 1 with m
        the mean, over the systems that are not in the first group of ties, of the share of systems strictly above that
        are also strictly above in the other order (tau_ap,b of Urbano and Marrero). Without ties this is the mean of
        Yilmaz's tau_AP(a, b) and tau_AP(b, a).

        rbo = A(n) p^n + (1 - p) / p sum over depths d of A(d) p^d, where A(d) = 2 |overlap| / (size a + size b) of the
        systems ranked d or better. Tied systems share the first of their ranks, as in Webber's section 4.5.

    Raises
    ------
    NotValid
        When the systems are not the same, a score is not a number, or p is out of range.

    Notes
    -----
    Source: Kendall 1945; Yilmaz, Aslam and Robertson 2008; Urbano and Marrero 2017, "The treatment of ties in AP
    correlation"; Webber, Moffat and Zobel 2010, "A similarity measure for indefinite rankings".

    Examples
    --------
    >>> found = rank_correlation({"x": 0.5, "y": 0.4, "z": 0.3}, {"x": 0.6, "y": 0.2, "z": 0.3})
    >>> round(found.tau_b, 4), found.tau_ap, round(found.rbo, 4)
    (0.3333, 0.5, 0.955)
    """
    if a.keys() != b.keys():
        one = sorted(a.keys() ^ b.keys())[0]
        raise NotValid(f"the system {one!r} is in only one order; compare orders of the same systems")
    if not all(math.isfinite(score) for score in (*a.values(), *b.values())):
        raise NotValid("a score is not a number; leave out systems without a score")
    if not 0 < p < 1:
        raise NotValid(f"the persistence p is {p:g}; use a number between 0 and 1, such as {PERSISTENCE}")
    if len(a) < 2:
        reason = "at least two systems are needed for an order"
        return RankCorrelation(None, None, None, p, len(a), dict.fromkeys(("tau_b", "tau_ap", "rbo"), reason))
    systems = sorted(a)
    of_a, of_b = _ranks([a[one] for one in systems]), _ranks([b[one] for one in systems])
    tau_b = _tau_b(of_a, of_b)
    ways = (_tau_ap(of_a, of_b), _tau_ap(of_b, of_a))
    tau_ap = None if ways[0] is None or ways[1] is None else (ways[0] + ways[1]) / 2
    reason = "all systems are tied in one of the orders"
    reasons = {name: reason for name, value in (("tau_b", tau_b), ("tau_ap", tau_ap)) if value is None}
    return RankCorrelation(tau_b, tau_ap, _rbo(of_a, of_b, p), p, len(a), reasons)


def _ranks(scores: Sequence[float]) -> list[int]:
    """Return ranks from 1 for the highest; tied systems share the first of their ranks."""
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    ranks = [1] * len(scores)
    for rank, (above, at) in enumerate(pairwise(order), 2):
        ranks[at] = ranks[above] if scores[above] - scores[at] <= TIE else rank
    return ranks


def _tau_b(one: Sequence[int], other: Sequence[int]) -> float | None:
    agreed = untied_one = untied_other = 0
    for at in range(len(one)):
        for above in range(at):
            first, second = _sign(one[at] - one[above]), _sign(other[at] - other[above])
            agreed += first * second
            untied_one += abs(first)
            untied_other += abs(second)
    return agreed / math.sqrt(untied_one * untied_other) if untied_one and untied_other else None


def _tau_ap(one: Sequence[int], other: Sequence[int]) -> float | None:
    """Return tau_ap in the direction of ``one``, whose order is compared with the other from the top down."""
    shares = []
    for at, rank in enumerate(one):
        above = [before for before in range(len(one)) if one[before] < rank]
        if above:
            shares.append(sum(other[before] < other[at] for before in above) / len(above))
    return 2 * math.fsum(shares) / len(shares) - 1 if shares else None


def _rbo(one: Sequence[int], other: Sequence[int], p: float) -> float:
    terms, agreement = [], 0.0
    for depth in range(1, len(one) + 1):
        first = {at for at, rank in enumerate(one) if rank <= depth}
        second = {at for at, rank in enumerate(other) if rank <= depth}
        agreement = 2 * len(first & second) / (len(first) + len(second))
        terms.append(agreement * p**depth)
    return agreement * p ** len(one) + (1 - p) / p * math.fsum(terms)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
