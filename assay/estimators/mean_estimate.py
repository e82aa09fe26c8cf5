"""Common fields of estimates of a mean from human and machine values."""

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
        """Return the width of the interval."""
        return self.high - self.low


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """A mean with its interval, and the human-only mean."""

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
        """Return the estimate limited to 0 to 1, which does not reduce the coverage."""
        if self.estimate is None or self.low is None or self.high is None or self.human_only is None:
            return self
        estimate, low, high = (min(1.0, max(0.0, value)) for value in (self.estimate, self.low, self.high))
        alone = Interval(*(min(1.0, max(0.0, value)) for value in self.human_only))
        return replace(self, estimate=estimate, low=low, high=high, human_only=alone)

    @property
    def width_ratio(self) -> float | None:
        """Return the width of the interval relative to the human-only interval; below 1, the machine helped."""
        if self.low is None or self.high is None or self.human_only is None or not self.human_only.width:
            return None
        return (self.high - self.low) / self.human_only.width

    @property
    def queries_saved(self) -> int | None:
        """Return how many more units people would have to judge for an interval of the same width."""
        ratio = self.width_ratio
        return None if ratio is None or ratio <= 0 else max(0, round(self.queries / ratio**2) - self.queries)

    def as_json(self) -> dict[str, Any]:
        """Return the content of ``assay estimate --format json``, also with ``--method stratified``."""
        human = None if self.human_only is None else self.human_only._asdict()
        return {**asdict(self), "human_only": human, "width_ratio": self.width_ratio, "saved": self.queries_saved}
