"""Send requests and read responses up to a size limit that fits every honest answer."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

    from judgments.network.pools import Pools
    from judgments.providers.limits import Limits
    from judgments.providers.protocol import Endpoint

    Client = httpx.Client | Pools

# An answer of 400 tokens with ten others told for each has 300 KB; long thoughts and their probabilities fit as well.
MOST_BYTES = 4_000_000
# Of an error: the words in it are cut to a line.
MOST_OF_AN_ERROR = 64_000
MOST_AT_ONCE = 1 << 20
GZIP = 16 + zlib.MAX_WBITS


class TooLong(Exception):
    """An answer that goes on beyond all measure; it was written, and may have to be paid for."""


def posted(client: Client, endpoint: Endpoint, request: bytes, seconds: float) -> httpx.Response:
    """Send a question, as `sent` does; the answer may have `MOST_BYTES` beyond it: rerankers send documents back."""
    headers = {"Content-Type": "application/json", **endpoint.protocol.headers(endpoint.key)}
    most = MOST_BYTES + len(request)
    return sent(client, "POST", endpoint.url, headers=headers, seconds=seconds, most=most, content=request)


def sent(
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
    """Send a request, and read what comes as far as it is of any use.

    Parameters
    ----------
    client : httpx.Client or Pools
        How it leaves.
    method, url, headers
        What is sent; ``more`` is its content.
    seconds : float
        Until the whole answer is there: the time-out of a client begins anew with every byte.
    most : int
        Bytes of an answer.
    into : binary file, optional
        Where an answer goes that is too large for the memory; the response has no content then.

    Returns
    -------
    httpx.Response
        Read and closed. An error that is longer than `MOST_OF_AN_ERROR` is cut.

    Raises
    ------
    TooLong
        The answer has more bytes.
    httpx.TransportError
        None came, or none that can be read.
    """
    import httpx

    # Asked for by name: what else a client could unpack, it unpacks whole, whatever comes out.
    told = {"Accept-Encoding": "gzip", **headers}
    with client.stream(method, url, headers=told, timeout=seconds, **more) as response:
        fine, small = response.status_code == 200, BytesIO()
        limit, body = (most, into or small) if fine else (MOST_OF_AN_ERROR, small)
        body.seek(0)
        body.truncate()
        for block in _blocks(response, limit, time.monotonic() + seconds):
            body.write(block)
        if fine and body.tell() > limit:
            raise TooLong(f"the answer has more than {limit:,} bytes and was not read to its end")
        kept = [(name, value) for name, value in response.headers.raw if name.lower() == b"retry-after"]
        return httpx.Response(response.status_code, headers=kept, content=small.getvalue()[:limit])


def _blocks(response: httpx.Response, most: int, until: float) -> Iterator[bytes]:
    """Read a body block by block, and one byte beyond the most where there is more.

    Raises
    ------
    httpx.ReadTimeout
        It is not there in time.
    httpx.RemoteProtocolError
        It is not compressed as it says.
    """
    import httpx

    packed = response.headers.get("Content-Encoding", "").strip().lower() == "gzip"
    unpack = zlib.decompressobj(GZIP)
    left = most + 1
    for block in response.iter_raw():
        while block and left > 0:
            try:
                found = unpack.decompress(block, min(left, MOST_AT_ONCE)) if packed else block[:left]
            except zlib.error as fault:
                raise httpx.RemoteProtocolError(f"the answer cannot be unpacked: {fault}") from None
            left -= len(found)
            block = unpack.unconsumed_tail if packed else b""
            yield found
        if left <= 0:
            return
        if time.monotonic() > until:
            raise httpx.ReadTimeout("the answer drips")


def never_sent(error: httpx.TransportError) -> bool:
    """Whether a request failed before all of it was out, so that nobody can have worked on it."""
    import httpx

    before = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.WriteError, httpx.WriteTimeout)
    return isinstance(error, (*before, httpx.LocalProtocolError, httpx.UnsupportedProtocol))


def plain_client(limits: Limits) -> Pools:
    """A client that goes wherever it is told; on a server another one is handed in."""
    import httpx

    from judgments.network.pools import Pools

    context = httpx.create_ssl_context()  # once: it reads every certificate that the machine trusts
    pool = httpx.Limits(max_connections=limits.concurrency, max_keepalive_connections=limits.concurrency)

    def make() -> httpx.Client:
        return httpx.Client(limits=pool, timeout=limits.timeout, follow_redirects=False, verify=context)

    return Pools(make, limits.concurrency)
