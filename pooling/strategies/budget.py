"""Rating budget in pairs, and rating effort in hours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from judgments.core.errors import NotValid

# What one rating is taken to last until raters have been timed.
ASSUMED_SECONDS = 20.0
HOUR = 3600.0
# More of anything is a slip, and less than a thousandth of a second too.
MOST, LEAST = 1_000_000, 0.001


@dataclass(frozen=True, slots=True)
class Budget:
    """Hours of work, as pairs.

    Parameters
    ----------
    hours : float
        What each rater has.
    raters : int
        How many they are.
    ratings_per_pair : int
        How many of them grade each pair.
    seconds : float
        What one rating lasts.

    Examples
    --------
    >>> Budget(2, raters=3, ratings_per_pair=2).pairs
    540
    """

    hours: float
    raters: int = 1
    ratings_per_pair: int = 1
    seconds: float = ASSUMED_SECONDS

    def __post_init__(self) -> None:
        wrong = {
            "hours": not 0 < self.hours <= MOST,
            "raters": not 1 <= self.raters <= MOST,
            "ratings_per_pair": not 1 <= self.ratings_per_pair <= MOST,
            "seconds": not LEAST <= self.seconds <= MOST,
        }
        for name, bad in wrong.items():
            if bad:
                said = f"{name} is {str(getattr(self, name))[:20]}; give more than 0, and at most {MOST:,}"
                raise NotValid(said, {name: said})
        if not self.pairs:
            said = f"{self.hours:g} h of {self.raters} at {self.seconds:g} s a rating are less than one pair"
            raise NotValid(said, {"hours": said})

    @property
    def pairs(self) -> int:
        """The pairs that fit; a pair is taken whole or not at all."""
        # A product of round numbers may come out a hair below the whole number that it is.
        return math.floor(self.hours * HOUR * self.raters / (self.seconds * self.ratings_per_pair) + 1e-9)

    def as_json(self) -> dict[str, Any]:
        """How the total of a pool came about."""
        return {
            "hours": self.hours,
            "raters": self.raters,
            "ratings_per_pair": self.ratings_per_pair,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class Effort:
    """Pairs, as work.

    Parameters
    ----------
    pairs : int
        What is judged.
    raters, ratings_per_pair, seconds
        As a budget has them.

    Examples
    --------
    >>> Effort(540, raters=3, ratings_per_pair=2).minutes_each
    120.0
    """

    pairs: int
    raters: int = 1
    ratings_per_pair: int = 1
    seconds: float = ASSUMED_SECONDS

    @property
    def ratings(self) -> int:
        """How many grades are given in all."""
        return self.pairs * self.ratings_per_pair

    @property
    def minutes(self) -> float:
        """What all raters spend together."""
        return self.ratings * self.seconds / 60

    @property
    def minutes_each(self) -> float:
        """What each of them spends, where they share alike."""
        return self.minutes / self.raters

    def as_json(self) -> dict[str, Any]:
        """The minutes, and what they rest on."""
        return {
            "ratings": self.ratings,
            "raters": self.raters,
            "ratings_per_pair": self.ratings_per_pair,
            "seconds_per_rating": self.seconds,
            "minutes": self.minutes,
            "minutes_per_rater": self.minutes_each,
        }
