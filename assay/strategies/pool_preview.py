"""Preview of a pool: its size, its depth and each system's share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.text_column import Places, spans
from assay.strategies.chosen_pairs import RESIDUAL, Pool

# Two runs with this share of common pairs count as one system.
ALIKE = 0.8
# The number of differing systems above which the usual depth is too shallow, and the advised depth.
FEW, DEEPER = 3, (20, 50)
BLOCK = 100_000


@dataclass(frozen=True, slots=True)
class SystemShare:
    """One run's share of a pool."""

    name: str
    pairs: int
    unique: int


@dataclass(frozen=True, slots=True)
class Preview:
    """A summary of a pool."""

    pairs: int
    queries: int
    smallest: int
    middle: float
    largest: int
    in_all: int
    share_in_all: float | None
    reason: str
    systems: tuple[SystemShare, ...]
    by_best_rank: tuple[tuple[int | None, int], ...]
    residual: int
    shared: tuple[tuple[int, ...], ...] = ()
    differing: int = 0
    by_tier: tuple[tuple[str, int, int], ...] = ()
    groups: int = 0
    copies: int = 0


def preview(pool: Pool, tiers: Mapping[str, str] | None = None) -> Preview:
    """Return the summary of a pool."""
    table = pool.candidates
    chosen = pool.rows[pool.reason_of != pool.why.index(RESIDUAL)]
    brought = _brought(pool, chosen)
    run_counts = brought.sum(axis=1)
    by_run, alone = brought.sum(axis=0).tolist(), brought[run_counts == 1].sum(axis=0).tolist()
    shared = _shared(brought)
    counts = np.bincount(table.query_of[pool.rows], minlength=len(table.query_ids))
    per_query = counts[counts > 0].tolist()
    in_all = int(np.count_nonzero(run_counts == len(pool.runs))) if pool.runs else 0
    reason = _why_no_share(len(pool.runs), len(chosen))
    ranks = np.bincount(table.best_rank[chosen])
    counted = [(rank or None, int(ranks[rank])) for rank in np.flatnonzero(ranks).tolist()]
    return Preview(
        pairs=len(pool),
        queries=len(per_query),
        smallest=min(per_query, default=0),
        middle=float(median(per_query)) if per_query else 0.0,
        largest=max(per_query, default=0),
        in_all=in_all,
        share_in_all=None if reason else in_all / len(chosen),
        reason=reason,
        systems=tuple(
            SystemShare(name, pairs, unique) for name, pairs, unique in zip(pool.runs, by_run, alone, strict=True)
        ),
        by_best_rank=tuple(sorted(counted, key=lambda item: (item[0] is None, item[0] or 0))),
        residual=len(pool) - len(chosen),
        shared=shared,
        differing=_differing(shared),
        by_tier=_by_tier(dict(zip(table.query_ids, counts.tolist(), strict=True)), tiers or {}),
        groups=len(np.unique(pool.copies.of)),
        copies=len(pool.copies),
    )


def advised_depth(strategy: str, params: Mapping[str, Any], differing: int) -> tuple[int, int] | None:
    """Return the advised range of depths if more than three systems are distinct; None if this pool is deep enough.

    Examples
    --------
    >>> advised_depth("depth", {"depth": 10}, 5)
    (20, 50)
    """
    return DEEPER if strategy == "depth" and differing > FEW and params["depth"] < DEEPER[0] else None


def _brought(pool: Pool, chosen: Places) -> npt.NDArray[np.bool_]:
    """Return whether each run contributes each of these pairs, shape (pairs, runs)."""
    table = pool.candidates
    place = np.full(len(table), -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    rows = np.concatenate([chosen, pool.copies.rows])
    owner = np.concatenate([place[chosen], place[pool.copies.of]])
    counts = np.diff(table.begins)[rows]
    entries = spans(table.begins[:-1][rows], counts)
    owner = np.repeat(owner, counts)
    if depth := pool.params.get("depth"):
        near = table.ranks[entries] <= depth
        entries, owner = entries[near], owner[near]
    brought = np.zeros((len(chosen), len(table.run_names)), dtype=np.bool_)
    brought[owner, table.runs[entries]] = True
    return brought


def _shared(brought: npt.NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    """Return for each two runs the number of pairs of both; float64 holds these whole numbers exactly."""
    counts = np.zeros((brought.shape[1],) * 2)
    for begin in range(0, len(brought), BLOCK):
        some = brought[begin : begin + BLOCK].astype(np.float64)
        counts += some.T @ some
    return tuple(tuple(row) for row in counts.astype(np.int64).tolist())


def _differing(shared: Sequence[Sequence[int]]) -> int:
    """Return the number of systems after merging similar runs; runs without a pair do not count."""
    there = [at for at, row in enumerate(shared) if row[at]]
    first = {at: at for at in there}
    for at in there:
        for other in there:
            if other < at and 2 * shared[at][other] >= ALIKE * (shared[at][at] + shared[other][other]):
                one, two = first[at], first[other]
                first = {run: one if group == two else group for run, group in first.items()}
    return len(set(first.values()))


def _by_tier(pairs: Mapping[str, int], tiers: Mapping[str, str]) -> tuple[tuple[str, int, int], ...]:
    """Return the number of queries with pairs and of their pairs, tier by tier."""
    queries, pairs_of = Counter[str](), Counter[str]()
    for query_id, tier in tiers.items():
        if count := pairs.get(query_id):
            queries[tier] += 1
            pairs_of[tier] += count
    return tuple((tier, queries[tier], pairs_of[tier]) for tier in queries)


def _why_no_share(runs: int, pairs: int) -> str:
    if runs < 2:
        return "fewer than two runs"
    return "" if pairs else "the pool is empty"
