"""HTTP transport to engines, with limits on time, memory and allowed addresses."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from assay.core.errors import NotValid
from assay.network.allowed_addresses import Allowed
from assay.network.faults import EngineFault
from assay.network.http_clients import Clock, timed_transport
from assay.network.masked_secrets import masked

if TYPE_CHECKING:
    import httpx

MOST_BYTES = 32 * 1024 * 1024
MOST_REDIRECTS = 3
# The longest excerpt of an engine's message.
EXCERPT = 200
PORTS = {"http": 80, "https": 443}
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# The operating system's error number, which does not help a reader.
_ERRNO = re.compile(r"\[Errno -?\d+\] ")


class Transport:
    """Sends requests and reads JSON."""

    def __init__(
        self, allowed: Allowed, timeout: float = 10.0, headers: Mapping[str, str] | None = None, secret: str = ""
    ) -> None:
        import httpx

        self.allowed, self.timeout, self.secret = allowed, timeout, secret
        self.headers = {"Accept": "application/json", "User-Agent": "assay", **(headers or {})}
        self._clock = Clock()
        self._client = httpx.Client(
            timeout=httpx.Timeout(timeout),
            trust_env=False,
            follow_redirects=False,
            transport=timed_transport(self._clock),
        )

    def close(self) -> None:
        self._client.close()

    def json(self, method: str, url: str, body: Any = None) -> Any:
        """Send a request and return the response as JSON."""
        status, content, wait = self._reply(method, url, None if body is None else json.dumps(body).encode())
        if status >= 400:
            raise self._refusal(url, status, content, wait)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            message = f"{_shown(url)} returned status {status} with {excerpt(content, self.secret)} instead of JSON"
            raise EngineFault("reply", f"{message}. Check that this is the search address.") from None

    def _reply(self, method: str, url: str, body: bytes | None) -> tuple[int, bytes, str | None]:
        deadline = self._clock.until = time.monotonic() + self.timeout
        for _ in range(MOST_REDIRECTS + 1):
            with self._faults(url), self._opened(method, url, body, deadline) as response:
                if response.status_code not in REDIRECTS:
                    content = self._content(response, url, deadline)
                    return response.status_code, content, response.headers.get("Retry-After")
                url = _followed(method, url, response)
        raise EngineFault("redirect", f"{_shown(url)} redirects too many times.")

    @contextmanager
    def _opened(self, method: str, url: str, body: bytes | None, deadline: float) -> Iterator[httpx.Response]:
        import httpx

        _, host, port = place_of(url)
        addresses = self.allowed.addresses(host, port, max(0.001, deadline - time.monotonic()))
        for number, address in enumerate(addresses, start=1):
            try:
                response = self._client.send(self._pinned(method, url, address, body, deadline), stream=True)
                break
            except httpx.ConnectError:
                # Try the next address: "localhost" resolves to ::1 first, but many engines listen only on 127.0.0.1.
                if number == len(addresses):
                    raise
        try:
            yield response
        finally:
            response.close()

    def _pinned(self, method: str, url: str, address: str, body: bytes | None, deadline: float) -> httpx.Request:
        """Return the request to one address, with the original name for Host and TLS."""
        scheme, host, port = place_of(url)
        parts = urlsplit(url)
        bracketed = f"[{address}]" if ":" in address else address
        headers = {**self.headers, "Host": parts.netloc}
        if body is not None:
            headers["Content-Type"] = "application/json"
        return self._client.build_request(
            method,
            urlunsplit((scheme, f"{bracketed}:{port}", parts.path or "/", parts.query, "")),
            content=body,
            headers=headers,
            extensions={"sni_hostname": host},
            timeout=max(0.001, deadline - time.monotonic()),
        )

    @contextmanager
    def _faults(self, url: str) -> Iterator[None]:
        """Turn transport errors into messages without their causes, whose texts may contain headers."""
        import httpx

        try:
            yield
        except httpx.TimeoutException:
            raise EngineFault("timeout", f"{_shown(url)} did not respond within {self.timeout:g} seconds.") from None
        except httpx.ConnectError as error:
            why = _ERRNO.sub("", self._hidden(str(error)))[:EXCERPT].rstrip(".")
            raise EngineFault("unreachable", f"{_shown(url)} cannot be reached: {why}.") from None
        except (httpx.DecodingError, httpx.RemoteProtocolError) as error:
            why = self._hidden(str(error))[:EXCERPT]
            raise EngineFault("busy", f"{_shown(url)} sent an incomplete response: {why}.") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise EngineFault("unreachable", f"{_shown(url)} cannot be queried ({type(error).__name__}).") from None

    def _content(self, response: httpx.Response, url: str, deadline: float) -> bytes:
        content = bytearray()
        for block in response.iter_bytes():
            content += block
            if len(content) > MOST_BYTES:
                limit = MOST_BYTES // (1024 * 1024)
                raise EngineFault("too-large", f"{_shown(url)} returned more than {limit} MB. Request fewer fields.")
            if time.monotonic() > deadline:
                raise EngineFault("timeout", f"{_shown(url)} did not finish within {self.timeout:g} seconds.")
        return bytes(content)

    def _refusal(self, url: str, status: int, content: bytes, wait: str | None) -> EngineFault:
        message = f"{_shown(url)} returned status {status}"
        if status in (401, 403):
            return EngineFault("secret", f"{message}: it rejected the secret, or the secret does not allow searching.")
        if status in BUSY:
            return EngineFault("busy", f"{message}: {excerpt(content, self.secret)}.", _seconds(wait))
        return EngineFault("refused", f"{message}: {excerpt(content, self.secret)}.")

    def _hidden(self, text: str) -> str:
        return masked(text, self.secret)


def excerpt(content: bytes, secret: str) -> str:
    """Return the beginning of an engine's error in quotes, with the secret masked."""
    words = " ".join(masked(error_text(content), secret)[: 4 * EXCERPT].split())
    printable = "".join(character for character in words if character.isprintable())
    return f"“{printable[:EXCERPT]}”" if printable else "nothing"


def error_text(content: bytes) -> str:
    """Return the sentence in an engine's JSON error; the whole content otherwise.

    Examples
    --------
    >>> error_text(b'{"error": {"type": "x", "reason": "no such index [shop]"}, "status": 404}')
    'no such index [shop]'
    """
    text = content[: 64 * 1024].decode("utf-8", "replace")
    try:
        parts = [json.loads(text)]
    except (ValueError, RecursionError):
        return text
    for part in parts:
        if isinstance(part, dict):
            for key in ("reason", "message", "msg", "detail", "error"):
                if isinstance(part.get(key), str) and part[key].strip():
                    return str(part[key])
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)
    return text


def place_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an address.

    Examples
    --------
    >>> place_of("https://search.example.com/products/_search")
    ('https', 'search.example.com', 443)
    """
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError:
        scheme, host, port = "", "", None
    if scheme not in PORTS or not host or any(character.isspace() or not character.isprintable() for character in url):
        message = f"{url[:EXCERPT]!r} is not an address. Write one such as https://search.example.com:9200."
        raise NotValid(message, "address")
    if parts.username is not None or parts.password is not None:
        message = "The address contains a user name or password. Remove it and enter the secret in its own field."
        raise NotValid(message, "address")
    return scheme, host, port or PORTS[scheme]


def _followed(method: str, url: str, response: httpx.Response) -> str:
    target = str(urljoin(url, response.headers.get("Location", "")))
    try:
        same = place_of(target) == place_of(url)
    except NotValid:
        same = False
    if not same or (method != "GET" and response.status_code not in (307, 308)):
        raise EngineFault(
            "redirect", f"{_shown(url)} redirects to {_shown(target)}. If that is right, enter that address instead."
        )
    return target


def _shown(url: str) -> str:
    """Return an address for messages, without its query string, which may contain user input."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"[:EXCERPT]


def _seconds(value: str | None) -> float | None:
    return float(value) if value and value.isascii() and value.isdigit() else None
