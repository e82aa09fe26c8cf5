"""Hooks of the pooling app: registrations by the app above it."""

from __future__ import annotations

from collections.abc import Callable

from judgments.models import Collection, User
from pooling.models import Run

# Called after a run is stored.
RUN_LISTENERS: list[Callable[[Run, User], object]] = []

DEFAULT_CUTOFF = 10
# Returns the cutoff of the collection's primary metric, if the app above registers it.
CUTOFFS: list[Callable[[Collection], int | None]] = []


def cutoff(collection: Collection) -> int:
    """Return the cutoff of the first metric with a cutoff that the collection was scored with; 10 before scoring."""
    return next((value for find in CUTOFFS if (value := find(collection))), DEFAULT_CUTOFF)
