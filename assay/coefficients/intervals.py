"""Bootstrap intervals of agreement coefficients, from draws of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from assay.coefficients.coefficient import (
    TABLE,
    Agreement,
    Coefficient,
    Floats,
    Ints,
    Patterns,
    degenerate,
    grade_codes,
    percent_agreement,
)

# Number of queries drawn at once, over all draws of a block: as many as fit in the processor cache.
BLOCK = 1_000_000
# Number of cached draw counts: one byte each, because nothing is drawn 256 times.
MOST_CACHED = 8_000_000


# As many queries as there are are drawn with replacement, each with all its pairs: grades within a query depend on
# each other, so drawing single pairs would make the interval too narrow.
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


CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Drawn:
    """Sums over all units and over each draw, sufficient for every coefficient with the same parts."""

    whole: Floats
    resampled: Floats


def drawn(
    parts: Floats, patterns: Patterns, clusters: npt.ArrayLike | None = None, *, resamples: int, seed: int
) -> Drawn:
    """Sum the parts of all units, and of the units of each draw of the clusters."""
    whole = patterns.times @ parts
    if not resamples:
        return Drawn(whole, np.zeros((0, parts.shape[1])))
    codes = cluster_codes(clusters)
    if codes is None:
        return Drawn(whole, redrawn(parts, patterns.times, resamples, seed))
    return Drawn(whole, resampled(cluster_sums(parts, patterns.of_unit, codes), resamples, seed))


def agreements(
    coefficients: Sequence[Coefficient],
    patterns: Patterns,
    values: Floats,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = 0,
    seed: int = 0,
) -> list[Agreement]:
    """Compute several coefficients of the same grades, all from the same draws."""
    queries = None if clusters is None else np.asarray(clusters)
    shared = patterns.shared()
    of_shared = None if queries is None else queries[(patterns.ratings >= 2)[patterns.of_unit]]
    basis = Agreement(
        None, None, int(shared.times.sum()), int(shared.times @ shared.ratings), percent_agreement(patterns)
    )
    known: dict[tuple[Callable[[Floats], Floats], bool], Drawn] = {}
    estimates = []
    for coefficient in coefficients:
        reason = degenerate(patterns, coefficient.equal_ratings)
        if reason is not None:
            estimates.append(replace(basis, reason=reason))
            continue
        key = (coefficient.parts, coefficient.singles)
        if key not in known:
            of, where = (patterns, queries) if coefficient.singles else (shared, of_shared)
            known[key] = drawn(coefficient.parts(of.rows), of, where, resamples=resamples, seed=seed)
        estimates.append(with_interval(basis, coefficient, known[key], values))
    return estimates


def agreement_of(
    coefficient: Coefficient,
    units: npt.ArrayLike,
    grades: npt.ArrayLike,
    values: npt.ArrayLike | None,
    clusters: npt.ArrayLike | None,
    *,
    resamples: int,
    seed: int,
) -> Agreement:
    """Compute a coefficient from grades in long form: a row for each grade, with its unit and cluster."""
    codes, scale = grade_codes(grades, values)
    unit, first = numbered(units)
    patterns = Patterns.of(unit, codes, len(first), max(len(scale), 1))
    where = None if clusters is None else np.asarray(clusters)[first]
    return agreements([coefficient], patterns, scale, where, resamples=resamples, seed=seed)[0]


def numbered(units: npt.ArrayLike) -> tuple[Ints, Ints]:
    """Number the units in ascending order: the number of each row, and the first row of each unit.

    Examples
    --------
    >>> [one.tolist() for one in numbered(["b", "a", "b"])]
    [[1, 0, 1], [1, 0]]
    """
    given = np.asarray(units)
    if given.ndim == 1 and len(given) and given.dtype.kind in "iu" and (np.diff(given) >= 0).all():
        starts = np.concatenate([[True], given[1:] != given[:-1]])
        return np.cumsum(starts) - 1, np.flatnonzero(starts)
    _, first, unit = np.unique(given, return_index=True, return_inverse=True)
    return unit.astype(np.int64), first.astype(np.int64)


def with_interval(basis: Agreement, coefficient: Coefficient, sums: Drawn, values: Floats) -> Agreement:
    """Compute the value and its percentile interval over the draws in which it is defined."""
    value = float(coefficient.value(sums.whole, values))
    return between(replace(basis, value=value), coefficient.value(sums.resampled, values))


def between(agreement: Agreement, values: Floats) -> Agreement:
    """Add the percentile interval over the draws; undefined draws are counted and left out."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return replace(agreement, undefined_resamples=len(values))
    low, high = np.quantile(defined, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return replace(agreement, low=float(low), high=float(high), undefined_resamples=len(values) - len(defined))
