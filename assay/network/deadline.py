"""Deadline of a whole HTTP request, because the network layer limits only single steps. The limit of a read restarts
with each byte that arrives, so an engine that sends its headers one byte at a time never exceeds it. With this
transport, each step gets only the remaining time of the request.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from assay.network.client_pool import transport_on

if TYPE_CHECKING:
    import ssl

    import httpcore
    import httpx

# A slow network accepts part of this at a time; the clock is checked in between.
WRITTEN_AT_ONCE = 1 << 16


class Clock(threading.local):
    """Deadline of the current request of a thread."""

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
