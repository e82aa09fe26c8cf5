"""Request for a pool: the number of pairs, the known grades, and the queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.strategies.candidate_blocks import Pair
from assay.strategies.candidates import Candidates
from assay.strategies.duplicates import Duplicates
from assay.strategies.strategy import NOT_RELEVANT, PENDING, RELEVANT, UNKNOWN, Wording

Judged = Collection[Pair] | Mapping[Pair, float | None]
State = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Ask:
    """A request for a pool: how many pairs, known grades, queries."""

    seed: int = 0
    budget: int | None = None
    residual: int = 0
    judged: Judged = frozenset()
    relevant_from: float = 1.0
    queries: frozenset[str] | None = None
    wording: Wording | None = None
    total: int | None = None
    duplicates: Duplicates | None = None

    def __post_init__(self) -> None:
        if self.total is not None and self.total < 1:
            message = f"total is {self.total}. Use at least 1 pair, or no total."
            raise NotValid(message, {"total": "At least 1."})
        if self.budget is not None and self.budget < 1:
            message = f"budget is {self.budget}. Use at least 1 pair per query, or no budget."
            raise NotValid(message, {"budget": "At least 1."})
        if self.residual < 0:
            message = f"residual is {self.residual}. Use 0 or more pairs per query."
            raise NotValid(message, {"residual": "At least 0."})

    def state(self, table: Candidates) -> State:
        """Return the known state of each candidate, shape (pairs,)."""
        state = np.full(len(table), UNKNOWN, dtype=np.int8)
        known = list(self.judged)
        grades = [self.judged[pair] for pair in known] if isinstance(self.judged, Mapping) else [None] * len(known)
        codes = [PENDING if g is None else RELEVANT if g >= self.relevant_from else NOT_RELEVANT for g in grades]
        rows = table.find(known)
        state[rows[rows >= 0]] = np.array(codes, dtype=np.int8)[rows >= 0]
        return state
