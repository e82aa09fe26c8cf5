"""Declaration of a text metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextMetric:
    """Declaration of a text metric.

    Parameters
    ----------
    name, title, description : str
        The name that users type, its readable form, and a line about its meaning.
    formula, source : str
        The definition for one answer, and its source.
    score : callable
        ``score(answer, accepted) -> float`` from 0 to 1: the best over the accepted answers; without accepted answers,
        the correct answer is empty.
    """

    name: str
    title: str
    description: str
    formula: str
    source: str
    score: Callable[[str, Sequence[str]], float]
