"""The chosen pool: its pairs with their runs and ranks, in the order of judging."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.result import Result
from assay.core.text_column import Places
from assay.strategies.candidates import Candidates
from assay.strategies.duplicates import Copies
from assay.strategies.pooled_pair import PairCopy, PoolPair

RESIDUAL = "residual"


@dataclass(frozen=True, eq=False)
class Pool(Result):
    """The pairs chosen for judging, and everything needed to choose them again."""

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
        """Return the runs' names."""
        return self.candidates.run_names

    @cached_property
    def pairs(self) -> tuple[PoolPair, ...]:
        """Return the pairs, each with its reason."""
        return tuple(self._pairs(range(len(self))))

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dict for each pair, with the columns of ``assay pool``; `runs` is a list of names."""
        return [
            {
                "query_id": pair.query_id,
                "doc_id": pair.doc_id,
                "rank": pair.best_rank,
                "runs": [name for name, _ in pair.runs],
                "why": pair.why,
            }
            for pair in self.pairs
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return how the pool was chosen, and its pairs."""
        settings = {"strategy": self.strategy, "parameters": self.params, "seed": self.seed}
        return {
            **settings,
            "budget": self.budget,
            "residual": self.residual,
            "total": self.total,
            "pairs": self.to_rows(),
        }

    def pairs_with_copies(self) -> Iterator[PoolPair]:
        """Yield only the pairs that have duplicates."""
        yield from self._pairs(np.flatnonzero(np.isin(self.rows, self.copies.of)).tolist())

    def handed_out(self, batch: int) -> Iterator[PoolPair]:
        """Yield the pairs in the order for raters: shuffled within batches of a query's pairs."""
        query, lots = self.candidates.query_of[self.rows], self.candidates.lots(self.seed, "hand-out")[self.rows]
        yield from self._pairs(np.lexsort((lots, (self.steps - 1) // batch, query)).tolist())

    def _pairs(self, order: Iterable[int]) -> Iterator[PoolPair]:
        """Build pairs; columns are converted to lists once, because single numpy numbers are slow."""
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
        """Return the duplicates of each row, if any, best first."""
        table, copies = self.candidates, self.copies
        by_row: dict[int, list[PairCopy]] = {}
        names, best = table.doc_ids.take(copies.rows).tolist(), table.best_rank[copies.rows].tolist()
        of, exact, share = copies.of.tolist(), copies.exact.tolist(), copies.similarity.tolist()
        for at, row in enumerate(copies.rows.tolist()):
            one = PairCopy(names[at], best[at] or None, table.where(row), exact[at], share[at])
            by_row.setdefault(of[at], []).append(one)
        return {row: tuple(sorted(some, key=PairCopy.order)) for row, some in by_row.items()}

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pool):
            return NotImplemented
        names = ("strategy", "params", "seed", "budget", "total", "residual", "runs", "judged", "over_budget", "pairs")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]
