"""HTTP connection to an Assay server: retries with back-off, clear errors, and downloads that continue."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from assay.connectors.transport import BUSY, EXCERPT, excerpt, place_of
from assay.core.errors import AssayError, NotValid
from assay.network.masked_secrets import masked

if TYPE_CHECKING:
    import httpx

API = "/api/v1/"
# A response that is parsed is at most this large; files are streamed.
MOST_BYTES = 64 << 20
PART = ".part"


@dataclass(frozen=True)
class Patience:
    """How often and for how long a request is repeated, in seconds."""

    attempts: int = 6
    first_wait: float = 0.5
    longest_wait: float = 30.0
    # A server may ask for a longer wait than the back-off, up to this.
    longest_requested: float = 120.0
    timeout: float = 60.0
    # The wait for a job of the server.
    longest_job: float = float("inf")


class ServerFault(AssayError):
    """A failed request to a server, with the HTTP status and the server's error code if there are any."""

    def __init__(self, message: str, status: int | None = None, code: str = "", body: Any = None) -> None:
        super().__init__(message)
        self.status, self.code, self.body = status, code, body


class Passing(ServerFault):
    """A failure that may be over soon; ``wait`` is the time that the server asked for."""

    wait: float | None = None


def server_address(url: str) -> str:
    """Return the address of a server in its usual form.

    Examples
    --------
    >>> server_address("https://assay.example.com/")
    'https://assay.example.com'
    """
    place_of(url)
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix(API.rstrip("/")).rstrip("/")
    return f"{parts.scheme.lower()}://{parts.netloc}{path}"


class Connection:
    """Connection to the API of a server with a token.

    Parameters
    ----------
    url : str
        Address of the server.
    token : str
        An API token. It is sent to this address only, and appears in no message.
    patience : Patience
        Limits of retries.
    notice : callable
        Receives a sentence before each retry.
    """

    def __init__(
        self, url: str, token: str, patience: Patience | None = None, notice: Callable[[str], None] = lambda text: None
    ) -> None:
        import httpx

        from assay.network.http_clients import public_tls_context

        self.url, self._token = server_address(url), token.strip()
        if not self._token or not all("!" <= letter <= "~" for letter in self._token):
            raise NotValid("the token is empty or contains characters that no token has; copy it again")
        self.patience, self._notice = patience or Patience(), notice
        self._http = httpx.Client(
            timeout=httpx.Timeout(self.patience.timeout, connect=min(10.0, self.patience.timeout)),
            follow_redirects=False,
            verify=public_tls_context(),
            headers={"Authorization": f"Bearer {self._token}", "User-Agent": "assay", "Accept": "application/json"},
        )

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **query: str) -> Any:
        """Return the JSON at a path."""
        return self.json("GET", path, query=query)

    def json(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a request until the server answers, and return its JSON; None for an empty response."""
        header_fields = dict(headers or {})
        if content is None and body is not None:
            content, header_fields["Content-Type"] = json.dumps(body).encode(), "application/json"
        return self.persistently(lambda: self.once(method, path, content, header_fields, query))

    def persistently(self, attempt: Callable[[], Any]) -> Any:
        """Call a function until it succeeds or the failures are too many or will not pass."""
        number = 0
        while True:
            number += 1
            try:
                return attempt()
            except Passing as fault:
                if number >= self.patience.attempts:
                    message = f"{fault} Gave up after {number} attempts; run the command again to continue."
                    raise ServerFault(message, fault.status, fault.code) from None
                # Half of the wait is random, so that clients that failed together do not retry together.
                wait = self.patience.first_wait * 2.0 ** (number - 1) * (0.5 + random.random() / 2)  # noqa: S311
                wait = min(wait, self.patience.longest_wait)
                if fault.wait is not None:
                    wait = max(wait, fault.wait)
                if wait > self.patience.longest_requested:
                    message = f"{fault} It asks to wait {wait:,.0f} seconds; run the command again later."
                    raise ServerFault(message, fault.status, fault.code) from None
                self._notice(f"{fault} Trying again in {wait:.1f} s.")
                time.sleep(wait)

    def once(
        self,
        method: str,
        path: str,
        content: bytes | None,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a request once, and return its JSON."""
        with self._response(method, path, content, headers, query) as response:
            body = self._read(response)
            if response.status_code == 204 or (not body and response.status_code < 400):
                return None
            if response.status_code >= 400:
                raise self._refusal(response, body)
            try:
                return json.loads(body)
            except (ValueError, RecursionError):
                what = f"{self.url} returned {excerpt(body, self._token)} instead of JSON."
                raise Passing(f"{what} Check the address of the server.", response.status_code) from None

    def download(self, path: str, target: Path, progress: Callable[[int], None] = lambda done: None) -> None:
        """Download a file; an interrupted download continues, even if another process began it."""
        part, mark = target.with_name(target.name + PART), target.with_name(target.name + PART + ".etag")

        def attempt() -> None:
            start = part.stat().st_size if part.exists() and mark.exists() else 0
            headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
            if start:
                headers |= {"Range": f"bytes={start}-", "If-Range": mark.read_text(encoding="ascii")}
            with self._response("GET", path, None, headers) as response:
                status = response.status_code
                if status == 416:
                    part.unlink(missing_ok=True)
                    raise Passing(f"{self.url} has less of {target.name} than expected.", status)
                if status >= 400:
                    raise self._refusal(response, self._read(response))
                if "text/html" in response.headers.get("Content-Type", ""):
                    what = f"{self.url} returned {excerpt(self._read(response), self._token)} instead of {target.name}."
                    raise Passing(f"{what} Check the address of the server.", status)
                if status != 206 or not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                    if status == 206:
                        part.unlink()
                        raise Passing(f"{self.url} continued {target.name} at another place.", status)
                    start = 0
                    part.unlink(missing_ok=True)
                    mark.unlink(missing_ok=True)
                    etag = response.headers.get("ETag", "")
                    if etag.isascii() and etag.startswith('"'):
                        mark.write_text(etag, encoding="ascii")
                with part.open("ab") as file:
                    # As it arrives: a block of fixed size would be lost if the connection breaks.
                    for block in response.iter_raw():
                        file.write(block)
                        start += len(block)
                        progress(start)

        target.parent.mkdir(parents=True, exist_ok=True)
        self.persistently(attempt)
        mark.unlink(missing_ok=True)
        os.replace(part, target)

    @contextmanager
    def _response(
        self,
        method: str,
        path: str,
        content: bytes | None,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None = None,
    ) -> Iterator[httpx.Response]:
        """Yield the response; failures of the network become faults that may pass."""
        import httpx

        address = f"{self.url}{API}{path}" + (f"?{urlencode(query)}" if query else "")
        fields, body = dict(headers), None
        if content:
            # An iterator drops the bytes when they are sent; httpx would keep them until the garbage collection.
            fields["Content-Length"], body = str(len(content)), iter((content,))
        try:
            with self._http.stream(method, address, content=body, headers=fields) as response:
                if 300 <= response.status_code < 400:
                    place = self._hidden(response.headers.get("Location", "another address"))[:EXCERPT]
                    raise ServerFault(
                        f"{self.url} redirects to {place}. If that is right, use that address as the server.",
                        response.status_code,
                    )
                yield response
        except httpx.TimeoutException:
            raise Passing(f"{self.url} did not respond within {self.patience.timeout:g} seconds.") from None
        except httpx.ConnectError as error:
            raise Passing(f"{self.url} cannot be reached: {self._hidden(str(error))[:EXCERPT]}.") from None
        except httpx.TransportError as error:
            why = self._hidden(str(error))[:EXCERPT].rstrip(".") or type(error).__name__
            raise Passing(f"{self.url} closed the connection early: {why}.") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ServerFault(f"{self.url} cannot be used ({type(error).__name__}).") from None

    def _read(self, response: httpx.Response) -> bytes:
        content = bytearray()
        for block in response.iter_bytes():
            content += block
            if len(content) > MOST_BYTES:
                limit = f"{MOST_BYTES >> 20} MB"
                raise ServerFault(f"{self.url} returned more than {limit}. Check the address of the server.")
        return bytes(content)

    def _refusal(self, response: httpx.Response, content: bytes) -> ServerFault:
        """Return the error of a response, with the server's own sentence if it has one."""
        status = response.status_code
        try:
            body = json.loads(content)
            error = body["error"]
            message, code = self._hidden(str(error["message"])), str(error["code"])
            fields = error.get("fields") or {}
            details = [self._hidden(f"{name}: {text}") for name, text in fields.items() if str(text) != message]
            sentence = " ".join([message, *details])
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            body, code = None, ""
            sentence = f"{self.url} returned status {status} with {excerpt(content, self._token)}."
        if status in BUSY:
            fault = Passing(sentence, status, code, body)
            wait = response.headers.get("Retry-After", "")
            fault.wait = float(wait) if wait.isascii() and wait.isdigit() else None
            return fault
        if status == 401:
            sentence += " Log in again with assay login, or check ASSAY_TOKEN."
        return ServerFault(sentence, status, code, body)

    def _hidden(self, text: str) -> str:
        return masked(text, self._token)


def print_notice(text: str) -> None:
    """Print a note about a retry on standard error."""
    sys.stderr.write(f"note: {text}\n")
