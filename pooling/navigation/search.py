"""Search of the command palette in runs and pools."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from judgments.hooks import Search
from judgments.navigation.search import Hit, Scope, named


def runs(scope: Scope, words: str, limit: int) -> Iterator[Hit]:
    rows = scope.collection.runs.active().only("uuid", "name", "filename")
    for row in named(rows, words, "name", "filename")[:limit]:
        yield Hit(row.name, row.filename, reverse("run", args=[scope.collection.slug, row.uuid]))


def pools(scope: Scope, words: str, limit: int) -> Iterator[Hit]:
    for row in named(scope.collection.pools.active(), words, "strategy")[:limit]:
        yield Hit(str(row), f"{row.created_at:%Y-%m-%d}", reverse("pool", args=[scope.collection.slug, row.uuid]))


SEARCHES = [Search("Runs", runs), Search("Pools", pools)]
