"""Which documents did a system return for each query, and in which order?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judgments.core.errors import NotValid


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """The ranked documents of one system, as columns grouped by query.

    Queries are sorted by the UTF-8 bytes of their ids. Inside a query the order is trec_eval's: score descending as
    float64, then document id descending by UTF-8 bytes. Ranks and the order of rows in a file play no part.

    Attributes
    ----------
    name : str
        What the system is called.
    query_ids : tuple of str
        The answered queries.
    offsets : int64 array, shape (queries + 1,)
        Where each query begins.
    doc_ids : list of str
        All returned documents, flat.
    scores : float64 array
        One score for each entry of ``doc_ids``; infinite scores are kept.

    Examples
    --------
    >>> run = Run.from_dict({"q1": {"d1": 9.1, "d2": 8.7, "d3": 8.7}}, name="bm25")
    >>> run.ranking("q1"), len(run), run.ties
    (['d1', 'd3', 'd2'], 3, 0.6666666666666666)
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: npt.NDArray[np.int64]
    doc_ids: list[str]
    scores: npt.NDArray[np.float64]

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, float]], name: str = "run") -> Run:
        """Build the table from rows of (query_id, doc_id, score) in any order.

        Raises
        ------
        NotValid
            When a document stands twice in a query, or a score is not a number.
        """
        ranked: dict[str, dict[str, float]] = {}
        for query_id, doc_id, score in rows:
            scores = ranked.setdefault(query_id, {})
            if doc_id in scores:
                raise NotValid(f"run {name!r}: query {query_id!r} returns document {doc_id!r} twice; keep one row")
            scores[doc_id] = score
        return cls.from_dict(ranked, name)

    @classmethod
    def from_dict(cls, ranked: Mapping[str, Mapping[str, float]], name: str = "run") -> Run:
        """Build the table from ``{query_id: {doc_id: score}}``; a query without documents is left out.

        Raises
        ------
        NotValid
            When a score is not a number (NaN).
        """
        # Python orders strings by code point, which is the order of their UTF-8 bytes.
        query_ids = tuple(sorted(query_id for query_id, scores in ranked.items() if scores))
        doc_ids: list[str] = []
        scores: list[float] = []
        offsets = [0]
        for query_id in query_ids:
            of_query = ranked[query_id]
            if any(score != score for score in of_query.values()):
                raise NotValid(f"run {name!r}: query {query_id!r} has a score that is not a number (NaN)")
            ordered = sorted(zip(of_query.values(), of_query, strict=True), reverse=True)
            scores.extend(score for score, _ in ordered)
            doc_ids.extend(doc_id for _, doc_id in ordered)
            offsets.append(len(doc_ids))
        return cls(name, query_ids, np.array(offsets, dtype=np.int64), doc_ids, np.array(scores, dtype=np.float64))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {doc_id: score}}``, best document first."""
        scores = self.scores.tolist()
        return {
            query_id: dict(zip(self.doc_ids[start:stop], scores[start:stop], strict=True))
            for query_id, start, stop in self._spans()
        }

    def rows(self) -> Iterator[tuple[str, str, float]]:
        """Yield (query_id, doc_id, score) in the order of the table."""
        scores = self.scores.tolist()
        for query_id, start, stop in self._spans():
            for place in range(start, stop):
                yield query_id, self.doc_ids[place], scores[place]

    def ranking(self, query_id: str) -> list[str]:
        """Return the documents of one query, best first; an unanswered query has none."""
        place = int(np.searchsorted(np.array(self.query_ids, dtype=object), query_id)) if self.query_ids else 0
        if place == len(self.query_ids) or self.query_ids[place] != query_id:
            return []
        return self.doc_ids[int(self.offsets[place]) : int(self.offsets[place + 1])]

    @property
    def queries(self) -> int:
        """How many queries the system answers."""
        return len(self.query_ids)

    @property
    def ties(self) -> float | None:
        """The share of rows whose score another row of the same query has too; None for a run without rows."""
        if not self.doc_ids:
            return None
        same = self.scores[1:] == self.scores[:-1]
        # The first row of a query never ties with the last row of the query before.
        same[self.offsets[1:-1] - 1] = False
        return float((np.append(same, False) | np.insert(same, 0, False)).mean())

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return self.name == other.name and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def _spans(self) -> Iterator[tuple[str, int, int]]:
        bounds = self.offsets.tolist()
        return zip(self.query_ids, bounds[:-1], bounds[1:], strict=True)
