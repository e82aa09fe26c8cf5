"""Interface of a drafter: its input about a query, and the narrative that it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Placeholder for facts that only a person knows. A narrative that still contains it is not finished.
GAP = "[fill in:"


@dataclass(frozen=True)
class Need:
    """Known facts about a query."""

    query: str
    spellings: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drafter:
    """Declaration of a drafter."""

    name: str
    title: str
    description: str
    draft: Callable[[Need], str]


def unfinished(text: str) -> bool:
    """Return whether a narrative still has a gap for a person to fill."""
    return GAP in text
