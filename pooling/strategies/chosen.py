"""The chosen pool: its pairs with their runs and ranks, in the order of judging."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from judgments.core.texts import Places
from pooling.strategies.candidates import Candidates
from pooling.strategies.duplicates import Copies
from pooling.strategies.pair import PairCopy, PoolPair

RESIDUAL = "residual"


@dataclass(frozen=True, eq=False)
class Pool:
    """The pairs chosen for judging, and everything that is needed to choose them again.

    Parameters
    ----------
    candidates : Candidates
        What the runs return.
    rows : int64 array, shape (pairs,)
        The chosen candidates: by query in byte order, inside a query in the order of choice, the residual stratum last.
    steps : int64 array, shape (pairs,)
        The place of each in its query's order of choice, from 1.
    why : tuple of str
        The reasons that occur; ``reason_of``, shape (pairs,), holds the place of each pair's.
    probabilities : float64 array, shape (pairs,)
        The probability with which each was drawn.
    strategy : str
        The strategy's name.
    params : dict
        Its parameters, defaults included.
    seed : int
        The seed of every random choice.
    budget, residual : int or None, int
        As they were asked for, per query.
    judged : int
        Pairs that the strategy would have chosen but that are judged, or in somebody's hands; they are not in the pool.
    over_budget : int
        Pairs that the strategy would have chosen but the budget cut.
    total : int or None
        As it was asked for, over all queries.
    copies : Copies
        Documents that would have been chosen, but say what a chosen one says: they are judged with it.
    """

    candidates: Candidates
    rows: Places
    steps: Places
    why: tuple[str, ...]
    reason_of: npt.NDArray[np.int8]
    probabilities: npt.NDArray[np.float64]
    strategy: str
    params: dict[str, Any]
    seed: int
    budget: int | None
    residual: int
    judged: int
    over_budget: int
    total: int | None = None
    copies: Copies = field(default_factory=Copies.none)

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs' names."""
        return self.candidates.run_names

    @cached_property
    def pairs(self) -> tuple[PoolPair, ...]:
        """The pairs one by one, with why each was chosen."""
        return tuple(self._pairs(range(len(self))))

    def pairs_with_copies(self) -> Iterator[PoolPair]:
        """Yield the pairs that stand for other documents too, and no others."""
        yield from self._pairs(np.flatnonzero(np.isin(self.rows, self.copies.of)).tolist())

    def handed_out(self, batch: int) -> Iterator[PoolPair]:
        """Yield the pairs in the order in which raters should meet them: shuffled inside batches of a query's pairs.

        Who meets the best first learns to expect worse, and grades by it. Inside a batch the place tells nothing.

        Parameters
        ----------
        batch : int
            How many pairs of a query make a batch; with 1 the order of choice is kept.
        """
        query, lots = self.candidates.query_of[self.rows], self.candidates.lots(self.seed, "hand-out")[self.rows]
        yield from self._pairs(np.lexsort((lots, (self.steps - 1) // batch, query)).tolist())

    def _pairs(self, order: Iterable[int]) -> Iterator[PoolPair]:
        """Build pairs; columns become lists once, since numpy numbers are slow one by one."""
        table = self.candidates
        doc_ids, query = table.doc_ids.take(self.rows).tolist(), table.query_of[self.rows].tolist()
        best, steps = table.best_rank[self.rows].tolist(), self.steps.tolist()
        reasons, chances = self.reason_of.tolist(), self.probabilities.tolist()
        begins, ends = table.begins[self.rows].tolist(), table.begins[self.rows + 1].tolist()
        entries = list(zip((table.run_names[run] for run in table.runs.tolist()), table.ranks.tolist(), strict=True))
        copies = self._copies()
        rows = self.rows.tolist()
        for at in order:
            yield PoolPair(
                table.query_ids[query[at]],
                doc_ids[at],
                best[at] or None,
                tuple(entries[begins[at] : ends[at]]),
                self.why[reasons[at]],
                steps[at],
                chances[at],
                copies.get(rows[at], ()),
            )

    def _copies(self) -> dict[int, tuple[PairCopy, ...]]:
        """The copies of each row that has any, the best first."""
        table, copies = self.candidates, self.copies
        found: dict[int, list[PairCopy]] = {}
        names, best = table.doc_ids.take(copies.rows).tolist(), table.best_rank[copies.rows].tolist()
        of, exact, share = copies.of.tolist(), copies.exact.tolist(), copies.similarity.tolist()
        for at, row in enumerate(copies.rows.tolist()):
            one = PairCopy(names[at], best[at] or None, table.where(row), exact[at], share[at])
            found.setdefault(of[at], []).append(one)
        return {row: tuple(sorted(some, key=PairCopy.order)) for row, some in found.items()}

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pool):
            return NotImplemented
        names = ("strategy", "params", "seed", "budget", "total", "residual", "runs", "judged", "over_budget", "pairs")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]
