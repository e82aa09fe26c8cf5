"""Query groups in a pool: judge each document once for all spellings of one need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from pooling.strategies.candidate_blocks import Pair
from pooling.strategies.chosen import RESIDUAL, Pool

Grade = TypeVar("Grade")
Groups = Iterable[Sequence[str]]


def spread(known: Mapping[Pair, Grade], groups: Groups) -> dict[Pair, Grade]:
    """What is known of a document for one spelling is known for all; what a spelling has itself stays.

    Examples
    --------
    >>> sorted(spread({("q1", "d1"): 2, ("q2", "d2"): 0}, [["q1", "q2"]]).items())
    [(('q1', 'd1'), 2), (('q1', 'd2'), 0), (('q2', 'd1'), 2), (('q2', 'd2'), 0)]
    """
    group_of = {query_id: queries for queries in groups for query_id in queries}
    found = dict(known)
    for (query_id, doc_id), grade in known.items():
        for other in group_of.get(query_id, ()):
            found.setdefault((other, doc_id), grade)
    return found


def once(pool: Pool, groups: Groups) -> Pool:
    """The pool with each document of a group at one spelling: where it ranks best, else the first in byte order.

    The residual stratum stays whole: what it tells of a query hangs on every draw being there.
    """
    table = pool.candidates
    code = {query_id: at for at, queries in enumerate(groups) for query_id in queries}
    if not code:
        return pool
    code_of = np.array([code.get(query_id, -1) for query_id in table.query_ids], dtype=np.int64)
    group = code_of[table.query_of[pool.rows]]
    chosen = np.array([why != RESIDUAL for why in pool.why])[pool.reason_of]
    inside = np.flatnonzero((group >= 0) & chosen)
    best = table.best_rank[pool.rows]
    # A pair that no run returns has rank 0, and comes last.
    order = sorted(inside.tolist(), key=lambda at: (best[at] == 0, best[at], at))
    texts = dict(zip(inside.tolist(), table.doc_ids.take(pool.rows[inside]).tolist(), strict=True))
    seen: set[tuple[int, str]] = set()
    kept = np.ones(len(pool), dtype=bool)
    for at in order:
        key = (int(group[at]), texts[at])
        kept[at] = key not in seen
        seen.add(key)
    copies = pool.copies
    standing = np.isin(copies.of, pool.rows[kept])
    return replace(
        pool,
        rows=pool.rows[kept],
        steps=pool.steps[kept],
        reason_of=pool.reason_of[kept],
        probabilities=pool.probabilities[kept],
        copies=copies if standing.all() else copies.where(standing),
    )
