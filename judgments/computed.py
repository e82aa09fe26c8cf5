"""Cache for expensive values: compute a value once when several requests ask for it at the same moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from django.core.cache import cache

Found = TypeVar("Found")

# Who computes is waited for so long; afterwards everybody helps themselves.
PATIENCE = 60
STEP = 0.05


def once(key: str, compute: Callable[[], Found], *, keep: int) -> Found:
    """What is kept under the key; else what is computed, by the first who asks, while the others wait for it.

    Parameters
    ----------
    key : str
        Names everything that the answer depends on.
    compute : callable
        Answers anything but None. What it raises goes to the caller, and the next one tries anew.
    keep : int
        For how many seconds it is kept.
    """
    working = f"{key}:working"
    last = time.monotonic() + PATIENCE
    while True:
        found: Found | None = cache.get(key)
        if found is not None:
            return found
        mine = cache.add(working, True, PATIENCE)
        if mine or time.monotonic() > last:
            break
        time.sleep(STEP)
    try:
        # It may have come between the look and the lock.
        kept: Found | None = cache.get(key)
        if kept is not None:
            return kept
        computed = compute()
        cache.set(key, computed, keep)
        return computed
    finally:
        if mine:
            cache.delete(working)
