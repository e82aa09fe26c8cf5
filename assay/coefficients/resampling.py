"""Bootstrap draws of queries, and the resampled sums.

As many queries as there are are drawn with replacement, each with all its pairs: grades within a query depend on each
other, so drawing single pairs would make the interval too narrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from assay.coefficients.grade_patterns import TABLE, Floats, Ints

# Number of queries drawn at once, over all draws of a block: as many as fit in the processor cache.
BLOCK = 1_000_000
# Number of cached draw counts: one byte each, because nothing is drawn 256 times.
MOST_CACHED = 8_000_000


def draws(size: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Draw `size` items out of `size` with replacement, repeatedly.

    Yields
    ------
    array, shape (some draws, size)
        How often each item was drawn; depends only on the size and seed.

    Examples
    --------
    >>> sum(len(block) for block in draws(5, 30, seed=1)), next(draws(5, 2, seed=1)).sum(axis=1).tolist()
    (30, [5.0, 5.0])
    """
    if size * resamples > MOST_CACHED:
        yield from (block.astype(np.float64) for block in _drawn(size, resamples, seed))
        return
    # A report uses the same draws for each coefficient.
    yield from (block.astype(np.float64) for block in _cached_draws(size, resamples, seed))


@lru_cache(maxsize=1)
def _cached_draws(size: int, resamples: int, seed: int) -> tuple[npt.NDArray[np.unsignedinteger], ...]:
    """Return the draws in the smallest sufficient integer type."""
    return tuple(block.astype(np.min_scalar_type(int(block.max()))) for block in _drawn(size, resamples, seed))


def _drawn(size: int, resamples: int, seed: int) -> Iterator[Ints]:
    random = np.random.default_rng(seed)
    rows = max(1, BLOCK // max(size, 1))
    for done in range(0, resamples if size else 0, rows):
        now = min(rows, resamples - done)
        drawn = random.integers(0, size, size=(now, size), dtype=np.int32)
        drawn += (np.arange(now, dtype=np.int32) * size)[:, None]
        yield np.bincount(drawn.reshape(-1), minlength=now * size).reshape(now, size)


def resampled(sums: Floats, resamples: int, seed: int) -> Floats:
    """Sum the rows of each draw: from (clusters, p) to (resamples, p)."""
    blocks = [block @ sums for block in draws(len(sums), resamples, seed)]
    return np.concatenate(blocks) if blocks else np.zeros((0, sums.shape[1]))


def redrawn(parts: Floats, times: Floats, resamples: int, seed: int) -> Floats:
    """Draw single units if there are no clusters; equal units are counted by pattern."""
    units = int(times.sum())
    if not units:
        return np.zeros((0, parts.shape[1]))
    drawn = np.random.default_rng(seed).multinomial(units, times / times.sum(), size=resamples)
    return np.asarray(drawn.astype(np.float64) @ parts)


def cluster_codes(clusters: npt.ArrayLike | None) -> Ints | None:
    """Number the clusters; None if there are none or only one."""
    if clusters is None:
        return None
    given = np.asarray(clusters)
    if given.dtype.kind in "iu" and len(given) and given.min() >= 0 and given.max() <= 4 * len(given) + 1024:
        present = np.bincount(given) > 0
        codes = (np.cumsum(present) - 1)[given]
    else:
        codes = np.unique(given, return_inverse=True)[1]
    return codes.astype(np.int64) if len(codes) and codes.max() > 0 else None


def cluster_sums(parts: Floats, of_unit: Ints, codes: Ints) -> Floats:
    """Sum the parts of the units of each cluster."""
    clusters, patterns = int(codes.max()) + 1 if len(codes) else 0, len(parts)
    keys = codes * patterns + of_unit
    if clusters * patterns <= TABLE:
        table = np.bincount(keys, minlength=clusters * patterns).reshape(clusters, patterns)
        return np.asarray(table.astype(np.float64) @ parts)
    cells, times = np.unique(keys, return_counts=True)
    cluster, added = cells // patterns, parts[cells % patterns] * times[:, None]
    return np.column_stack([np.bincount(cluster, weights=column, minlength=clusters) for column in added.T])
