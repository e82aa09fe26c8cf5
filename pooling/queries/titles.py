"""Titles of the documents that systems rank first for a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgments.models import Collection, Query
from judgments.models.fields import rows_among
from pooling.models import PoolEntry
from pooling.pools import pools
from pooling.runs import runs as stored_runs

if TYPE_CHECKING:
    from assay.core.run import Run as RankedRun

FIRST = 3


def first_titles(collection: Collection, queries: Sequence[Query]) -> dict[str, list[str]]:
    """Return the titles of a few top documents by query id, from the newest pool with the query or from a run."""
    titles_of: dict[str, list[str]] = {}
    entries = PoolEntry.objects.filter(query__in=queries, best_rank__lte=FIRST, document__stub=False)
    rows = entries.exclude(document__title="").order_by("-pool__pk", "best_rank", "position")
    for query_id, title in rows.values_list("query__query_id", "document__title"):
        _add(titles_of, query_id, title)
    missing = {query.query_id for query in queries} - titles_of.keys()
    run = collection.runs.order_by("-pk").first()
    if missing and run is not None and not pools.is_large([run]):
        _add_from(titles_of, collection, stored_runs.ranked(run), missing)
    return titles_of


def _add_from(titles_of: dict[str, list[str]], collection: Collection, run: RankedRun, missing: set[str]) -> None:
    top: list[tuple[str, str]] = []
    offsets = run.offsets.tolist()
    for at, query_id in enumerate(run.query_ids):
        if query_id in missing:
            end = min(offsets[at] + FIRST, offsets[at + 1])
            top += [(query_id, run.doc_ids[row]) for row in range(offsets[at], end)]
    titled = collection.documents.filter(stub=False).exclude(title="").values_list("doc_id", "title")
    titles = dict(rows_among(titled, "doc_id", sorted({doc_id for _, doc_id in top})))
    for query_id, doc_id in top:
        if doc_id in titles:
            _add(titles_of, query_id, titles[doc_id])


def _add(titles_of: dict[str, list[str]], query_id: str, title: str) -> None:
    titles = titles_of.setdefault(query_id, [])
    if len(titles) < FIRST and title not in titles:
        titles.append(title)
