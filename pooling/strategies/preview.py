"""What would a pool look like: how large, how shared between the systems, how deep?"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import numpy as np

from judgments.core.grouping import spans
from judgments.core.texts import Places
from pooling.strategies.candidates import Candidates
from pooling.strategies.pool import RESIDUAL, Pool


@dataclass(frozen=True, slots=True)
class SystemShare:
    """One run's part in a pool.

    Parameters
    ----------
    name : str
        The run.
    pairs : int
        Pairs that it contributed.
    unique : int
        Pairs that it alone contributed: what would be missed without it.
    """

    name: str
    pairs: int
    unique: int


@dataclass(frozen=True, slots=True)
class Preview:
    """A pool in numbers.

    Parameters
    ----------
    pairs, queries : int
        The size.
    smallest, middle, largest : int, float, int
        Pairs per query: minimum, median, maximum; all 0 for an empty pool.
    in_all : int
        Pairs that every run contributed.
    share_in_all : float or None
        The same as a share of the strategy's pairs; None with fewer than two runs or no pairs.
    reason : str
        Why `share_in_all` is None.
    systems : tuple of SystemShare
        Each run's part, by name.
    by_best_rank : tuple of (int or None, int)
        Pairs for each best rank; None counts the pairs that no run returns.
    residual : int
        Pairs of the residual stratum, which the other counts of systems leave out.
    """

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


def preview(pool: Pool) -> Preview:
    """Say what a pool looks like.

    Parameters
    ----------
    pool : Pool
        As `build_pool` made it.

    Returns
    -------
    Preview
    """
    table = pool.candidates
    chosen = pool.rows[pool.reason_of != pool.why.index(RESIDUAL)]
    found = np.diff(table.begins)[chosen]
    by_run = _entries(table, chosen)
    alone = _entries(table, chosen[found == 1])
    per_query = np.bincount(table.query_of[pool.rows])
    per_query = per_query[per_query > 0].tolist()
    in_all = int(np.count_nonzero(found == len(pool.runs))) if pool.runs else 0
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
    )


def _entries(table: Candidates, rows: Places) -> list[int]:
    """How many of the rows each run returns."""
    entries = spans(table.begins[:-1][rows], np.diff(table.begins)[rows])
    counts: list[int] = np.bincount(table.runs[entries], minlength=len(table.run_names)).tolist()
    return counts


def _why_no_share(runs: int, pairs: int) -> str:
    if runs < 2:
        return "fewer than two runs"
    return "" if pairs else "the pool is empty"
