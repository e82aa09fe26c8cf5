"""Rating budget in pairs, and rating effort in hours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from assay.core.errors import NotValid
from assay.core.text_rules import amount

# The assumed duration of a rating until raters have been timed.
ASSUMED_SECONDS = 20.0
HOUR = 3600.0
# A larger value is a typing error, and so are less than a thousandth of a second.
MOST, LEAST = 1_000_000, 0.001


@dataclass(frozen=True, slots=True)
class Budget:
    """Hours of work, converted to pairs.

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
                message = f"{name} is {str(getattr(self, name))[:20]}. Use more than 0 and at most {MOST:,}."
                raise NotValid(message, name)
        if not self.pairs:
            message = (
                f"{self.hours:g} h for {amount(self.raters, 'rater')} at {self.seconds:g} s per rating is not enough "
                "for one pair. Add hours."
            )
            raise NotValid(message, "hours")

    @property
    def pairs(self) -> int:
        """Return the pairs that fit, as a whole number."""
        # A product of round numbers may come out slightly below the whole number that it is.
        return math.floor(self.hours * HOUR * self.raters / (self.seconds * self.ratings_per_pair) + 1e-9)

    def as_json(self) -> dict[str, Any]:
        """Return the calculation of the total as JSON values."""
        return {
            "hours": self.hours,
            "raters": self.raters,
            "ratings_per_pair": self.ratings_per_pair,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class Effort:
    """The work for a number of pairs.

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
        """Return the total number of grades."""
        return self.pairs * self.ratings_per_pair

    @property
    def minutes(self) -> float:
        """Return the minutes of all raters together."""
        return self.ratings * self.seconds / 60

    @property
    def minutes_each(self) -> float:
        """Return the minutes of each rater, with equal shares."""
        return self.minutes / self.raters

    def as_json(self) -> dict[str, Any]:
        """Return the minutes and their basis as JSON values."""
        return {
            "ratings": self.ratings,
            "raters": self.raters,
            "ratings_per_pair": self.ratings_per_pair,
            "seconds_per_rating": self.seconds,
            "minutes": self.minutes,
            "minutes_per_rater": self.minutes_each,
        }
