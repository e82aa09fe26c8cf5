"""Details of how an answer was given, recorded beside it.

They explain times and grades afterwards (an excerpt is read faster than a whole text) and decide nothing. So values
that make no sense are dropped, and never reject an answer.
"""

from __future__ import annotations

from typing import Any

CHOICES = {
    "by": ("key", "click", "touch"),
    "view": ("one", "list"),
    "text": ("excerpt", "whole", "short"),
    "width": ("narrow", "middle", "wide"),
}
FLAGS = ("marks",)
# How often the answer was taken back before; the how many-th answer of the sitting it is.
NUMBERS = ("undos", "place")
LARGEST = 1_000_000


def sensible(sent: Any) -> dict[str, Any]:
    """What was sent, without everything that is not known or cannot be.

    Examples
    --------
    >>> sensible({"by": "key", "view": "three", "marks": True, "undos": 0, "place": -1, "rank": 3})
    {'by': 'key', 'marks': True, 'undos': 0}
    """
    if not isinstance(sent, dict):
        return {}
    kept: dict[str, Any] = {name: sent[name] for name, known in CHOICES.items() if sent.get(name) in known}
    kept |= {name: sent[name] for name in FLAGS if isinstance(sent.get(name), bool)}
    return kept | {name: sent[name] for name in NUMBERS if _count(sent.get(name))}


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
