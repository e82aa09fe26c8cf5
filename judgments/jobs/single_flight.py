"""Cache for expensive values: compute a value once when several requests ask for it at the same time."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.cache import cache

Value = TypeVar("Value")

# Seconds other requests wait for the first one to finish before computing it themselves.
WAIT_SECONDS = 60
STEP = 0.05


def hashed_key(name: str, *content: Any) -> str:
    """Return a cache key: a name, and a hash of everything that the value depends on."""
    return f"{name}:{hashlib.sha256(json.dumps(content).encode()).hexdigest()}"


def compute_once(key: str, compute: Callable[[], Value], *, keep: int) -> Value:
    """Return the cached value; otherwise the first request computes it while the others wait."""
    working = f"{key}:working"
    last = time.monotonic() + WAIT_SECONDS
    while True:
        value: Value | None = cache.get(key)
        if value is not None:
            return value
        mine = cache.add(working, True, WAIT_SECONDS)
        if mine or time.monotonic() > last:
            break
        time.sleep(STEP)
    try:
        # Another request may have stored it before this one got the lock.
        stored: Value | None = cache.get(key)
        if stored is not None:
            return stored
        computed = compute()
        cache.set(key, computed, keep)
        return computed
    finally:
        if mine:
            cache.delete(working)
