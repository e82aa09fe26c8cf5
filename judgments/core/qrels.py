"""Which grade does each judged document of each query have?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judgments.core.errors import NotValid


@dataclass(frozen=True, eq=False, slots=True)
class Qrels:
    """The labels of a collection's queries, as columns grouped by query.

    Queries are sorted by the UTF-8 bytes of their ids, and so are the documents inside a query. The judgments of query
    ``i`` stand in ``doc_ids[offsets[i]:offsets[i + 1]]`` and ``grades[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    query_ids : tuple of str
        The judged queries.
    offsets : int64 array, shape (queries + 1,)
        Where each query begins.
    doc_ids : list of str
        All judged documents, flat.
    grades : float64 array
        One grade for each entry of ``doc_ids``; fractions and negative numbers are kept.
    duplicates : int
        How many identical rows were kept once.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d2": 1, "d1": 3}})
    >>> list(qrels.rows()), len(qrels), qrels.queries
    ([('q1', 'd1', 3.0), ('q1', 'd2', 1.0)], 2, 1)
    """

    query_ids: tuple[str, ...]
    offsets: npt.NDArray[np.int64]
    doc_ids: list[str]
    grades: npt.NDArray[np.float64]
    duplicates: int = 0

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, float]]) -> Qrels:
        """Build the table from rows of (query_id, doc_id, grade) in any order.

        Raises
        ------
        NotValid
            When two rows give one pair different grades, or a grade is not a finite number.
        """
        judged: dict[str, dict[str, float]] = {}
        total = 0
        for query_id, doc_id, grade in rows:
            total += 1
            known = judged.setdefault(query_id, {}).setdefault(doc_id, grade)
            if known != grade:
                raise NotValid(f"query {query_id!r}, document {doc_id!r} has two grades, {known} and {grade}; keep one")
        table = cls.from_dict(judged)
        return cls(table.query_ids, table.offsets, table.doc_ids, table.grades, total - len(table))

    @classmethod
    def from_dict(cls, judged: Mapping[str, Mapping[str, float]]) -> Qrels:
        """Build the table from ``{query_id: {doc_id: grade}}``; a query without documents is left out.

        Raises
        ------
        NotValid
            When a grade is not a finite number.
        """
        # Python orders strings by code point, which is the order of their UTF-8 bytes.
        query_ids = tuple(sorted(query_id for query_id, grades in judged.items() if grades))
        doc_ids: list[str] = []
        grades: list[float] = []
        offsets = [0]
        for query_id in query_ids:
            of_query = judged[query_id]
            ordered = sorted(of_query)
            doc_ids.extend(ordered)
            grades.extend(map(of_query.__getitem__, ordered))
            offsets.append(len(doc_ids))
        column = np.array(grades, dtype=np.float64)
        if not np.isfinite(column).all():
            where = doc_ids[int(np.flatnonzero(~np.isfinite(column))[0])]
            raise NotValid(f"document {where!r}: the grade is not a finite number; leave out what has no grade")
        return cls(query_ids, np.array(offsets, dtype=np.int64), doc_ids, column)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {doc_id: grade}}``, in the order of the table."""
        grades = self.grades.tolist()
        return {
            query_id: dict(zip(self.doc_ids[start:stop], grades[start:stop], strict=True))
            for query_id, start, stop in self._spans()
        }

    def rows(self) -> Iterator[tuple[str, str, float]]:
        """Yield (query_id, doc_id, grade) in the order of the table."""
        grades = self.grades.tolist()
        for query_id, start, stop in self._spans():
            for place in range(start, stop):
                yield query_id, self.doc_ids[place], grades[place]

    @property
    def queries(self) -> int:
        """How many queries have at least one judgment."""
        return len(self.query_ids)

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Qrels):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def _spans(self) -> Iterator[tuple[str, int, int]]:
        bounds = self.offsets.tolist()
        return zip(self.query_ids, bounds[:-1], bounds[1:], strict=True)
