"""A pooled pair, with its duplicates and why it was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# How documents of a query are compared: not at all, after normalisation, by what they have in common too.
OFF, EXACT, NEAR = "off", "exact", "near"
KINDS = (OFF, EXACT, NEAR)
# The usual share of three-word parts from which on two documents are nearly the same.
SIMILARITY = 0.9


@dataclass(frozen=True, slots=True)
class PairCopy:
    """A document that says what the pair's document says, and is judged with it.

    Parameters
    ----------
    doc_id : str
        The document.
    best_rank : int or None
        The best rank that a run gives it.
    runs : tuple of (str, int)
        The runs that return it, with their ranks.
    exact : bool
        Whether it is equal after normalisation.
    similarity : float
        The share of three-word parts that both have in common.
    """

    doc_id: str
    best_rank: int | None
    runs: tuple[tuple[str, int], ...]
    exact: bool
    similarity: float

    @classmethod
    def of_json(cls, told: dict[str, Any]) -> PairCopy:
        """The copy as a pair's origin names it."""
        runs = tuple(sorted(told["runs"].items()))
        return cls(told["doc_id"], told["best_rank"], runs, told["why"] == EXACT, told["similarity"])

    def order(self) -> tuple[float, bytes]:
        """The best rank first, equals by id."""
        return self.best_rank or float("inf"), self.doc_id.encode()

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, for the pair's origin."""
        return {
            "doc_id": self.doc_id,
            "best_rank": self.best_rank,
            "runs": dict(self.runs),
            "why": EXACT if self.exact else NEAR,
            "similarity": self.similarity,
        }


@dataclass(frozen=True, slots=True)
class PoolPair:
    """One pair that was chosen for judging, with why it was chosen.

    Parameters
    ----------
    query_id, doc_id : str
        The pair.
    best_rank : int or None
        The best rank, from 1, that a contributing run gives the document; None when no run returns it.
    runs : tuple of (str, int)
        The contributing runs with the rank that each gives the document, by name.
    why : str
        The strategy's name, for a strategy of two parts also the part, or ``"residual"``.
    step : int
        The place in the order in which the query's pairs were chosen, from 1.
    probability : float
        The probability with which the pair was drawn: 1 for what a strategy chose, less for the residual stratum.
    copies : tuple of PairCopy
        Documents that are judged with this one, since they say the same.
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
        """The provenance of the pair as plain JSON, for the pair's origin.

        Examples
        --------
        >>> PoolPair("q1", "d1", 1, (("bm25", 1), ("neural", 2)), "depth", 1).as_json()["runs"]
        {'bm25': 1, 'neural': 2}
        """
        told = {
            "why": self.why,
            "step": self.step,
            "best_rank": self.best_rank,
            "runs": dict(self.runs),
            "probability": self.probability,
        }
        return told | ({"copies": [copy.as_json() for copy in self.copies]} if self.copies else {})
