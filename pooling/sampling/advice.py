"""Advice on sample size in words; the statistics are passed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgments.core.family import Family

if TYPE_CHECKING:
    from pooling.sampling.tiers import Tier

# The median over pairs of official runs at TREC's deep learning tracks of 2019 and 2020, nDCG@10 query by query.
USUAL_SD = 0.17


@dataclass(frozen=True, slots=True)
class Advice:
    """What a comparison of two runs on a sample can show.

    Parameters
    ----------
    worth : int
        How many equally weighted queries the sample is worth.
    sd : float
        The standard deviation of the differences between two runs, query by query, that was assumed.
    detectable : float
        The difference that is shown in four of five cases.
    reach : float
        How far the 95 % interval of a difference goes to either side.
    difference : float or None
        The difference that was asked about.
    needed : int or None
        How many equally weighted queries it takes; None when nothing was asked, or where `reason` says why not.
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


Adviser = Callable[[int, float | None, float], Advice]
# Statistics of comparisons live above this room; evaluation registers the one there is.
ADVISERS: Family[Adviser] = Family("adviser", {})


def advise(worth: float | None, difference: float | None = None, sd: float = USUAL_SD) -> Advice | None:
    """Say what a sample worth so many queries can show; None where that is not known or fewer than two."""
    adviser = next(iter(ADVISERS.values()), None)
    return None if adviser is None or worth is None or worth < 2 else adviser(int(worth), difference, sd)


def expected_worth(tiers: Sequence[Tier], sizes: Sequence[int]) -> float | None:
    """How many equally weighted queries a draw by tier can be expected to be worth, before it is made.

    Parameters
    ----------
    tiers : sequence of Tier
        The frame; every tier with its sum of squared frequencies.
    sizes : sequence of int
        How many queries would be drawn of each; a tier that holds fewer is taken whole.

    Returns
    -------
    float or None
        (sum w)^2 / sum (w^2 / p) over all queries of the tiers that are drawn from, w the traffic and p the chance of
        each; None when nothing is drawn or the squares are not known.

    Notes
    -----
    `pooling.sampling.draw.Sample.effective_size` of what was drawn varies around it.

    Examples
    --------
    >>> from pooling.sampling.tiers import Tier
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
