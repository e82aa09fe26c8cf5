"""Send requests and read responses up to a size limit that fits every valid answer."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

    from assay.llm.providers.limits import Limits
    from assay.llm.providers.protocol import Endpoint
    from assay.network.http_clients import ClientPool

    Client = httpx.Client | ClientPool

# An answer of 400 tokens with ten alternatives each has 300 KB; long reasoning with probabilities also fits.
MOST_BYTES = 4_000_000
# Limit for an error, whose message is cut to one line.
MOST_OF_AN_ERROR = 64_000
MOST_AT_ONCE = 1 << 20
GZIP = 16 + zlib.MAX_WBITS


class TooLong(Exception):
    """The answer exceeds the size limit; it was generated and may be charged."""


def post_question(client: Client, endpoint: Endpoint, request: bytes, seconds: float) -> httpx.Response:
    """Send a question; the response may exceed `MOST_BYTES` by the length of the question, because rerankers return the
    documents."""
    headers = {"Content-Type": "application/json", **endpoint.protocol.headers(endpoint.key)}
    most = MOST_BYTES + len(request)
    return send_request(client, "POST", endpoint.url, headers=headers, seconds=seconds, most=most, content=request)


def send_request(
    client: Client,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    seconds: float,
    most: int,
    into: IO[bytes] | None = None,
    **more: Any,
) -> httpx.Response:
    """Send a request and read the response up to a size limit."""
    import httpx

    # Requested explicitly, because a client decompresses other encodings completely, regardless of size.
    all_headers = {"Accept-Encoding": "gzip", **headers}
    with client.stream(method, url, headers=all_headers, timeout=seconds, **more) as response:
        fine, small = response.status_code == 200, BytesIO()
        limit, body = (most, into or small) if fine else (MOST_OF_AN_ERROR, small)
        body.seek(0)
        body.truncate()
        for block in _blocks(response, limit, time.monotonic() + seconds):
            body.write(block)
        if fine and body.tell() > limit:
            raise TooLong(f"the answer has more than {limit:,} bytes and was not read completely")
        retry_headers = [(name, value) for name, value in response.headers.raw if name.lower() == b"retry-after"]
        return httpx.Response(response.status_code, headers=retry_headers, content=small.getvalue()[:limit])


def _blocks(response: httpx.Response, most: int, until: float) -> Iterator[bytes]:
    """Read a body in blocks, up to one byte beyond the maximum."""
    import httpx

    packed = response.headers.get("Content-Encoding", "").strip().lower() == "gzip"
    unpack = zlib.decompressobj(GZIP)
    left = most + 1
    for block in response.iter_raw():
        while block and left > 0:
            try:
                unpacked = unpack.decompress(block, min(left, MOST_AT_ONCE)) if packed else block[:left]
            except zlib.error as fault:
                raise httpx.RemoteProtocolError(f"the answer cannot be decompressed: {fault}") from None
            left -= len(unpacked)
            block = unpack.unconsumed_tail if packed else b""
            yield unpacked
        if left <= 0:
            return
        if time.monotonic() > until:
            raise httpx.ReadTimeout("the answer is arriving too slowly")


def failed_before_sending(error: httpx.TransportError) -> bool:
    """Return whether a request failed before it was sent completely, so that no server processed it."""
    import httpx

    before = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.WriteError, httpx.WriteTimeout)
    return isinstance(error, (*before, httpx.LocalProtocolError, httpx.UnsupportedProtocol))


def plain_client(limits: Limits) -> ClientPool:
    """Return a client without an allowlist; a server passes in its own client."""
    import httpx

    from assay.network.http_clients import ClientPool, public_tls_context

    context = public_tls_context()
    return ClientPool(lambda: httpx.Client(timeout=limits.timeout, follow_redirects=False, verify=context))
