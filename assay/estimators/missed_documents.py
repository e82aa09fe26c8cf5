"""Estimate of the relevant documents that judging missed, with its interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# How the estimate was made.
RESIDUAL, CURVE = "residual", "curve"
LEVEL = 0.95


@dataclass(frozen=True)
class Missed:
    """How many unjudged relevant documents the runs return.

    Parameters
    ----------
    value, low, high : float or None
        The estimate and its interval; None exactly where ``reason`` says why.
    method : str
        ``residual``: from a random sample of what was left unjudged. ``curve``: from how relevant documents get rarer
        with depth, which is an assumption.
    found : int
        Relevant documents that are judged and that the estimate refers to.
    unjudged : int
        Unjudged pairs that it refers to: among these are the missed ones.
    queries : int
        Over how many queries.
    level : float
        Coverage of the interval.
    reason : str or None
        Why there is no estimate.
    notes : tuple of str
        What limits it, each a sentence.
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
        """Return which share of all relevant documents that the runs return was found, by the estimate.

        Examples
        --------
        >>> Missed(50.0, 20.0, 90.0, RESIDUAL, 150, 4000, 40).share_found
        0.75
        """
        if self.value is None or not self.found + self.value:
            return None
        return self.found / (self.found + self.value)

    def as_json(self) -> dict[str, Any]:
        """Return plain numbers under plain names."""
        return asdict(self) | {"share_found": self.share_found, "notes": list(self.notes)}
