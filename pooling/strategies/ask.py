"""Request for a pool: the number of pairs, what is known of them, and the queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judgments.core.errors import NotValid
from pooling.strategies.candidate_blocks import Pair
from pooling.strategies.candidates import Candidates
from pooling.strategies.duplicates import Duplicates
from pooling.strategies.strategy import NOT_RELEVANT, PENDING, RELEVANT, UNKNOWN, Wording

Judged = Collection[Pair] | Mapping[Pair, float | None]
State = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Ask:
    """Whom a pool is for: how many pairs, what is known, which queries.

    Parameters
    ----------
    seed : int
        Puts equals in order and draws the residual stratum.
    budget : int, optional
        At most so many of the strategy's pairs per query.
    residual : int
        So many more pairs per query, drawn at random.
    judged : collection or mapping of (query_id, doc_id)
        What needs no judgment any more; as a mapping with the grade of each, or None for one without a grade.
    relevant_from : float
        The lowest grade that counts as relevant.
    queries : frozenset of str, optional
        Only these.
    wording : Wording
        What there is to read.
    total : int, optional
        At most so many pairs over all queries, the residual stratum among them.
    duplicates : Duplicates, optional
        How documents that say the same are told; all are judged by themselves without it.
    """

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
            message = f"total is {self.total}; give at least 1 pair, or none"
            raise NotValid(message, {"total": "at least 1"})
        if self.budget is not None and self.budget < 1:
            message = f"budget is {self.budget}; give at least 1 pair a query, or none"
            raise NotValid(message, {"budget": "at least 1"})
        if self.residual < 0:
            message = f"residual is {self.residual}; give 0 or more pairs a query"
            raise NotValid(message, {"residual": "at least 0"})

    def state(self, table: Candidates) -> State:
        """What is known of each candidate, shape (pairs,)."""
        state = np.full(len(table), UNKNOWN, dtype=np.int8)
        known = list(self.judged)
        grades = [self.judged[pair] for pair in known] if isinstance(self.judged, Mapping) else [None] * len(known)
        codes = [PENDING if g is None else RELEVANT if g >= self.relevant_from else NOT_RELEVANT for g in grades]
        rows = table.find(known)
        state[rows[rows >= 0]] = np.array(codes, dtype=np.int8)[rows >= 0]
        return state
