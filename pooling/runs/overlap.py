"""Overlap of the runs' first documents: how many are in all runs, in some or in one, and how many are unjudged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.core.cache import cache

from assay.core.unjudged import Unjudged, count_unjudged
from judgments.models import Collection
from pooling.models import Run
from pooling.runs import runs
from pooling.runs.known_pairs import judged_pairs

DEPTH = 10
DAY = 24 * 3600

First = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Part:
    """One run's first documents: the number in every run, in some other run, and in no other run."""

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
        """Return the number of first documents of judged queries without a human grade."""
        return self.judged.documents

    @property
    def unjudged_share(self) -> float | None:
        """Return the mean share of unjudged documents per query; None for a run without a judged query."""
        return self.judged.share


@dataclass(frozen=True)
class Overlap:
    """Overlap of the runs in their first documents of every query; `pooling.runs.health` compares runs in pairs."""

    depth: int
    parts: tuple[Part, ...]


def first(run: Run, depth: int = DEPTH) -> First:
    """Return the first documents of every query of a run; cached, because the hash of the file identifies the
    result."""
    key = f"first:{run.sha256}:{run.path}:{depth}"
    documents = cache.get(key)
    if documents is None:
        table = runs.ranked(run)
        bounds = table.offsets.tolist()
        documents = {
            query_id: tuple(table.doc_ids[start : min(end, start + depth)])
            for query_id, start, end in zip(table.query_ids, bounds, bounds[1:], strict=False)
        }
        cache.set(key, documents, DAY)
    return documents


def overlap(collection: Collection, chosen: Sequence[Run], depth: int = DEPTH) -> Overlap:
    """Compare the first documents of runs, over the collection's own queries."""
    queries = set(collection.queries.values_list("query_id", flat=True))
    judged: dict[str, set[str]] = {}
    for query_id, doc_id in judged_pairs(collection):
        judged.setdefault(query_id, set()).add(doc_id)
    answers = [first(run, depth) for run in chosen]
    pairs = [_pairs(answer, queries) for answer in answers]
    run_counts = Counter(pair for some in pairs for pair in some)
    parts = []
    for run, answer, own in zip(chosen, answers, pairs, strict=True):
        counts = Counter(
            "alone" if run_counts[pair] == 1 else "all" if run_counts[pair] == len(chosen) else "some" for pair in own
        )
        here = ((query_id, docs) for query_id, docs in answer.items() if query_id in queries)
        unjudged = count_unjudged(judged, here, depth)
        left_out = len(queries - answer.keys())
        parts.append(Part(run, counts["all"], counts["some"], counts["alone"], unjudged, left_out))
    return Overlap(depth, tuple(parts))


def _pairs(answer: First, queries: set[str]) -> set[tuple[str, str]]:
    return {(query_id, doc_id) for query_id, docs in answer.items() if query_id in queries for doc_id in docs}
