"""Cost of a round for its raters, and the precision of the agreement that it can measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

from assay.coefficients.rater_pairs import ENOUGH_QUERIES, ENOUGH_UNITS
from pooling.pools.effort import Pace

# Half-width of alpha's 95% interval times the square root of the doubly rated pairs, measured on real 0-3 grades with
# moderate agreement: 0.24 at 50 pairs, 0.12 at 200, 0.06 at 800.
WIDTH = 1.7
# The proposed overlap, if it is enough for a verdict.
SHARE = 0.2


@dataclass(frozen=True)
class Cost:
    """The effort of a round."""

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
        """Return the expected number of queries with a doubly rated pair."""
        share = self.rated_twice / self.pairs if self.pairs else 0.0
        return round(sum(1 - (1 - share) ** number for number in self.per_query))

    @property
    def enough_overlap(self) -> bool:
        return self.rated_twice >= ENOUGH_UNITS and self.queries_twice >= ENOUGH_QUERIES

    @property
    def half_width(self) -> float | None:
        """Return the approximate half-width of the interval of the agreement; None if it cannot be estimated."""
        return min(1.0, WIDTH / sqrt(self.rated_twice)) if self.rated_twice > 1 else None

    @property
    def lacking(self) -> str:
        """Return what is missing for a verdict on agreement, as text; empty if nothing is missing."""
        if not self.rated_twice:
            return "without overlap, agreement cannot be measured"
        lacks = []
        if self.rated_twice < ENOUGH_UNITS:
            lacks.append(f"{ENOUGH_UNITS} pairs")
        if self.queries_twice < ENOUGH_QUERIES:
            lacks.append(f"{ENOUGH_QUERIES} queries")
        return f"a verdict needs at least {' in '.join(lacks)}" if lacks else ""


@dataclass(frozen=True)
class Offer:
    """One way to distribute ratings over the pairs."""

    title: str
    ratings_per_pair: int
    overlap: float
    cost: Cost

    @property
    def key(self) -> str:
        return f"{self.ratings_per_pair}x{self.overlap}"


def offers(cost: Cost) -> list[Offer]:
    """Return the usual plans with the cost of each."""
    ways = (("Every pair twice", 2, 1.0), ("Every fifth pair twice", 2, SHARE), ("Every pair once", 1, 1.0))
    return [
        Offer(title, ratings, share, replace(cost, ratings_per_pair=ratings, overlapping=round(cost.pairs * share)))
        for title, ratings, share in ways
    ]


def usual_overlap(pairs: int, per_query: Sequence[int], pace: Pace) -> float:
    """Return the share of doubly rated pairs: 20% if that is enough for a verdict, otherwise all pairs."""
    fifth = Cost(pairs, round(pairs * SHARE), 2, 0, pace, per_query)
    return SHARE if fifth.enough_overlap else 1.0
