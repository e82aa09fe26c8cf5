"""Search of the command palette: pages, and rows of the user's collections by id or name.

Ids and the first words of a text are found by an index. Words inside a text are found only among the first rows of a
table, so that a search of a large collection stays fast.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Lower
from django.urls import reverse

from judgments.hooks import PAGES, SEARCHES, Search
from judgments.models import AuditRow, Collection, Membership, Round
from judgments.models.fields import FirstWords
from judgments.navigation.pages import EVERYBODY, pages_of
from judgments.web import access

# Results per kind.
MOST = 5
# Rows of a table whose whole texts are searched.
MOST_SCANNED = 20_000
# Collections that are searched from a page without a collection.
MOST_COLLECTIONS = 5
LONGEST = 200
# Sorts after every text that continues a prefix.
LAST = "\U0010ffff"


@dataclass(frozen=True)
class Hit:
    """A result: its title, a note such as its id, and its address."""

    title: str
    note: str
    url: str


@dataclass(frozen=True)
class Scope:
    """A collection that a user searches, with the user's role."""

    user: Any
    collection: Collection
    role: str


def find(user: Any, collection: Collection | None, text: str) -> list[tuple[str, list[Hit]]]:
    """Return the results of each kind that has some; without a text, the pages of the collection."""
    words = " ".join(text.replace("\0", "").split())[:LONGEST]
    scopes = _scopes(user, collection)
    pages = [hit for hit in _pages(user, scopes[0] if collection else None) if _has(hit.title, words)]
    groups = [("Pages", pages[: MOST if words else None])]
    if words:
        groups += [(search.name, _hits(search, scopes, words)) for search in SEARCHES]
        groups.append(("Collections", list(islice(_collections(user, words), MOST))))
    return [(name, hits) for name, hits in groups if hits]


def _scopes(user: Any, collection: Collection | None) -> list[Scope]:
    if collection is not None:
        memberships = Membership.objects.filter(user_id=user.pk, collection=collection).select_related("collection")
    else:
        memberships = memberships_of(user)
    return [Scope(user, one.collection, one.role) for one in memberships[:MOST_COLLECTIONS]]


def memberships_of(user: Any) -> QuerySet[Membership]:
    """Return the user's memberships, the collection with the newest activity first."""
    activity = AuditRow.objects.filter(collection=OuterRef("collection")).order_by("-pk").values("pk")[:1]
    rows = Membership.objects.filter(user_id=user.pk, collection__archived_at=None).select_related("collection")
    return rows.annotate(newest=Subquery(activity)).order_by(F("newest").desc(nulls_last=True), "-collection_id")


def _has(title: str, words: str) -> bool:
    return all(word in title.casefold() for word in words.casefold().split())


def _pages(user: Any, scope: Scope | None) -> Iterator[Hit]:
    if scope is not None:
        for _, title, url in pages_of(scope.collection, scope.role):
            yield Hit(title, "", url)
    for _, title, url in pages_of(None, EVERYBODY[-1]):
        yield Hit(title, "all collections" if scope else "", url)
    for route in ("collection_new", "compare_systems"):
        if access.may_create_collections(user):
            yield Hit(PAGES[route].title, "all collections" if scope else "", reverse(route))


def _collections(user: Any, words: str) -> Iterator[Hit]:
    rows = memberships_of(user).filter(role__in=access.STAFF, collection__name__icontains=words)
    for one in rows:
        yield Hit(one.collection.name, one.get_role_display(), reverse("collection", args=[one.collection.slug]))


def _hits(search: Search, scopes: Iterable[Scope], words: str) -> list[Hit]:
    hits = (hit for scope in scopes if scope.role in search.roles for hit in search.find(scope, words, MOST))
    return list(islice(hits, MOST))


def named(rows: QuerySet[Any], words: str, *fields: str) -> QuerySet[Any]:
    """Return the rows of a small table with the words in one of the fields, or with this public id."""
    matches = Q()
    for field in fields:
        matches |= Q(**{f"{field}__icontains": words})
    with suppress(ValueError):
        matches |= Q(uuid=uuid.UUID(words))
    return rows.filter(matches)


def indexed(rows: QuerySet[Any], words: str, key: str, text: str, limit: int) -> list[Any]:
    """Return rows of a large table whose id or text begins with the words, then those with the words in the text."""
    by_key = rows.filter(**{f"{key}__gte": words, f"{key}__lt": words + LAST}).order_by(key)
    first = rows.alias(first=FirstWords(text)).order_by("first")
    by_text = first.filter(first__gte=Lower(Value(words[:60])), first__lt=Lower(Value(words[:60] + LAST)))
    scanned = rows.order_by("pk").values("pk")[:MOST_SCANNED]
    within = rows.filter(pk__in=scanned, **{f"{text}__icontains": words}).order_by("pk")
    matched: dict[int, Any] = {}
    for matches in (by_key, by_text, within):
        if len(matched) < limit:
            matched |= {row.pk: row for row in matches[:limit]}
    return list(matched.values())[:limit]


def queries(scope: Scope, words: str, limit: int) -> Iterator[Hit]:
    rows = scope.collection.queries.only("uuid", "query_id", "text")
    for row in indexed(rows, words, "query_id", "text", limit):
        yield Hit(row.text, row.query_id, reverse("query", args=[scope.collection.slug, row.uuid]))


def documents(scope: Scope, words: str, limit: int) -> Iterator[Hit]:
    rows = scope.collection.documents.active().only("uuid", "doc_id", "title")
    for row in indexed(rows, words, "doc_id", "title", limit):
        yield Hit(str(row), row.doc_id, reverse("document", args=[scope.collection.slug, row.uuid]))


def rounds(scope: Scope, words: str, limit: int) -> Iterator[Hit]:
    """Yield rounds: raters find only those in which they rate now."""
    staff = scope.role in access.STAFF
    rows = scope.collection.rounds.active() if staff else Round.objects.open_to(scope.user)
    for row in named(rows.filter(collection=scope.collection), words, "name")[:limit]:
        yield Hit(row.name, row.get_state_display(), reverse("round_progress" if staff else "rate", args=[row.uuid]))


def snapshots(scope: Scope, words: str, limit: int) -> Iterator[Hit]:
    # The hash is neither searched nor shown, because it can reveal labels that are hidden from the reader.
    for row in named(scope.collection.snapshots.all(), words, "name")[:limit]:
        yield Hit(row.name, f"{row.created_at:%Y-%m-%d}", reverse("snapshot", args=[row.uuid]))


# The searches of this app, which it registers.
OWN = [
    Search("Queries", queries),
    Search("Documents", documents),
    Search("Rounds", rounds, roles=EVERYBODY),
    Search("Snapshots", snapshots),
]
