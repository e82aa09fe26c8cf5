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
    """The differences between two runs that a sample can detect."""

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
