"""Where does a run put the judged documents of a query?

Every ranking metric needs no more than that: the ranks of the judged documents that were returned, their grades, how
many documents were returned, and all grades of the query. Unjudged documents only take up ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgments.core.qrels import Qrels
    from judgments.core.run import Run


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """The judged documents of one query, as one run ranks them.

    Parameters
    ----------
    returned : int
        How many documents the run returned for the query, judged or not.
    ranks : list of int
        One-based ranks of the returned judged documents, ascending.
    grades : list of float
        Their grades, in the order of ``ranks``.
    judged : list of float
        The grades of all judged documents of the query, returned or not, descending.

    Examples
    --------
    >>> ranking = JudgedRanking(returned=3, ranks=[1, 3], grades=[2.0, -1.0], judged=[2.0, 1.0, -1.0])
    >>> ranking.relevant(), ranking.relevant(rel=2)
    (2, 1)
    >>> ranking.condensed().returned
    1
    """

    returned: int
    ranks: list[int]
    grades: list[float]
    judged: list[float]

    def relevant(self, rel: float = 1) -> int:
        """Count the relevant documents of the query, returned or not: those with a grade of at least `rel`."""
        count = 0
        for grade in self.judged:
            if grade < rel:
                break
            count += 1
        return count

    def relevant_within(self, cutoff: int, rel: float = 1) -> int:
        """Count the relevant documents at ranks 1 to `cutoff`."""
        count = 0
        for rank, grade in zip(self.ranks, self.grades, strict=True):
            if rank > cutoff:
                break
            count += grade >= rel
        return count

    def judged_within(self, cutoff: int) -> int:
        """Count the judged documents at ranks 1 to `cutoff`; a negative grade is a judgment too."""
        return sum(rank <= cutoff for rank in self.ranks)

    def condensed(self) -> JudgedRanking:
        """Drop unjudged documents and negative grades from the ranking and close the ranks."""
        kept = [grade for grade in self.grades if grade >= 0]
        return JudgedRanking(len(kept), list(range(1, len(kept) + 1)), kept, self.judged)


def judged_rankings(qrels: Qrels, run: Run) -> Iterator[JudgedRanking | None]:
    """Match a run with the judgments, query by query.

    Parameters
    ----------
    qrels : Qrels
        The labels.
    run : Run
        The ranked documents, in trec_eval's order.

    Yields
    ------
    JudgedRanking or None
        One for each query of the qrels, in their order; ``None`` where the run has no documents for the query.
    """
    place = {query_id: at for at, query_id in enumerate(run.query_ids)}
    qrels_offsets, run_offsets = qrels.offsets.tolist(), run.offsets.tolist()
    grades = qrels.grades.tolist()
    for at, query_id in enumerate(qrels.query_ids):
        first, last = qrels_offsets[at], qrels_offsets[at + 1]
        where = place.get(query_id)
        if where is None or run_offsets[where] == run_offsets[where + 1]:
            yield None
            continue
        docs = run.doc_ids[run_offsets[where] : run_offsets[where + 1]]
        grade_of = dict(zip(qrels.doc_ids[first:last], grades[first:last], strict=True))
        ranks = [rank for rank, doc_id in enumerate(docs, 1) if doc_id in grade_of]
        found = [grade_of[docs[rank - 1]] for rank in ranks]
        yield JudgedRanking(len(docs), ranks, found, sorted(grade_of.values(), reverse=True))
