"""Which run returns which document at which rank, and how are equals put in order?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.core.run import Run

Ranks = dict[str, dict[str, tuple[tuple[str, int], ...]]]


def ranks_of(runs: Sequence[Run], depth: int | None = None) -> Ranks:
    """For every query and document, the runs that return it and where.

    Parameters
    ----------
    runs : sequence of Run
        Their order does not matter: they are taken by name.
    depth : int, optional
        Look at the first ``depth`` documents of each ranking; all of them by default.

    Returns
    -------
    dict of str to dict of str to tuple of (str, int)
        Query id to document id to ``(run name, rank from 1)``; queries in byte order.

    Raises
    ------
    NotValid
        When two runs have one name.
    """
    found: dict[str, dict[str, list[tuple[str, int]]]] = {}
    for run in by_name(runs):
        for query_id, (start, end) in zip(run.query_ids, pairwise(run.offsets.tolist()), strict=True):
            documents = found.setdefault(query_id, {})
            stop = end if depth is None else min(end, start + depth)
            for rank, doc_id in enumerate(run.doc_ids[start:stop], start=1):
                documents.setdefault(doc_id, []).append((run.name, rank))
    return {
        query_id: {doc_id: tuple(where) for doc_id, where in found[query_id].items()}
        for query_id in sorted(found, key=str.encode)
    }


def by_name(runs: Sequence[Run]) -> list[Run]:
    """The runs in the byte order of their names, so that a pool does not depend on the order of arguments."""
    ordered = sorted(runs, key=lambda run: run.name.encode())
    for one, other in pairwise(ordered):
        if one.name == other.name:
            raise NotValid(
                f"two runs are called {one.name!r}; give each run a name of its own", {"runs": "equal names"}
            )
    return ordered


def by_rank(rows: Iterable[tuple[str, str, float]], name: str) -> Run:
    """A run in the order of its rank column, for those who trust ranks more than scores.

    Parameters
    ----------
    rows : iterable of (query_id, doc_id, rank)
        As the file says; equal ranks fall back on trec_eval's rule for equal scores.
    name : str
        The run's name.

    Examples
    --------
    >>> by_rank([("q1", "d1", 1), ("q1", "d2", 2)], "bm25").ranking("q1")
    ['d1', 'd2']
    """
    from judgments.core.run import Run

    return Run.from_rows(((query_id, doc_id, -rank) for query_id, doc_id, rank in rows), name)


def best_rank(where: Iterable[tuple[str, int]]) -> int | None:
    """The smallest rank, or None when no run returns the document."""
    return min((rank for _, rank in where), default=None)


def lot(seed: int, *words: str) -> bytes:
    """A random draw that belongs to the words: equals are put in its order.

    It is a hash and no stream of random numbers, so that a pair keeps its lot when other pairs come or go.

    Examples
    --------
    >>> lot(1, "q1", "d1") == lot(1, "q1", "d1")
    True
    >>> lot(1, "q1", "d1") == lot(2, "q1", "d1")
    False
    """
    text = "\x1f".join((str(seed), *words))
    return hashlib.blake2b(text.encode(), digest_size=8).digest()
