"""Grades of judged documents by subtopic, and the novelty gain of each document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from assay.core.text_column import spans

if TYPE_CHECKING:
    from assay.core.qrels import Qrels, Subtopics

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class JudgedSubtopics:
    """The grades of judged documents by subtopic, for the queries of a `JudgedRankings`."""

    document: Integers
    subtopic: Integers
    grades: Floats
    judged_document: Integers
    judged_query: Integers
    judged_subtopic: Integers
    judged_grades: Floats

    @classmethod
    def of(cls, qrels: Qrels, table: Subtopics, codes: Integers, places: Integers) -> JudgedSubtopics:
        """Look up the returned judged documents of some queries."""
        begins = np.searchsorted(table.rows, places)
        counts = np.searchsorted(table.rows, places, side="right") - begins
        rows = spans(begins, counts)
        begins = np.searchsorted(table.rows, qrels.offsets[codes])
        judgments = np.searchsorted(table.rows, qrels.offsets[codes + 1]) - begins
        judged = spans(begins, judgments)
        own = table.codes + qrels.query_of[table.rows] * len(table.names)
        return cls(
            document=np.repeat(np.arange(len(places)), counts),
            subtopic=own[rows],
            grades=table.grades[rows],
            judged_document=table.rows[judged],
            judged_query=np.repeat(np.arange(len(codes)), judgments),
            judged_subtopic=own[judged],
            judged_grades=table.grades[judged],
        )

    def select(self, documents: npt.NDArray[np.bool_]) -> JudgedSubtopics:
        """Return the grades for only some of the returned judged documents, renumbered."""
        rows = documents[self.document]
        places = np.cumsum(documents) - 1
        return replace(
            self, document=places[self.document[rows]], subtopic=self.subtopic[rows], grades=self.grades[rows]
        )

    def covered(self, queries: int, rel: float) -> Integers:
        """Count the subtopics of each query for which any document is relevant, returned or not."""
        graded = self.judged_grades >= rel
        _, first = np.unique(self.judged_subtopic[graded], return_index=True)
        return np.bincount(self.judged_query[graded][first], minlength=queries)

    def gains(self, documents: int, alpha: float, rel: float) -> Floats:
        """Compute the gain of each returned judged document: (1 - alpha)^n for each subtopic that it is relevant to."""
        graded = self.grades >= rel
        document, subtopic = self.document[graded], self.subtopic[graded]
        # A stable sort keeps the ranking of a subtopic's documents.
        order = np.argsort(subtopic, kind="stable")
        starts = np.flatnonzero(np.diff(subtopic[order], prepend=-1))
        seen = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        return np.bincount(document[order], (1.0 - alpha) ** seen, documents).astype(np.float64)

    def ideal_gains(self, queries: int, depth: int, alpha: float, rel: float) -> Floats:
        """Compute the gains of a ranking that takes the document with the largest gain at each rank."""
        graded = self.judged_grades >= rel
        documents, document = np.unique(self.judged_document[graded], return_inverse=True)
        subtopics, subtopic = np.unique(self.judged_subtopic[graded], return_inverse=True)
        query = np.zeros(len(documents), dtype=np.int64)
        query[document] = self.judged_query[graded]
        # Documents by query, and by id descending within a query; their numbers may follow another order of queries.
        order = np.lexsort((np.arange(len(documents)), query))
        starts = np.flatnonzero(np.diff(query[order], prepend=-1))
        left, free = np.ones(len(subtopics)), np.ones(len(documents), dtype=np.bool_)
        gains = np.zeros((queries, depth))
        for rank in range(depth if len(documents) else 0):
            adds = np.bincount(document, left[subtopic], len(documents))
            adds[~free] = 0.0
            best = np.maximum.reduceat(adds[order], starts)
            if not best.any():
                break
            gains[query[order[starts]], rank] = best
            sizes = np.diff(starts, append=len(order))
            equal = np.flatnonzero((adds[order] == np.repeat(best, sizes)) & (adds[order] > 0))
            _, first = np.unique(query[order[equal]], return_index=True)
            taken = np.zeros(len(documents), dtype=np.bool_)
            taken[order[equal[first]]] = True
            free &= ~taken
            left[subtopic[taken[document]]] *= 1.0 - alpha
        return gains
