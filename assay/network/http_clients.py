"""HTTP clients: a pool for concurrent threads, a deadline of a whole request, and checked addresses."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from assay.network.allowed_addresses import Allowed
from assay.network.faults import EngineFault

if TYPE_CHECKING:
    import ssl

    import httpcore
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
    """Pool with one client per concurrent request; the client used last is used next.

    An httpx client checks all its connections under a lock whenever a request begins or ends. With 32 connections that
    takes a quarter of the processor time of a request, so here each client has one request at a time.
    """

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


# A slow network accepts part of this at a time; the clock is checked in between.
WRITTEN_AT_ONCE = 1 << 16


class Clock(threading.local):
    """Deadline of the current request of a thread, because the network layer limits only single steps.

    The limit of a read restarts with each byte that arrives, so an engine that sends its headers one byte at a time
    never exceeds it. With `timed_transport`, each step gets only the remaining time of the request.
    """

    until: float | None = None

    def left(self, most: float | None = None) -> float:
        """Return the remaining seconds, at most the given number."""
        import httpcore

        if self.until is None:
            return 3600.0 if most is None else most
        left = self.until - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left if most is None else min(left, most)


class TimedStream:
    """Connection that limits every operation by the clock (``httpcore.NetworkStream``)."""

    def __init__(self, inner: httpcore.NetworkStream, clock: Clock) -> None:
        self._inner, self._clock = inner, clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read the available bytes."""
        return self._inner.read(max_bytes, self._clock.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all bytes."""
        for begin in range(0, len(buffer), WRITTEN_AT_ONCE):
            self._inner.write(buffer[begin : begin + WRITTEN_AT_ONCE], self._clock.left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> TimedStream:
        """Start TLS."""
        return TimedStream(self._inner.start_tls(ssl_context, server_hostname, self._clock.left(timeout)), self._clock)

    def get_extra_info(self, info: str) -> Any:
        """Return information about the connection."""
        return self._inner.get_extra_info(info)


class TimedNetwork:
    """Network backend with the clock (``httpcore.NetworkBackend``)."""

    def __init__(self, clock: Clock, inner: httpcore.NetworkBackend | None = None) -> None:
        import httpcore

        self._inner, self._clock = inner or httpcore.SyncBackend(), clock

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> TimedStream:
        """Connect."""
        inner = self._inner.connect_tcp(host, port, timeout=self._clock.left(timeout), **options)
        return TimedStream(inner, self._clock)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(self._clock.left(seconds))


def timed_transport(clock: Clock, inner: httpcore.NetworkBackend | None = None) -> httpx.HTTPTransport:
    """Return an httpx transport with the deadline, on another network backend if one is given."""
    limits = {"max_connections": 100, "max_keepalive_connections": 20, "keepalive_expiry": 5.0}
    return transport_on(TimedNetwork(clock, inner), **limits)


class CheckedNetwork:
    """Network backend that connects only to allowed addresses (``httpcore.NetworkBackend``).

    It resolves the name, checks every address, and connects to one of them by number; the name remains in ``Host`` and
    in the TLS handshake. A name can therefore not point elsewhere between the check and the connection.
    """

    def __init__(self, allowed: Allowed) -> None:
        import httpcore

        self._inner, self._allowed = httpcore.SyncBackend(), allowed

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> httpcore.NetworkStream:
        """Connect to the first address that accepts the connection."""
        import httpcore

        try:
            addresses = self._allowed.addresses(host, port, timeout or 10.0)
        except EngineFault as fault:
            raise httpcore.ConnectError(str(fault)) from None
        for number, address in enumerate(addresses, start=1):
            try:
                return self._inner.connect_tcp(address, port, timeout=timeout, **options)
            except httpcore.ConnectError:
                # Try the next address: "localhost" resolves to ::1 first, but many servers listen only on 127.0.0.1.
                if number == len(addresses):
                    raise
        raise httpcore.ConnectError(f"{host} has no address")

    def connect_unix_socket(self, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:
        """Raise an exception, because Unix sockets are never allowed."""
        import httpcore

        raise httpcore.ConnectError("connections to Unix sockets are not allowed")

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self._inner.sleep(seconds)


def checked_client(allowed: Allowed, timeout: float) -> ClientPool:
    """Return an HTTP client that connects only to allowed addresses."""
    import httpx

    def make() -> httpx.Client:
        transport = transport_on(CheckedNetwork(allowed))
        return httpx.Client(transport=transport, timeout=timeout, trust_env=False, follow_redirects=False)

    return ClientPool(make)
