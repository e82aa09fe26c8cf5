"""Query groups in a pool: judge each document once for all spellings of one need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from assay.strategies.candidates import Pair
from assay.strategies.chosen_pairs import RESIDUAL, Pool

Grade = TypeVar("Grade")
Groups = Iterable[Sequence[str]]


def spread(known: Mapping[Pair, Grade], groups: Groups) -> dict[Pair, Grade]:
    """Return the grades with those of each document copied to the other spellings; a spelling keeps its own grade.

    Examples
    --------
    >>> sorted(spread({("q1", "d1"): 2, ("q2", "d2"): 0}, [["q1", "q2"]]).items())
    [(('q1', 'd1'), 2), (('q1', 'd2'), 0), (('q2', 'd1'), 2), (('q2', 'd2'), 0)]
    """
    group_of = {query_id: queries for queries in groups for query_id in queries}
    spread_grades = dict(known)
    for (query_id, doc_id), grade in known.items():
        for other in group_of.get(query_id, ()):
            spread_grades.setdefault((other, doc_id), grade)
    return spread_grades


def once(pool: Pool, groups: Groups) -> Pool:
    """Return the pool with each document of a group under one spelling: where it ranks best, or the first in byte
    order. The residual stratum is unchanged, because its estimate for a query needs every draw."""
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
    first_of_key = np.ones(len(pool), dtype=bool)
    for at in order:
        key = (int(group[at]), texts[at])
        first_of_key[at] = key not in seen
        seen.add(key)
    copies = pool.copies
    standing = np.isin(copies.of, pool.rows[first_of_key])
    return replace(
        pool,
        rows=pool.rows[first_of_key],
        steps=pool.steps[first_of_key],
        reason_of=pool.reason_of[first_of_key],
        probabilities=pool.probabilities[first_of_key],
        copies=copies if standing.all() else copies.where(standing),
    )
