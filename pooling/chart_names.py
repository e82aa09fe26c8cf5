"""Short names for charts: cut to fit, and still distinguishable."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

LONGEST_NAME = 13


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """A name cut in its middle so that it fits beside its bar: names of runs differ at the end as often as not.

    Examples
    --------
    >>> short("bm25"), short("bm25-with-synonyms-12"), short("rater-21", 5)
    ('bm25', 'bm25-wi…ms-12', 'rat…1')
    """
    tail = max(1, (longest - 1) * 5 // 12)
    return name if len(name) <= longest else f"{name[: longest - 1 - tail]}…{name[-tail:]}"


def shorts(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Names of one picture cut so that they fit; where they would then be alike, what all begin and end with goes.

    Examples
    --------
    >>> shorts(["bm25", "neural"]), shorts(["system-20-with-a-long-name", "system-41-with-a-long-name"])
    (['bm25', 'neural'], ['…20…', '…41…'])
    """
    cut = [short(name, longest) for name in names]
    if len(set(cut)) == len(set(names)):
        return cut
    begin = _alike(names)
    end = _alike([name[begin:][::-1] for name in names])
    told = [f"{'…' * bool(begin)}{name[begin : len(name) - end]}{'…' * bool(end)}" for name in names]
    return [short(name, longest) for name in told]


def _alike(names: Sequence[str]) -> int:
    """How many letters all names begin with, whole words only."""
    place = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False)))
    while place and names[0][place - 1].isalnum():
        place -= 1
    return place
