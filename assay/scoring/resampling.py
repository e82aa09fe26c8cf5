"""Bootstrap resamples of the queries, and the mean of each resample.

All draws come from one seeded generator, in blocks whose size depends only on the number of queries: the same seed
gives the same draws on any machine, for every run and every metric.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

# A block of counts takes 32 MB, so that there are few matrix products, whose threads are inefficient for small blocks.
BLOCK_CELLS = 1 << 22
# Number of draws at once: three tables of this size fit in the processor cache.
DRAW_CELLS = 1 << 20


def resampled_counts(sizes: Sequence[int], resamples: int, seed: int) -> Iterator[Floats]:
    """Yield how often each query is drawn, with replacement, as many from each stratum as it contains.

    Examples
    --------
    >>> (counts,) = resampled_counts([2, 3], resamples=4, seed=0)
    >>> counts[:, :2].sum(axis=1).tolist(), counts[:, 2:].sum(axis=1).tolist()
    ([2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0])
    """
    queries = max(sum(sizes), 1)
    random = np.random.default_rng(seed)
    at_once = max(1, DRAW_CELLS // queries)
    most = at_once * (BLOCK_CELLS // DRAW_CELLS)
    block = np.empty((min(most, resamples), queries))
    for begin in range(0, resamples, most):
        rows = min(most, resamples - begin)
        for first in range(0, rows, at_once):
            part = block[first : min(first + at_once, rows)]
            part[:] = _drawn(sizes, len(part), random)
        yield block[:rows]


def _drawn(sizes: Sequence[int], rows: int, random: np.random.Generator) -> Places:
    queries = sum(sizes)
    cells = np.empty((rows, queries), dtype=np.int64)
    row_starts = (np.arange(rows, dtype=np.int64) * queries)[:, None]
    first = 0
    for size in sizes:
        inside = cells[:, first : first + size]
        inside[:] = random.integers(0, size, (rows, size), dtype=np.uint32)
        inside += row_starts + first
        first += size
    return np.bincount(cells.ravel(), minlength=rows * queries).reshape(rows, queries)


def resampled_means(
    values: Floats, centers: Floats, weights: Floats, strata: Sequence[Places], *, resamples: int, seed: int
) -> Floats:
    """Compute the weighted mean of every column in every resample, with one matrix product per block."""
    order = np.concatenate(list(strata))
    present = ~np.isnan(values[order])
    weight = weights[order, None]
    distances = np.where(present, weight * (values[order] - centers), 0.0)
    # Columns that lack the same queries share their totals; usually there is one such pattern.
    seen: dict[bytes, int] = {}
    pattern_of = [seen.setdefault(column.tobytes(), len(seen)) for column in present.T]
    patterns = present[:, [pattern_of.index(pattern) for pattern in range(len(seen))]]
    # One product gives the sums, followed by the total weights.
    factors = np.hstack([distances, patterns * weight])
    columns = values.shape[1]
    means = np.empty((resamples, columns))
    begin = 0
    for counts in resampled_counts([len(rows) for rows in strata], resamples, seed):
        sums = counts @ factors
        totals = sums[:, columns:][:, pattern_of]
        with np.errstate(invalid="ignore"):
            np.divide(sums[:, :columns], totals, out=means[begin : begin + len(counts)])
        begin += len(counts)
    means += centers
    return means
