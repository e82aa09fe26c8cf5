"""Proposals of queries that are probably spellings of one need, for a lead to confirm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max, Sum

from assay.sampling.near_duplicates import near_duplicates
from assay.sampling.query_table import LogQuery
from assay.sampling.row_counting import normalize
from judgments.jobs.single_flight import compute_once
from judgments.models import Collection, Query
from judgments.queries.groups import proposal_key
from pooling.models import ClickCount

# Above this number, comparing takes too long for a page.
MOST_QUERIES = 20_000
DAY = 24 * 3600


@dataclass(frozen=True)
class Proposal:
    """Queries that may express one need, most frequent first, each with the reason (empty for the first)."""

    queries: tuple[Query, ...]
    reasons: tuple[str, ...]

    @property
    def key(self) -> str:
        return proposal_key(query.query_id for query in self.queries)

    @property
    def name(self) -> str:
        """Return the group that some of the queries are already in, else the text of the most frequent query."""
        return next((query.group for query in self.queries if query.group), self.queries[0].text[:100])

    @property
    def rows(self) -> list[tuple[Query, str]]:
        return list(zip(self.queries, self.reasons, strict=True))


def proposals(collection: Collection) -> list[Proposal]:
    """Propose groups, those with the most searches first."""
    alike = _alike(collection)
    rows = collection.queries.in_bulk([pk for keys, _ in alike for pk in keys])
    refused = set(collection.refused_proposals.values_list("key", flat=True))
    groups = [
        Proposal(tuple(rows[pk] for pk in keys), reasons) for keys, reasons in alike if all(pk in rows for pk in keys)
    ]
    return [one for one in groups if not _one_group(one) and one.key not in refused]


def _alike(collection: Collection) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
    """Return similar queries by key, with the reason. Cached, because queries and sources never change."""
    state = collection.queries.aggregate(many=Count("pk"), last=Max("pk"), searches=Sum("frequency"))
    sources = collection.label_sources.aggregate(many=Count("pk"), last=Max("pk"))
    key = ":".join(str(part) for part in ("alike", collection.pk, *state.values(), *sources.values()))

    def compare() -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
        rows = collection.queries.order_by("pk").values_list("pk", "text", "frequency")[:MOST_QUERIES]
        counted = [LogQuery(normalize(text), text, frequency or 0, None, 1, pk) for pk, text, frequency in rows]
        keys = [pk for pk, _, _ in rows]
        groups = near_duplicates(counted, clicked=lambda places: _clicked(collection, keys, places))
        return [(tuple(int(str(one.raw)) for one in group.queries), group.reasons) for group in groups]

    return compute_once(key, compare, keep=DAY)


def _clicked(collection: Collection, keys: Sequence[int], places: Iterable[int]) -> dict[int, frozenset[object]]:
    """Return the clicked documents by the index of the query, over all click sources."""
    wanted = {keys[place]: place for place in places}
    rows = ClickCount.objects.filter(label__query__collection=collection, clicks__gt=0)
    clicked: dict[int, set[object]] = {}
    for query, document in rows.values_list("label__query", "label__document").iterator():
        if query in wanted:
            clicked.setdefault(wanted[query], set()).add(document)
    return {place: frozenset(documents) for place, documents in clicked.items()}


def _one_group(proposal: Proposal) -> bool:
    names = {query.group for query in proposal.queries}
    return len(names) == 1 and "" not in names
