"""Cost of a round for its raters, and the agreement that it can measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

from judgments.agreement.warnings import ENOUGH_QUERIES, ENOUGH_UNITS
from pooling.effort import Pace

# Half the width of alpha's 95 % interval times the root of the doubly rated pairs, as measured on real 0-3 grades that
# agree moderately: 0.24 at 50 pairs, 0.12 at 200, 0.06 at 800.
WIDTH = 1.7
# The share that is proposed where it is enough for a verdict.
SHARE = 0.2


@dataclass(frozen=True)
class Cost:
    """What a round asks of its raters.

    Attributes
    ----------
    pairs, overlapping, ratings_per_pair, raters : int
        Pairs, those that get k ratings, k, and who is asked.
    pace : Pace
        Seconds for a rating.
    per_query : sequence of int
        How many pairs each query has.
    most : Cost or None
        What the round may grow to, where pairs are chosen while it is open.
    """

    pairs: int
    overlapping: int
    ratings_per_pair: int
    raters: int
    pace: Pace
    per_query: Sequence[int] = ()
    most: Cost | None = None

    @property
    def ratings(self) -> int:
        return self.overlapping * self.ratings_per_pair + self.pairs - self.overlapping

    @property
    def hours(self) -> str:
        return self.pace.cost(self.ratings)

    @property
    def hours_each(self) -> str:
        return self.pace.cost(self.ratings / self.raters) if self.raters else ""

    @property
    def too_few_raters(self) -> bool:
        return 0 < self.raters < self.ratings_per_pair and self.overlapping > 0

    @property
    def rated_twice(self) -> int:
        return self.overlapping if self.ratings_per_pair > 1 else 0

    @property
    def queries_twice(self) -> int:
        """How many queries will have such a pair, as many as a draw of that share hits on average."""
        share = self.rated_twice / self.pairs if self.pairs else 0.0
        return round(sum(1 - (1 - share) ** number for number in self.per_query))

    @property
    def enough_overlap(self) -> bool:
        return self.rated_twice >= ENOUGH_UNITS and self.queries_twice >= ENOUGH_QUERIES

    @property
    def half_width(self) -> float | None:
        """About how far the interval of the agreement will reach to either side; None where nobody can tell."""
        return min(1.0, WIDTH / sqrt(self.rated_twice)) if self.rated_twice > 1 else None

    @property
    def lacking(self) -> str:
        """What keeps the agreement from a verdict, in words; empty where it has one."""
        if not self.rated_twice:
            return "nobody will know how far raters agree"
        lacks = []
        if self.rated_twice < ENOUGH_UNITS:
            lacks.append(f"{ENOUGH_UNITS} pairs")
        if self.queries_twice < ENOUGH_QUERIES:
            lacks.append(f"{ENOUGH_QUERIES} queries")
        return f"a verdict needs {' over '.join(lacks)}" if lacks else ""


@dataclass(frozen=True)
class Offer:
    """One way to share ratings among the pairs."""

    title: str
    ratings_per_pair: int
    overlap: float
    cost: Cost

    @property
    def key(self) -> str:
        return f"{self.ratings_per_pair}x{self.overlap}"


def offers(cost: Cost) -> list[Offer]:
    """The usual ways with what each costs and tells."""
    ways = (("Every pair twice", 2, 1.0), ("Every fifth pair twice", 2, SHARE), ("Every pair once", 1, 1.0))
    return [
        Offer(title, ratings, share, replace(cost, ratings_per_pair=ratings, overlapping=round(cost.pairs * share)))
        for title, ratings, share in ways
    ]


def usual_overlap(pairs: int, per_query: Sequence[int], pace: Pace) -> float:
    """Every fifth pair twice where that is enough for a verdict; every pair where there are too few."""
    fifth = Cost(pairs, round(pairs * SHARE), 2, 0, pace, per_query)
    return SHARE if fifth.enough_overlap else 1.0
