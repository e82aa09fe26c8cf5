"""Every address of the project, read from the URL resolver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

METHODS = ("get", "post", "put", "patch", "delete")


def routes() -> Iterator[tuple[str, URLPattern]]:
    """Every route with its pattern, the admin's among them."""

    def walk(patterns: list[Any], prefix: str) -> Iterator[tuple[str, URLPattern]]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            else:
                yield route, pattern

    yield from walk(get_resolver().url_patterns, "")


def api_calls() -> set[tuple[str, str]]:
    """Every method and route that the API offers."""
    api = [(route, pattern) for route, pattern in routes() if route.startswith("api/v1/")]
    return {
        (method.upper(), route)
        for route, pattern in api
        for method in METHODS
        if hasattr(pattern.callback.cls, method)  # type: ignore[attr-defined]
    }
