"""Addresses of pages by the name of their route, with what a page knows: its own arguments and its collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from judgments.hooks import PAGES
from judgments.models import Collection


@cache
def arguments(route: str) -> tuple[str, ...] | None:
    """Return the names of the route's arguments; None if there is no such route."""
    return _all_arguments().get(route)


@cache
def _all_arguments() -> dict[str, tuple[str, ...]]:
    return {
        pattern.name: tuple(pattern.pattern.converters)
        for pattern in _patterns(get_resolver().url_patterns)
        if pattern.name
    }


def _patterns(patterns: Sequence[Any]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if not isinstance(pattern, URLResolver):
            yield pattern
        elif pattern.app_name != "admin":
            yield from _patterns(pattern.url_patterns)


def address(route: str, known: Mapping[str, Any]) -> str:
    """Return the address of the route, filled in from the known values; empty if one is missing."""
    names = arguments(route)
    if names is None or not set(names) <= set(known):
        return ""
    return reverse(route, kwargs={name: known[name] for name in names})


def pages_of(collection: Collection | None, role: str) -> list[tuple[str, str, str]]:
    """Return group, title and address of the pages that the role may open and that take no arguments of their own."""
    known = {"slug": collection.slug} if collection else {}
    routes = []
    for route, page in PAGES.items():
        own = arguments(route) == (("slug",) if collection else ())
        url = address(route, known) if own and role in page.roles else ""
        if url:
            routes.append((page.group, page.title, url))
    return routes
