"""Search of the command palette in decisions."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from judgments.hooks import Search
from judgments.navigation.search import Hit, Scope, named


def decisions(scope: Scope, words: str, limit: int) -> Iterator[Hit]:
    for row in named(scope.collection.decisions.all(), words, "name")[:limit]:
        yield Hit(str(row), "", reverse("decision", args=[scope.collection.slug, row.uuid]))


SEARCHES = [Search("Decisions", decisions)]
