"""Estimate of the relevant documents that judging missed, with its interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# How the estimate was made.
RESIDUAL, CURVE = "residual", "curve"
LEVEL = 0.95


@dataclass(frozen=True)
class Missed:
    """The estimated number of unjudged relevant documents that the runs return."""

    value: float | None
    low: float | None
    high: float | None
    method: str
    found: int
    unjudged: int
    queries: int
    level: float = LEVEL
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def share_found(self) -> float | None:
        """Return the estimated share found of all relevant documents that the runs return.

        Examples
        --------
        >>> Missed(50.0, 20.0, 90.0, RESIDUAL, 150, 4000, 40).share_found
        0.75
        """
        if self.value is None or not self.found + self.value:
            return None
        return self.found / (self.found + self.value)

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self) | {"share_found": self.share_found, "notes": list(self.notes)}
