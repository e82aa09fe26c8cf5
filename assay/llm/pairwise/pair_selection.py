"""Random cycles: choose the battles of a query where comparing all pairs would be too expensive.

A cycle arranges the documents in a random ring and compares neighbors, so that every document has two battles and all
documents are connected. A few cycles give almost as much information as all pairs.
"""

from __future__ import annotations

import numpy as np

from assay.core.counted_nouns import amount
from assay.core.errors import NotValid


def draw_pairs(documents: int, cycles: int = 4, *, seed: int) -> list[tuple[int, int]]:
    """Draw the distinct pairs of several random cycles.

    Examples
    --------
    >>> draw_pairs(1, seed=1), len(draw_pairs(2, seed=1)), len(draw_pairs(25, 4, seed=1)) <= 100
    ([], 1, True)
    """
    if documents < 0 or cycles < 1:
        raise NotValid(f"cannot draw {amount(documents, 'document')} in {cycles} cycles; use at least one cycle")
    rng = np.random.default_rng(seed)
    seen: dict[tuple[int, int], tuple[int, int]] = {}
    for _ in range(cycles if documents > 1 else 0):
        order = rng.permutation(documents).tolist()
        for first, second in zip(order, [*order[1:], order[0]], strict=True):
            seen.setdefault((min(first, second), max(first, second)), (first, second))
    return list(seen.values())


def swapped(pairs: int, share: float, *, seed: int) -> tuple[list[bool], list[bool]]:
    """Return which battles are shown in reverse order, and which in both orders.

    Examples
    --------
    >>> other, both = swapped(10, 0.2, seed=3)
    >>> len(other), sum(both)
    (10, 2)
    """
    if not 0 <= share <= 1:
        raise NotValid(f"the share shown in both orders is {share:g}; use a number from 0 to 1")
    rng = np.random.default_rng(seed)
    other = rng.random(pairs) < 0.5
    both = np.zeros(pairs, dtype=bool)
    both[rng.permutation(pairs)[: round(share * pairs)]] = True
    return other.tolist(), both.tolist()
