"""Draw pairs graded by people as examples for a model's prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Pair = TypeVar("Pair")


def draw(pairs: Sequence[Pair], most: int, *, grade: Callable[[Pair], int], seed: int) -> list[Pair]:
    """Draw examples, spread over the grades as evenly as possible.

    Examples
    --------
    >>> draw([("a", 0), ("b", 0), ("c", 0), ("d", 3)], 2, grade=lambda pair: pair[1], seed=1)[1]
    ('d', 3)
    """
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(pairs))
    by_grade: dict[int, list[Pair]] = {}
    for place in order:
        by_grade.setdefault(grade(pairs[place]), []).append(pairs[place])
    examples: list[Pair] = []
    while len(examples) < most and any(by_grade.values()):
        for value in sorted(by_grade):
            if by_grade[value] and len(examples) < most:
                examples.append(by_grade[value].pop(0))
    return sorted(examples, key=grade)
