"""Declaration of a text metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextMetric:
    """Declaration of one text metric.

    Parameters
    ----------
    name, title, description : str
        The name that users type, its readable form, and one line on what it tells.
    formula, source : str
        The definition for one answer, and where it comes from.
    score : callable
        ``score(answer, accepted) -> float`` from 0 to 1: the best over the accepted answers; no accepted answer means
        that the right answer is none.
    """

    name: str
    title: str
    description: str
    formula: str
    source: str
    score: Callable[[str, Sequence[str]], float]
