"""Grouping of queries with similar depth, so that computations step down the ranks for all of them at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from assay.core.grouping import spans

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Columns with this many cells fit in the processor cache.
CELLS = 1 << 17


def alike(depths: Integers) -> Iterator[Integers]:
    """Yield the positions of queries of similar depth in parts of limited size, ascending within each part, so that a
    long list does not pad all others with empty ranks.

    Examples
    --------
    >>> [places.tolist() for places in alike(np.array([3, 1 << 20, 2]))]
    [[0, 2], [1]]
    """
    if len(depths) * int(depths.max(initial=0)) <= CELLS:
        if len(depths):
            yield np.arange(len(depths))
        return
    order = np.argsort(depths, kind="stable")
    begin = 0
    while begin < len(order):
        room = np.searchsorted(depths[order[begin:]] * np.arange(1, len(order) - begin + 1), CELLS, side="right")
        end = begin + max(1, int(room))
        yield np.sort(order[begin:end])
        begin = end


def combined_above(combine: np.ufunc, values: Floats, offsets: Integers) -> Floats:
    """Combine, for each value, all values above it in its query, from the top.

    Parameters
    ----------
    combine : numpy.ufunc
        ``np.add`` for a sum, ``np.multiply`` for a product; its identity represents nothing above.
    values : float64 array
        The values of all queries, concatenated.
    offsets : int64 array, shape (queries + 1,)
        The start of each query.

    Returns
    -------
    float64 array
        In the order of ``values``. The results of a query do not depend on other queries.

    Examples
    --------
    >>> combined_above(np.add, np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, 3, 3, 4])).tolist()
    [0.0, 1.0, 3.0, 0.0]
    """
    counts = np.diff(offsets)
    combined = np.empty(len(values))
    for places in alike(counts):
        sizes = counts[places]
        rows = slice(None) if len(places) == len(counts) else spans(offsets[places], sizes)
        cells = spans(np.arange(len(places)) * (int(sizes.max()) + 1), sizes)
        columns = np.full((len(places), int(sizes.max()) + 1), combine.identity, dtype=np.float64)
        flat = columns.reshape(-1)
        flat[cells + 1] = values[rows]
        combine.accumulate(columns, axis=1, out=columns)
        combined[rows] = flat[cells]
    return combined
