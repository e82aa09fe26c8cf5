"""Connections to a server in several pools, for many concurrent threads. A pool of httpx checks all its connections
under a lock whenever a request begins or ends. With more than a few dozen connections, the threads wait for that
lock instead of the server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import httpx

# Number of threads per pool.
MOST = 16


class Pools:
    """Several HTTP clients, each with its own connection pool; a thread always uses the same client."""

    def __init__(self, make: Callable[[], httpx.Client], threads: int) -> None:
        self._clients = [make() for _ in range(-(-threads // MOST))]
        self._number, self._mine = count(), threading.local()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stream(self, method: str, url: str, **more: Any) -> AbstractContextManager[httpx.Response]:
        """Send a request, as `httpx.Client.stream` does."""
        client: httpx.Client | None = getattr(self._mine, "client", None)
        if client is None:
            # In turn, so that all pools have the same number of threads.
            client = self._mine.client = self._clients[next(self._number) % len(self._clients)]
        return client.stream(method, url, **more)

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            client.close()
