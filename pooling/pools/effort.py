"""Rating effort: the typical seconds per rating in a collection."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from assay.strategies.rating_budget import ASSUMED_SECONDS, Effort
from judgments.models import Collection, Judgment
from judgments.progress.progress import in_hours

ENOUGH = 20
LATEST = 1_000


@dataclass(frozen=True)
class Pace:
    """The typical seconds per rating, and the number of timed judgments behind them; 0 for an assumption."""

    seconds: float
    answers: int

    def cost(self, ratings: float) -> str:
        """Return the time for a number of ratings as text."""
        return in_hours(ratings * self.seconds)

    def of(self, pairs: int, *, raters: int, ratings_per_pair: int) -> dict[str, Any]:
        """Return the effort of a pool, per rater and in total, as text."""
        effort = Effort(pairs, raters, ratings_per_pair, self.seconds)
        words = {"each": in_hours(effort.minutes_each * 60), "in_all": in_hours(effort.minutes * 60)}
        return {**effort.as_json(), **words}

    @property
    def words(self) -> str:
        """Return the basis of the seconds as text."""
        if not self.answers:
            return f"assuming {self.seconds:.0f} s per rating; no timings yet"
        return f"at {self.seconds:.0f} s per rating, the median of the last {self.answers:,} in this collection"


def pace(collection: Collection) -> Pace:
    """Return the median time of the collection's latest grades; an assumption if there are fewer than 20."""
    timed = Judgment.objects.counted().filter(pair__round__collection=collection, seconds_active__gt=0)
    seconds = list(timed.order_by("-pk").values_list("seconds_active", flat=True)[:LATEST])
    return Pace(median(seconds), len(seconds)) if len(seconds) >= ENOUGH else Pace(ASSUMED_SECONDS, 0)
