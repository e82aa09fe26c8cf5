"""Details of how a judgment was made, stored with it.

They help to explain times and grades later (an excerpt is read faster than a whole text) and affect nothing else.
Invalid values are therefore dropped and never cause an error.
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
# The number of earlier undos, and the position of the judgment in the session.
NUMBERS = ("undos", "place")
LARGEST = 1_000_000


def clean_interactions(submitted: Any) -> dict[str, Any]:
    """Return the submitted details without unknown names and invalid values."""
    if not isinstance(submitted, dict):
        return {}
    events: dict[str, Any] = {name: submitted[name] for name, known in CHOICES.items() if submitted.get(name) in known}
    events |= {name: submitted[name] for name in FLAGS if isinstance(submitted.get(name), bool)}
    return events | {name: submitted[name] for name in NUMBERS if _count(submitted.get(name))}


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
