"""A pooled pair, with its duplicates and the reason it was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Comparisons of a query's documents: none, after normalization, and by similarity too.
OFF, EXACT, NEAR = "off", "exact", "near"
KINDS = (OFF, EXACT, NEAR)
# The default share of common three-word parts from which two documents are near-duplicates.
SIMILARITY = 0.9


@dataclass(frozen=True, slots=True)
class PairCopy:
    """A document that duplicates the pair's document and is judged through it."""

    doc_id: str
    best_rank: int | None
    runs: tuple[tuple[str, int], ...]
    exact: bool
    similarity: float

    @classmethod
    def of_json(cls, values: dict[str, Any]) -> PairCopy:
        """Return the duplicate from a pair's origin."""
        runs = tuple(sorted(values["runs"].items()))
        return cls(values["doc_id"], values["best_rank"], runs, values["why"] == EXACT, values["similarity"])

    def order(self) -> tuple[float, bytes]:
        """Return a sort key: best rank first, ties by id."""
        return self.best_rank or float("inf"), self.doc_id.encode()

    def as_json(self) -> dict[str, Any]:
        """Return JSON values for the pair's origin."""
        return {
            "doc_id": self.doc_id,
            "best_rank": self.best_rank,
            "runs": dict(self.runs),
            "why": EXACT if self.exact else NEAR,
            "similarity": self.similarity,
        }


@dataclass(frozen=True, slots=True)
class PoolPair:
    """One pair chosen for judging, with the reason.

    Parameters
    ----------
    query_id, doc_id : str
        The pair.
    best_rank : int or None
        The best rank, from 1, in a contributing run; None when no run returns it.
    runs : tuple of (str, int)
        The contributing runs with their rank of the document, by name.
    why : str
        The strategy's name, with the part for a strategy of two parts, or ``"residual"``.
    step : int
        The position in the query's selection order, from 1.
    probability : float
        The inclusion probability of the pair: 1 if chosen by a strategy, lower in the residual stratum.
    copies : tuple of PairCopy
        Duplicates that are judged through this document.
    """

    query_id: str
    doc_id: str
    best_rank: int | None
    runs: tuple[tuple[str, int], ...]
    why: str
    step: int
    probability: float = 1.0
    copies: tuple[PairCopy, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the provenance of the pair as JSON values, for its origin.

        Examples
        --------
        >>> PoolPair("q1", "d1", 1, (("bm25", 1), ("neural", 2)), "depth", 1).as_json()["runs"]
        {'bm25': 1, 'neural': 2}
        """
        values = {
            "why": self.why,
            "step": self.step,
            "best_rank": self.best_rank,
            "runs": dict(self.runs),
            "probability": self.probability,
        }
        return values | ({"copies": [copy.as_json() for copy in self.copies]} if self.copies else {})
