"""Unjudged share of a run's top k, defined once for every page, API endpoint and command.

For a query, the share is the number of unjudged documents in its top k, divided by the number of documents returned
there: min(k, returned). For a run, it is the mean over the judged queries that it answers. A query without an answer
has no documents to count and is reported as a missing query instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

DEPTH = 10


@dataclass(frozen=True)
class Unjudged:
    """The unjudged documents in the top k of a run."""

    queries: tuple[tuple[str, int, int], ...]

    @property
    def shares(self) -> list[float]:
        """Return the unjudged share of each query in ascending order."""
        return sorted(unjudged / returned for _, unjudged, returned in self.queries)

    @property
    def share(self) -> float | None:
        """Return the mean over the queries; None if the run answers no judged query."""
        return sum(self.shares) / len(self.queries) if self.queries else None

    @property
    def documents(self) -> int:
        """Return the number of unjudged documents in the top k."""
        return sum(unjudged for _, unjudged, _ in self.queries)

    @property
    def returned(self) -> int:
        """Return the number of documents in the top k."""
        return sum(returned for *_, returned in self.queries)


def count_unjudged(
    judged: Mapping[str, Collection[str]], rankings: Iterable[tuple[str, Sequence[str]]], depth: int = DEPTH
) -> Unjudged:
    """Count the unjudged documents in the top k of a run.

    Examples
    --------
    >>> found = count_unjudged({"q1": {"d1"}, "q2": {"d2"}}, [("q1", ["d1", "d3"]), ("q2", ["d2"]), ("q9", ["d1"])])
    >>> found.documents, found.returned, found.share
    (1, 3, 0.25)
    """
    counts = []
    for query_id, doc_ids in rankings:
        known = judged.get(query_id)
        if known and doc_ids:
            first = doc_ids[:depth]
            counts.append((query_id, sum(doc_id not in known for doc_id in first), len(first)))
    return Unjudged(tuple(counts))


def unjudged_share(judged_mean: float, queries: int, unanswered: int) -> float | None:
    """Return the unjudged share from the mean of Judged@k, in which an unanswered query counts as 0.

    Examples
    --------
    >>> unjudged_share(0.375, 4, 1), unjudged_share(0.0, 4, 4)
    (0.5, None)
    """
    answered = queries - unanswered
    return 1 - judged_mean * queries / answered if answered > 0 else None
