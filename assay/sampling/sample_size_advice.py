"""Advice on sample size: the differences between two runs that a sample of queries can detect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.sampling.tiers import Tier

# The median over pairs of official runs in the TREC deep learning tracks of 2019 and 2020, nDCG@10 per query.
USUAL_SD = 0.17


@dataclass(frozen=True, slots=True)
class Advice:
    """The differences between two runs that a sample can detect.

    Attributes
    ----------
    worth : int
        The equivalent number of equally weighted queries.
    sd : float
        The assumed standard deviation of the per-query differences between two runs.
    detectable : float
        The difference that is detected with 80% probability.
    reach : float
        The half-width of the 95% interval of a difference.
    difference : float or None
        The difference in question.
    needed : int or None
        The number of equally weighted queries needed; None without a difference, or if `reason` is set.
    reason : str
        Why there is no number.
    """

    worth: int
    sd: float
    detectable: float
    reach: float
    difference: float | None = None
    needed: int | None = None
    reason: str = ""


def advise(worth: float | None, difference: float | None = None, sd: float = USUAL_SD) -> Advice | None:
    """Return what paired t tests on a sample of this effective size can detect; None if it is unknown or below two."""
    if worth is None or worth < 2:
        return None
    from assay.significance.power import detectable, queries_needed, reach

    size = int(worth)
    needed = None if difference is None else queries_needed(difference, sd)
    return Advice(
        size,
        sd,
        detectable(sd, size) or 0.0,
        reach(sd, size),
        difference,
        needed.queries if needed else None,
        (needed.reason or "") if needed else "",
    )


def expected_worth(tiers: Sequence[Tier], sizes: Sequence[int]) -> float | None:
    """Return the expected effective sample size of a draw by tier, before it is made.

    Parameters
    ----------
    tiers : sequence of Tier
        The frame; every tier with its sum of squared frequencies.
    sizes : sequence of int
        Number of queries to draw from each; a smaller tier is taken whole.

    Returns
    -------
    float or None
        (sum w)^2 / sum (w^2 / p) over all queries of the tiers that are drawn from, w the traffic and p the inclusion
        probability of each; None if nothing is drawn or the squares are unknown.

    Notes
    -----
    `assay.sampling.draw.Sample.effective_size` of the drawn sample varies around it.

    Examples
    --------
    >>> from assay.sampling.tiers import Tier
    >>> expected_worth([Tier("head", 2, 20, 0.5, 200), Tier("tail", 20, 20, 0.5, 20)], [2, 5])
    5.714285714285714
    """
    total, spread = 0, 0.0
    for tier, size in zip(tiers, sizes, strict=True):
        drawn = min(size, tier.queries)
        if drawn:
            if tier.squares is None:
                return None
            total += tier.traffic
            spread += tier.squares * tier.queries / drawn
    return total * total / spread if spread else None
