"""Fields that all estimates of a mean from human and machine values have."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Self

LEVEL = 0.95
REASONS = {
    "too_few_units": "undefined because people judged fewer than three queries",
    "not_finite": "undefined because a value is missing or not finite",
}


class Interval(NamedTuple):
    """A mean with its interval."""

    mean: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """From the lower end to the upper one."""
        return self.high - self.low


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """A mean with its interval, and that of people alone next to it.

    Parameters
    ----------
    estimate, low, high : float or None
        The mean and its interval; None exactly where ``reason`` says why.
    human_only : Interval or None
        The mean of people's values alone, with Student's interval.
    correlation : float or None
        Between people's values and what the machine says; None if one of them never varies.
    queries, others : int
        Units judged by people and the machine, and by the machine alone.
    level : float
        Coverage of the intervals.
    reason : str or None
        A key of `REASONS`.
    """

    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    human_only: Interval | None = None
    correlation: float | None = None
    queries: int
    others: int
    level: float = LEVEL
    reason: str | None = None

    def within_bounds(self) -> Self:
        """Return the same of a mean that is between 0 and 1: what reaches beyond is cut, which costs no coverage."""
        if self.estimate is None or self.low is None or self.high is None or self.human_only is None:
            return self
        estimate, low, high = (min(1.0, max(0.0, value)) for value in (self.estimate, self.low, self.high))
        alone = Interval(*(min(1.0, max(0.0, value)) for value in self.human_only))
        return replace(self, estimate=estimate, low=low, high=high, human_only=alone)

    @property
    def width_ratio(self) -> float | None:
        """Return the width of the interval in that of people alone; below 1 the machine helped."""
        if self.low is None or self.high is None or self.human_only is None or not self.human_only.width:
            return None
        return (self.high - self.low) / self.human_only.width

    @property
    def queries_saved(self) -> int | None:
        """Return how many more units people would have to judge for an interval as narrow as this one."""
        ratio = self.width_ratio
        return None if ratio is None or ratio <= 0 else max(0, round(self.queries / ratio**2) - self.queries)

    def as_json(self) -> dict[str, Any]:
        """Return the shape of ``assay estimate --format json``, with ``--method stratified`` too."""
        human = None if self.human_only is None else self.human_only._asdict()
        return {**asdict(self), "human_only": human, "width_ratio": self.width_ratio, "saved": self.queries_saved}
