"""Estimate of the relevant documents that judging missed, with its interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# How the estimate was made.
RESIDUAL, CURVE = "residual", "curve"
LEVEL = 0.95


@dataclass(frozen=True)
class Missed:
    """The estimated number of unjudged relevant documents that the runs return.

    Parameters
    ----------
    value, low, high : float or None
        The estimate and its interval; None exactly if ``reason`` is set.
    method : str
        ``residual``: from a random sample of the unjudged documents. ``curve``: from how relevant documents become
        rarer with depth, which is an assumption.
    found : int
        Number of judged relevant documents within the scope of the estimate.
    unjudged : int
        Number of unjudged pairs within the scope of the estimate.
    queries : int
        Number of queries.
    level : float
        Coverage of the interval.
    reason : str or None
        Why there is no estimate.
    notes : tuple of str
        Sentences about the limits of the estimate.
    """

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
