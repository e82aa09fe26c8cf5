"""HTTP clients for many concurrent threads.

An httpx client checks all its connections under a lock whenever a request begins or ends. With 32 connections that
takes a quarter of the processor time of a request, so here each client has one request at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import ssl

    import httpx


@cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS settings of clients on a network backend, made once: this reads all trusted certificates."""
    import ssl

    return ssl.create_default_context()


@cache
def public_tls_context() -> ssl.SSLContext:
    """Return httpx's own TLS settings, which trust the certificates of certifi, made once like `tls_context`."""
    import httpx

    return httpx.create_ssl_context()


def transport_on(backend: Any, **limits: Any) -> httpx.HTTPTransport:
    """Return an httpx transport on another network backend (``httpcore.NetworkBackend``)."""
    import httpcore
    import httpx

    context = tls_context()
    transport = httpx.HTTPTransport(verify=context, trust_env=False)
    # httpx does not accept a network backend, but httpcore, which it uses, does.
    transport._pool = httpcore.ConnectionPool(ssl_context=context, network_backend=backend, **limits)
    return transport


class ClientPool:
    """Pool with one client per concurrent request; the client used last is used next."""

    def __init__(self, make: Callable[[], httpx.Client]) -> None:
        self._make = make
        self._clients: list[httpx.Client] = []
        self._idle: deque[httpx.Client] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def stream(self, method: str, url: str, **more: Any) -> Iterator[httpx.Response]:
        """Send a request, as `httpx.Client.stream` does."""
        try:
            client = self._idle.pop()
        except IndexError:
            client = self._make()
            self._clients.append(client)
        try:
            with client.stream(method, url, **more) as response:
                yield response
        finally:
            self._idle.append(client)

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            client.close()
