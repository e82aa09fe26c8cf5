"""Proposals of queries that are probably spellings of one need, for a lead to decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max, Sum

from judgments.computed import once
from judgments.models import Collection, Query
from judgments.query_groups import proposal_key
from pooling.models import ClickCount
from pooling.sampling.log import normalize
from pooling.sampling.near_duplicates import near_duplicates
from pooling.sampling.queries import LogQuery

# Beyond it comparing takes longer than a page may.
MOST_QUERIES = 20_000
DAY = 24 * 3600


@dataclass(frozen=True)
class Proposal:
    """Queries that may be one, the most frequent first, and for each why it is here (nothing for the first)."""

    queries: tuple[Query, ...]
    reasons: tuple[str, ...]

    @property
    def key(self) -> str:
        return proposal_key(query.query_id for query in self.queries)

    @property
    def name(self) -> str:
        """The group that some of them are in already, else what the most frequent one says."""
        return next((query.group for query in self.queries if query.group), self.queries[0].text[:100])

    @property
    def rows(self) -> list[tuple[Query, str]]:
        return list(zip(self.queries, self.reasons, strict=True))


def proposals(collection: Collection) -> list[Proposal]:
    """Propose groups, the one with the most searches first.

    Left out is what a lead has said already: queries that are in one group, and proposals that were refused.
    """
    alike = _alike(collection)
    rows = collection.queries.in_bulk([pk for keys, _ in alike for pk in keys])
    refused = set(collection.refused_proposals.values_list("key", flat=True))
    found = [
        Proposal(tuple(rows[pk] for pk in keys), reasons) for keys, reasons in alike if all(pk in rows for pk in keys)
    ]
    return [one for one in found if not _one_group(one) and one.key not in refused]


def _alike(collection: Collection) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
    """Which queries are alike, by key, and why. Kept, since neither the text of a query nor a source ever changes."""
    told = collection.queries.aggregate(many=Count("pk"), last=Max("pk"), searches=Sum("frequency"))
    sources = collection.label_sources.aggregate(many=Count("pk"), last=Max("pk"))
    key = ":".join(str(part) for part in ("alike", collection.pk, *told.values(), *sources.values()))

    def compare() -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
        rows = collection.queries.order_by("pk").values_list("pk", "text", "frequency")[:MOST_QUERIES]
        counted = [LogQuery(normalize(text), text, frequency or 0, None, 1, pk) for pk, text, frequency in rows]
        keys = [pk for pk, _, _ in rows]
        groups = near_duplicates(counted, clicked=lambda places: _clicked(collection, keys, places))
        return [(tuple(int(str(one.raw)) for one in group.queries), group.reasons) for group in groups]

    return once(key, compare, keep=DAY)


def _clicked(collection: Collection, keys: Sequence[int], places: Iterable[int]) -> dict[int, frozenset[object]]:
    """The documents that people clicked on, by the place of the query, of all sources of clicks."""
    wanted = {keys[place]: place for place in places}
    rows = ClickCount.objects.filter(label__query__collection=collection, clicks__gt=0)
    found: dict[int, set[object]] = {}
    for query, document in rows.values_list("label__query", "label__document").iterator():
        if query in wanted:
            found.setdefault(wanted[query], set()).add(document)
    return {place: frozenset(documents) for place, documents in found.items()}


def _one_group(proposal: Proposal) -> bool:
    names = {query.group for query in proposal.queries}
    return len(names) == 1 and "" not in names
