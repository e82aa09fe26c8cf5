"""Short names for charts that stay distinguishable."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

LONGEST_NAME = 13


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Cut a name in its middle so that it fits next to its bar; run names often differ only at the end."""
    tail = max(1, (longest - 1) * 5 // 12)
    return name if len(name) <= longest else f"{name[: longest - 1 - tail]}…{name[-tail:]}"


def short_names(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Cut the names of one chart so that they fit; where they would become equal, drop their common beginning and
    end."""
    cut = [short_name(name, longest) for name in names]
    if len(set(cut)) == len(set(names)):
        return cut
    begin = _alike(names)
    end = _alike([name[begin:][::-1] for name in names])
    shortened = [f"{'…' * bool(begin)}{name[begin : len(name) - end]}{'…' * bool(end)}" for name in names]
    return [short_name(name, longest) for name in shortened]


def _alike(names: Sequence[str]) -> int:
    """Return the length of the common beginning, in whole words."""
    place = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False)))
    while place and names[0][place - 1].isalnum():
        place -= 1
    return place
