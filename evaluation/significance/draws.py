"""How are signs flipped and queries drawn again?

All draws come from one seeded generator, in blocks whose size hangs on the number of queries alone: the same seed gives
the same draws on any machine, for every run and every metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

BLOCK_ROWS = 20_000
BLOCK_CELLS = 1 << 22


def block_sizes(queries: int, draws: int) -> Iterator[int]:
    """Yield how many draws each block holds.

    Examples
    --------
    >>> list(block_sizes(50, 45_000))
    [20000, 20000, 5000]
    """
    rows = max(1, min(BLOCK_ROWS, BLOCK_CELLS // max(queries, 1)))
    yield from (min(rows, draws - begin) for begin in range(0, draws, rows))


def random_signs(queries: int, draws: int, seed: int) -> Iterator[Floats]:
    """Yield blocks, shape (draws, queries), of fair signs -1 and 1."""
    random = np.random.default_rng(seed)
    width = (queries + 7) // 8
    for rows in block_sizes(queries, draws):
        packed = np.frombuffer(random.bytes(rows * width), dtype=np.uint8).reshape(rows, width)
        yield _signs(np.unpackbits(packed, axis=1, count=queries))


def all_signs(queries: int) -> Iterator[Floats]:
    """Yield the 2^(queries - 1) patterns in which the last query keeps its sign.

    The other half mirrors them: a two-sided test counts both halves alike.

    Examples
    --------
    >>> next(all_signs(2)).tolist()
    [[-1.0, 1.0], [1.0, 1.0]]
    """
    patterns = 1 << (queries - 1)
    begin = 0
    for rows in block_sizes(queries, patterns):
        numbers = np.arange(begin, begin + rows) + patterns
        yield _signs((numbers[:, None] >> np.arange(queries)) & 1)
        begin += rows


def resampled_counts(queries: int, draws: int, seed: int) -> Iterator[Floats]:
    """Yield blocks, shape (draws, queries): how often each query is drawn, with replacement, as many as there are."""
    random = np.random.default_rng(seed)
    for rows in block_sizes(queries, draws):
        drawn = random.integers(0, queries, (rows, queries))
        cells = (drawn + np.arange(rows)[:, None] * queries).ravel()
        yield np.bincount(cells, minlength=rows * queries).reshape(rows, queries).astype(np.float64)


def _signs(bits: npt.NDArray[np.integer[Any]]) -> Floats:
    signs = bits.astype(np.float64)
    signs *= 2
    signs -= 1
    return signs
