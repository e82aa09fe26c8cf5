"""Overlap of the runs' first documents: in all runs, in some or in one, and how many are unjudged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.core.cache import cache

from judgments.core.unjudged import Unjudged, count_unjudged
from judgments.models import Collection
from pooling import runs
from pooling.known_pairs import judged_pairs
from pooling.models import Run

DEPTH = 10
DAY = 24 * 3600

First = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Part:
    """One run's first documents: how many every run has, some other run has, and no other run has."""

    run: Run
    everywhere: int
    some: int
    alone: int
    judged: Unjudged
    left_out: int

    @property
    def pairs(self) -> int:
        return self.everywhere + self.some + self.alone

    @property
    def unjudged(self) -> int:
        """First documents of judged queries without a human grade."""
        return self.judged.documents

    @property
    def unjudged_share(self) -> float | None:
        """The mean share of them, a query; None for a run that answers no judged query."""
        return self.judged.share


@dataclass(frozen=True)
class Overlap:
    """The runs' parts, over so many first documents of every query; how alike two are tells `pooling.run_health`."""

    depth: int
    parts: tuple[Part, ...]


def first(run: Run, depth: int = DEPTH) -> First:
    """The first documents of every query of a run; kept, since a file with this hash never answers otherwise."""
    key = f"first:{run.sha256}:{run.path}:{depth}"
    found = cache.get(key)
    if found is None:
        table = runs.ranked(run)
        bounds = table.offsets.tolist()
        found = {
            query_id: tuple(table.doc_ids[start : min(end, start + depth)])
            for query_id, start, end in zip(table.query_ids, bounds, bounds[1:], strict=False)
        }
        cache.set(key, found, DAY)
    return found


def overlap(collection: Collection, chosen: Sequence[Run], depth: int = DEPTH) -> Overlap:
    """Compare the first documents of runs, over the collection's own queries.

    Parameters
    ----------
    collection : Collection
        Whose queries count and whose human grades make a document judged.
    chosen : sequence of Run
        In the order in which they are to stand.
    depth : int
        How many documents of each query.
    """
    queries = set(collection.queries.values_list("query_id", flat=True))
    judged: dict[str, set[str]] = {}
    for query_id, doc_id in judged_pairs(collection):
        judged.setdefault(query_id, set()).add(doc_id)
    answers = [first(run, depth) for run in chosen]
    pairs = [_pairs(answer, queries) for answer in answers]
    found = Counter(pair for some in pairs for pair in some)
    parts = []
    for run, answer, own in zip(chosen, answers, pairs, strict=True):
        counts = Counter(
            "alone" if found[pair] == 1 else "all" if found[pair] == len(chosen) else "some" for pair in own
        )
        here = ((query_id, docs) for query_id, docs in answer.items() if query_id in queries)
        unjudged = count_unjudged(judged, here, depth)
        left_out = len(queries - answer.keys())
        parts.append(Part(run, counts["all"], counts["some"], counts["alone"], unjudged, left_out))
    return Overlap(depth, tuple(parts))


def _pairs(answer: First, queries: set[str]) -> set[tuple[str, str]]:
    return {(query_id, doc_id) for query_id, docs in answer.items() if query_id in queries for doc_id in docs}
