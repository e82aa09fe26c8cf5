"""Send one webhook request: to a checked address, without redirects, with limits on time and size."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from assay.connectors.transport import place_of
from assay.core.errors import NotValid
from assay.network.allowed_addresses import Allowed
from assay.network.http_clients import CheckedNetwork, Clock, timed_transport
from assay.network.masked_secrets import masked

# Seconds for a whole request, and bytes of a response that are read.
TIMEOUT = 10.0
MOST_BYTES = 4_096
EXCERPT = 500
LONGEST_ADDRESS = 500
# Names of this machine, to which requests need no encryption.
LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Answer:
    """The receiver's status and the start of its response, or why there is none."""

    status: int | None = None
    response: str = ""
    error: str = ""

    @property
    def delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def checked_address(address: str, allowed: Allowed) -> str:
    """Return the address if it is encrypted and the operator allows its host."""
    address = address.strip()
    scheme, host, port = place_of(address)
    problem = ""
    if len(address) > LONGEST_ADDRESS:
        problem = f"The address is longer than {LONGEST_ADDRESS} characters."
    elif scheme != "https" and host not in LOCAL:
        problem = "The address does not start with https://. Webhooks are sent over encrypted connections only."
    elif urlsplit(address).fragment:
        problem = "The address has a part after #, which is never sent. Remove it."
    elif not allowed.names(host, port):
        problem = allowed.refusal(host, port)
    if problem:
        raise NotValid(problem, "address")
    return address


def send(
    allowed: Allowed, address: str, body: bytes, headers: Mapping[str, str], secrets: Sequence[str], timeout: float
) -> Answer:
    """Send a request; the name is resolved and its addresses are checked again for each request."""
    import httpx

    clock = Clock()
    clock.until = time.monotonic() + timeout
    # Without compression, so that the limit holds for what arrives.
    all_headers = {"Content-Type": "application/json", "User-Agent": "assay", "Accept-Encoding": "identity", **headers}
    transport = timed_transport(clock, CheckedNetwork(allowed))  # type: ignore[arg-type]
    try:
        with (
            httpx.Client(transport=transport, timeout=timeout, trust_env=False, follow_redirects=False) as client,
            client.stream("POST", address, content=body, headers=all_headers) as response,
        ):
            start = _start(response)
            status = response.status_code
    except httpx.TimeoutException:
        return Answer(error=f"No complete response within {timeout:g} seconds.")
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return Answer(error=_excerpt(f"No response: {error or type(error).__name__}", secrets)[:300])
    problem = f"The receiver answered with status {status}." if not 200 <= status < 300 else ""
    if 300 <= status < 400:
        problem = f"The receiver redirects (status {status}), and redirects are not followed. Enter the final address."
    return Answer(status, _excerpt(start, secrets), problem)


def _start(response: object) -> str:
    content = bytearray()
    for block in response.iter_raw(MOST_BYTES):  # type: ignore[attr-defined]
        content += block
        if len(content) >= MOST_BYTES:
            break
    return content[:MOST_BYTES].decode("utf-8", "replace")


def _excerpt(text: str, secrets: Sequence[str]) -> str:
    """Return the start of a text as one printable line without secrets."""
    for secret in secrets:
        text = masked(text, secret)
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())[:EXCERPT]
