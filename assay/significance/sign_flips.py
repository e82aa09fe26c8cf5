"""Random sign flips, and counts of the draws in which two runs differ at least as much as observed.

All draws come from one seeded generator, in blocks whose size depends only on the number of queries. Each block is
summed by one thread and hits are counted in whole numbers: the same seed gives the same p on any number of
processors, for every run and every metric.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Pairs = Sequence[tuple[int, int]]
Work = TypeVar("Work")
Result = TypeVar("Result")

BLOCK_ROWS = 16_384
# A block of signs takes at most 8 MB, so that the blocks of all processors fit in their shared cache.
BLOCK_CELLS = 1 << 20
# Number of draws to count at a time, so that the row of a run stays in a processor's own cache.
COUNTED_AT_ONCE = 16_384
# Minimum number of pairs for a separate thread.
PAIRS_PER_THREAD = 32


def block_sizes(queries: int, draws: int) -> Iterator[int]:
    """Yield the number of draws in each block.

    Examples
    --------
    >>> list(block_sizes(50, 40_000))
    [16384, 16384, 7232]
    """
    rows = max(1, min(BLOCK_ROWS, BLOCK_CELLS // max(queries, 1)))
    yield from (min(rows, draws - begin) for begin in range(0, draws, rows))


def random_bytes(queries: int, draws: int, seed: int) -> Iterator[Bytes]:
    """Yield blocks, shape (draws, bytes), with a fair bit for each query."""
    random = np.random.default_rng(seed)
    width = (queries + 7) // 8
    for rows in block_sizes(queries, draws):
        yield np.frombuffer(random.bytes(rows * width), dtype=np.uint8).reshape(rows, width)


def signs_of(drawn: Bytes, queries: int) -> Floats:
    """Convert bits to signs -1 and 1, shape (draws, queries).

    Examples
    --------
    >>> signs_of(np.array([[0b01100000]], dtype=np.uint8), 4).tolist()
    [[-1.0, 1.0, 1.0, -1.0]]
    """
    # A table gives eight signs per byte, which is several times faster than unpacking and scaling bits.
    signs = EIGHT_SIGNS.take(drawn, axis=0, mode="clip")
    return signs.reshape(len(drawn), drawn.shape[1] * 8)[:, :queries]


def all_signs(queries: int) -> Iterator[Floats]:
    """Yield the 2^(queries - 1) patterns in which the last query keeps its sign. The other half mirrors them, and a
    two-sided test counts both halves equally.

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


def count_hits(draws: Iterable[Work], sums: Callable[[Work], Floats], pairs: Pairs, limits: Floats) -> Whole:
    """Count for each pair the draws that put its runs at least as far apart as its limit.

    Parameters
    ----------
    draws : iterable
        Blocks of draws, in any form that ``sums`` takes.
    sums : callable
        Converts a block to float64 of shape (draws, runs): the sum of each run for each draw. Called from several
        threads.
    pairs : sequence of (int, int)
        Columns of the runs.
    limits : float64 array, shape (pairs,)
        The minimum distance of a hit.

    Returns
    -------
    int64 array, shape (pairs,)
        Whole numbers, which do not depend on the order of the threads.

    Examples
    --------
    >>> drawn = [np.array([[0.0, 2.0], [3.0, 0.0], [1.0, 1.5]])]
    >>> count_hits(drawn, lambda block: block, [(0, 1)], np.array([2.0])).tolist()
    [2]
    """
    hits = np.zeros(len(pairs), dtype=np.int64)
    workers = processors()
    shares = min(workers, max(1, len(pairs) // PAIRS_PER_THREAD))
    with ThreadPoolExecutor(workers) as threads, ONE_THREAD_A_PRODUCT:
        for slab in _slabs(_mapped(threads, sums, draws, workers)):
            counted = [threads.submit(_count, slab, pairs, limits, hits, first, shares) for first in range(shares)]
            for share in counted:
                share.result()
    return hits


def _count(slab: Floats, pairs: Pairs, limits: Floats, hits: Whole, first: int, step: int) -> None:
    room, reached = np.empty(slab.shape[1]), np.empty(slab.shape[1], dtype=np.bool_)
    for at in range(first, len(pairs), step):
        one, other = pairs[at]
        np.subtract(slab[other], slab[one], out=room)
        np.abs(room, out=room)
        np.greater_equal(room, limits[at], out=reached)
        hits[at] += np.count_nonzero(reached)


def _mapped(
    threads: ThreadPoolExecutor, act: Callable[[Work], Result], work: Iterable[Work], workers: int
) -> Iterator[Result]:
    """Process a few blocks at a time, in order, to limit memory use."""
    left = iter(work)
    while batch := list(islice(left, 2 * workers)):
        yield from threads.map(act, batch)


def _slabs(sums: Iterable[Floats]) -> Iterator[Floats]:
    """Collect blocks of shape (draws, runs) into slabs of shape (runs, draws), with a row per run."""
    slab: Floats | None = None
    filled = 0
    for block in sums:
        if slab is None:
            slab = np.empty((block.shape[1], COUNTED_AT_ONCE))
        for begin in range(0, len(block), COUNTED_AT_ONCE):
            part = block[begin : begin + COUNTED_AT_ONCE]
            if filled + len(part) > COUNTED_AT_ONCE:
                yield slab[:, :filled]
                filled = 0
            slab[:, filled : filled + len(part)] = part.T
            filled += len(part)
    if slab is not None and filled:
        yield slab[:, :filled]


def in_parallel(act: Callable[[Work], Result], work: Iterable[Work]) -> list[Result]:
    """Do independent pieces of work on all processors; yield the results in order."""
    with ThreadPoolExecutor(processors()) as threads:
        return list(threads.map(act, work))


def processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class _OneThreadAProduct:
    """Run every matrix product in the calling thread while this context is active. Our threads already work on
    blocks of draws. Additional threads within each product would wait for each other, which is several times slower
    on a busy machine, and their number would affect how sums are rounded.
    """

    # The limit applies to the whole process: the first user sets it, and the last user removes it.
    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = _blas_limit()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._limit is not None:
                self._limit.restore_original_limits()


def _blas_limit() -> Any:
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        # It is installed with scikit-learn; without it, products use more threads and only take more time.
        return None
    return threadpool_limits(1, "blas")


def _signs(bits: npt.NDArray[np.integer[Any]]) -> Floats:
    signs = bits.astype(np.float64)
    signs *= 2
    signs -= 1
    return signs


EIGHT_SIGNS = _signs(np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1))
ONE_THREAD_A_PRODUCT = _OneThreadAProduct()
