"""Common parts of the HTTP connectors: address, template, headers, secret and paths into the response."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from assay.connectors.connector import ConnectorKind, Engine, Hit, Setting
from assay.connectors.reply_mapping import Paths, mapping_of, mapping_settings
from assay.connectors.request_template import asks, filled, filled_address, pages, parsed
from assay.connectors.transport import Transport, place_of
from assay.core.errors import NotValid
from assay.network.allowed_addresses import Allowed

SECRET, ENCODED = "{secret}", "{secret|base64}"
NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Headers of the connection, which settings cannot change.
OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"})


def headers_of(lines: str, secret: str) -> dict[str, str]:
    """Return the headers that these lines describe, with the secret inserted.

    Parameters
    ----------
    lines : str
        One ``Name: value`` per line. ``{secret}`` is the secret, ``{secret|base64}`` its Base64 form: with the secret
        ``user:password``, ``Authorization: Basic {secret|base64}`` logs in with a user name.
    secret : str
        May be empty: lines with a secret are then left out, so an engine without access control needs no other headers.

    Raises
    ------
    NotValid
        For a line that is not a header. The message never contains the secret.

    Examples
    --------
    >>> headers_of("X-Team: search\\nAuthorization: ApiKey {secret}", "abc")
    {'X-Team': 'search', 'Authorization': 'ApiKey abc'}
    """
    if not all(" " <= character <= "~" for character in secret):
        raise NotValid(
            "The secret contains a line break or a character that is not allowed in headers. Remove it.", "secret"
        )
    encoded = base64.b64encode(secret.encode()).decode()
    headers = {}
    for number, line in enumerate(lines.splitlines(), start=1):
        if not line.strip():
            continue
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not NAME.fullmatch(name) or name.lower() in OURS or not all(" " <= one <= "~" for one in value):
            raise NotValid(f"Line {number} of the headers is not a valid header. Write Name: value.", "headers")
        if not secret and (SECRET in value or ENCODED in value):
            continue
        headers[name] = value.replace(ENCODED, encoded).replace(SECRET, secret)
    return headers


# Returns the response to read, or raises an EngineFault, because many engines return status 200 with a partial result.
Check = Callable[[Any], Any]


@dataclass(frozen=True)
class HttpSearch:
    """An engine that is queried with one HTTP request per query or page."""

    transport: Transport
    method: str
    address: str
    template: Mapping[str, Any]
    paths: Paths
    check: Check
    page: int = 0

    def search(self, query: str, depth: int) -> list[Hit]:
        """Run one query, page by page where needed; see `connector.Engine`."""
        # Each page is requested in full, because an engine numbers pages by their size.
        size = min(depth, self.page or depth)
        hits: list[Hit] = []
        while len(hits) < depth:
            page_hits = self._some(query, size, len(hits))
            hits += page_hits
            if len(page_hits) < size:
                break
        return hits[:depth]

    def _some(self, query: str, depth: int, offset: int) -> list[Hit]:
        url = filled_address(self.address, query, depth, offset)
        body = filled(self.template, query, depth, offset)
        if self.method == "GET" and body:
            url, body = f"{url}{'&' if '?' in url else '?'}{urlencode(body, doseq=True)}", None
        reply = self.transport.json(self.method, url, body if self.method == "POST" else None)
        return self.paths.read(self.check(reply), depth)

    def close(self) -> None:
        self.transport.close()


def unchanged(reply: Any) -> Any:
    """Return any response unchanged."""
    return reply


PAGED = Setting(
    "page",
    "Hits per request",
    "The maximum number of hits per request, if less than the depth. Use {offset} or {page} for the next requests.",
)
TEMPLATE_HINT = "JSON with {query} and {depth} inside quotes, and {offset} or {page} if one request is not enough."


def http_kind(
    *,
    name: str,
    title: str,
    description: str,
    tested: str,
    deepest: int,
    path: str,
    template: str,
    headers: str,
    mapping: Mapping[str, str],
    index: str = "",
    method: str = "POST",
    check: Check = unchanged,
    page: int = 0,
) -> ConnectorKind:
    """Return a connector over HTTP."""
    settings = (
        Setting(
            "address", "Address", "The address of the engine, for example https://search.example.com.", required=True
        ),
        *((Setting("index", index, f"The name of the {index.lower()} to search.", required=True),) if index else ()),
        *(() if path else (Setting("method", "Method", "The HTTP method.", method, choices=("POST", "GET")), PAGED)),
        Setting("template", "Query template", TEMPLATE_HINT, template, lines=8),
        Setting(
            "headers", "Headers", "One Name: value per line; {secret} is replaced by your secret.", headers, lines=3
        ),
        Setting("secret", "Secret", "An API key or user:password; stored encrypted, never shown again.", secret=True),
        *mapping_settings(**mapping),
    )

    def build(values: Mapping[str, str], allowed: Allowed, timeout: float) -> Engine:
        address = _address(values, path)
        body = parsed("template", values["template"] or "{}")
        if not asks(address, body):
            raise NotValid("The template does not contain the query. Add {query} to it.", "template")
        if values.get("method", method) == "GET" and any(isinstance(value, dict) for value in body.values()):
            message = "With GET, the template contains URL parameters. Use plain values, or choose POST."
            raise NotValid(message, "template")
        _, host, port = place_of(address)
        headers = headers_of(values["headers"], values["secret"])
        paths = mapping_of(values)
        allowed.addresses(host, port)
        transport = Transport(allowed, timeout, headers, values["secret"])
        size = _page(values, page) if pages(values["template"], address) else 0
        return HttpSearch(transport, values.get("method", method), address, body, paths, check, size)

    return ConnectorKind(name, title, description, tested, deepest, settings, build, page)


def _page(values: Mapping[str, str], usual: int) -> int:
    text = values.get("page", "")
    if text and not (text.isascii() and text.isdigit() and int(text)):
        raise NotValid(f"page is {text!r}. Enter a number such as 100.", "page")
    return int(text) if text else usual


def _address(values: Mapping[str, str], path: str) -> str:
    place_of(values["address"])
    if not path:
        return values["address"]
    return values["address"].rstrip("/") + path.replace("{index}", quote(values.get("index", ""), safe=",*"))
