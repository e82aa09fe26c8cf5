"""Interface of a drafter: the facts it takes about a query and the narrative it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# What stands in a draft where only a person knows more. A narrative that still holds it is not finished.
GAP = "[fill in:"


@dataclass(frozen=True)
class Need:
    """Known facts about a query.

    Parameters
    ----------
    query : str
        What was typed.
    spellings : tuple of str
        How else people type it, most frequent first.
    titles : tuple of str
        What documents are called that systems return first for it.
    """

    query: str
    spellings: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drafter:
    """Declaration of a drafter.

    Parameters
    ----------
    name, title : str
        ``template``; what a page calls it.
    description : str
        One sentence.
    draft : callable
        From a need to a narrative that a person completes and confirms; raters see none before.
    """

    name: str
    title: str
    description: str
    draft: Callable[[Need], str]


def unfinished(text: str) -> bool:
    """Return whether a narrative still has a gap for a person to fill.

    Examples
    --------
    >>> unfinished("Somebody looks for [fill in: what]."), unfinished("A tent for two.")
    (True, False)
    """
    return GAP in text
