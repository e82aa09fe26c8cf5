"""Common parts of the HTTP connectors: address, template, headers, secret and paths into the response."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from judgments.core.errors import NotValid
from judgments.network.addresses import Allowed
from pooling.connectors.contract import ConnectorKind, Engine, Hit, Setting
from pooling.connectors.headers import headers_of
from pooling.connectors.mapping import Paths, mapping_of, mapping_settings
from pooling.connectors.template import asks, filled, filled_address, pages, parsed
from pooling.connectors.transport import Transport, place_of

# Returns the reply as it is to be read, or raises an EngineFault: many engines answer 200 to half an answer.
Check = Callable[[Any], Any]


@dataclass(frozen=True)
class HttpSearch:
    """An engine that is asked by one request for each query.

    Parameters
    ----------
    transport : Transport
        What sends the requests.
    method : str
        ``POST`` sends the filled template as JSON, ``GET`` as parameters of the address.
    address : str
        Where to; ``{query}`` and ``{depth}`` may stand in it.
    template : dict
        What is asked.
    paths : Paths
        Where things stand in the reply.
    check : callable
        Refuses a reply that came with 200 and is none.
    page : int
        How many hits one request returns at most; 0 for as many as are asked for.
    """

    transport: Transport
    method: str
    address: str
    template: Mapping[str, Any]
    paths: Paths
    check: Check
    page: int = 0

    def search(self, query: str, depth: int) -> list[Hit]:
        """Ask for one query, page by page where it has to be; see `contract.Engine`."""
        # Each page is asked for in full: an engine counts pages by their size.
        size = min(depth, self.page or depth)
        hits: list[Hit] = []
        while len(hits) < depth:
            found = self._some(query, size, len(hits))
            hits += found
            if len(found) < size:
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
        """Close the connections."""
        self.transport.close()


def as_it_is(reply: Any) -> Any:
    """Take any reply as it is."""
    return reply


PAGED = Setting(
    "page",
    "Hits a request",
    "How many one request returns at most, if that is less than the depth; {offset} or {page} then asks for the next.",
)
TEMPLATE_HINT = "JSON with {query} and {depth} inside of quotes; {offset} or {page} where depth takes several requests."


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
    check: Check = as_it_is,
    page: int = 0,
) -> ConnectorKind:
    """Return a connector over HTTP.

    Parameters
    ----------
    name, title, description, tested, deepest, page
        As in `ConnectorKind`; where `path` is empty, the page is a setting.
    path : str
        What is put behind the address; ``{index}`` is the setting `index`. Empty where the address is complete.
    template, headers, mapping
        The defaults of the settings with these names.
    index : str, optional
        What an index is called there, for messages; no such setting where empty.
    method : str
        ``POST`` or ``GET``; where `path` is empty, it is a setting.
    check : callable
        As in `HttpSearch`.
    """
    settings = (
        Setting(
            "address", "Address", "Where the engine answers, for example https://search.example.com.", required=True
        ),
        *(
            (Setting("index", index, f"The name of the {index.lower()} that is asked.", required=True),)
            if index
            else ()
        ),
        *(() if path else (Setting("method", "Method", "How it is asked.", method, choices=("POST", "GET")), PAGED)),
        Setting("template", "Query template", TEMPLATE_HINT, template, lines=8),
        Setting("headers", "Headers", "Name: value, one a line; {secret} stands for the secret.", headers, lines=3),
        Setting("secret", "Secret", "A key or user:password; kept encrypted, never shown again.", secret=True),
        *mapping_settings(**mapping),
    )

    def build(values: Mapping[str, str], allowed: Allowed, timeout: float) -> Engine:
        address = _address(values, path)
        asked = parsed("template", values["template"] or "{}")
        if not asks(address, asked):
            message = "the query stands nowhere: write {query} into the template"
            raise NotValid(message, {"template": message})
        if values.get("method", method) == "GET" and any(isinstance(value, dict) for value in asked.values()):
            message = "with GET the template is the parameters of the address; write plain values, or choose POST"
            raise NotValid(message, {"template": message})
        _, host, port = place_of(address)
        sent = headers_of(values["headers"], values["secret"])
        paths = mapping_of(values)
        allowed.addresses(host, port)
        transport = Transport(allowed, timeout, sent, values["secret"])
        size = _page(values, page) if pages(values["template"], address) else 0
        return HttpSearch(transport, values.get("method", method), address, asked, paths, check, size)

    return ConnectorKind(name, title, description, tested, deepest, settings, build, page)


def _page(values: Mapping[str, str], usual: int) -> int:
    text = values.get("page", "")
    if text and not (text.isascii() and text.isdigit() and int(text)):
        message = f"page is {text!r}; it is a number such as 100"
        raise NotValid(message, {"page": message})
    return int(text) if text else usual


def _address(values: Mapping[str, str], path: str) -> str:
    place_of(values["address"])
    if not path:
        return values["address"]
    return values["address"].rstrip("/") + path.replace("{index}", quote(values.get("index", ""), safe=",*"))
