"""Cutoff of a collection's primary metric. Apps that know metrics register a finder."""

from __future__ import annotations

from collections.abc import Callable

from judgments.models import Collection

DEFAULT = 10
FINDERS: list[Callable[[Collection], int | None]] = []


def cutoff(collection: Collection) -> int:
    """The cutoff of the first metric that the collection was scored with and that has one; 10 before that."""
    return next((found for find in FINDERS if (found := find(collection))), DEFAULT)
