"""Similarity of two runs: the overlap of their first documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.run import Run
from assay.core.text_column import Keys, Places

DEPTH = 10
PERSISTENCE = 0.9


@dataclass(frozen=True)
class Tops:
    """The first documents of some queries, as numbers."""

    keys: Keys
    sizes: Places


@dataclass(frozen=True)
class Likeness:
    """The similarity of two runs, over the queries that either answers; None if there is no such query."""

    jaccard: float | None
    rbo: float | None
    same: int
    queries: int


def tops(run: Run, query_ids: Sequence[str], depth: int = DEPTH) -> Tops:
    """Return the first documents of these queries; none for a query that the run does not answer."""
    keys = np.zeros((len(query_ids), depth), dtype=np.uint64)
    sizes = np.zeros(len(query_ids), dtype=np.int64)
    place = {query_id: at for at, query_id in enumerate(run.query_ids)}
    positions = np.array([place.get(query_id, -1) for query_id in query_ids], dtype=np.int64)
    here = np.flatnonzero(positions >= 0)
    starts = run.offsets[positions[here]]
    sizes[here] = np.minimum(run.offsets[positions[here] + 1] - starts, depth)
    for rank in range(depth):
        rows = here[sizes[here] > rank]
        keys[rows, rank] = run.doc_ids.take(run.offsets[positions[rows]] + rank).keys()
    return Tops(keys, sizes)


def likeness(one: Tops, other: Tops, p: float = PERSISTENCE) -> Likeness:
    """Compare two runs query by query.

    Examples
    --------
    >>> first = Run.from_dict({"q1": {"d1": 3, "d2": 2}})
    >>> second = Run.from_dict({"q1": {"d2": 3, "d1": 2}})
    >>> found = likeness(tops(first, ["q1"]), tops(second, ["q1"]))
    >>> found.jaccard, round(found.rbo, 2), found.same
    (1.0, 0.9, 0)
    """
    longest = np.maximum(one.sizes, other.sizes)
    answered = np.flatnonzero(longest)
    if not len(answered):
        return Likeness(None, None, 0, 0)
    shared = _shared(one, other, answered)
    sizes, others, ends = one.sizes[answered], other.sizes[answered], longest[answered]
    both = shared[:, -1]
    jaccard = both / (sizes + others - both)
    depth = np.arange(1, shared.shape[1] + 1)
    agreement = 2 * shared / (np.minimum.outer(sizes, depth) + np.minimum.outer(others, depth))
    weights = np.where(depth <= ends[:, None], p**depth, 0.0)
    last = agreement[np.arange(len(ends)), ends - 1]
    rbo = last * p**ends + (1 - p) / p * (agreement * weights).sum(axis=1)
    same = (one.keys[answered] == other.keys[answered]).all(axis=1)
    return Likeness(float(jaccard.mean()), float(rbo.mean()), int(np.count_nonzero(same)), len(answered))


def _shared(one: Tops, other: Tops, queries: Places) -> npt.NDArray[np.int64]:
    """Return the number of common documents among the first d of both, shape (queries, depth)."""
    left, right = one.keys[queries], other.keys[queries]
    depth = left.shape[1]
    rank = np.arange(depth)
    inside = (rank < one.sizes[queries, None])[:, :, None] & (rank < other.sizes[queries, None])[:, None, :]
    equal = (left[:, :, None] == right[:, None, :]) & inside
    # A document counts from the rank at which both have it.
    at = np.maximum(rank[:, None], rank[None, :])
    new = np.stack([equal[:, at == d].sum(axis=1) for d in range(depth)], axis=1)
    return np.cumsum(new, axis=1)
