"""HTTP client that connects only to checked addresses.

httpx requests each connection from a network backend. This backend resolves the name, checks every address, and
connects to one of them by number; the name remains in ``Host`` and in the TLS handshake. A name can therefore not point
elsewhere between the check and the connection, and all traffic of the client goes through this backend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.network.allowed_addresses import Allowed
from assay.network.faults import EngineFault

if TYPE_CHECKING:
    import httpcore
    import httpx

    from assay.network.client_pool import ClientPool


class CheckedNetwork:
    """Network backend that connects only to allowed addresses (``httpcore.NetworkBackend``)."""

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

    from assay.network.client_pool import ClientPool, transport_on

    def make() -> httpx.Client:
        transport = transport_on(CheckedNetwork(allowed))
        return httpx.Client(transport=transport, timeout=timeout, trust_env=False, follow_redirects=False)

    return ClientPool(make)
