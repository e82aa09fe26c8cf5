"""Connector to Solr, which refuses responses that Solr cut short."""

from __future__ import annotations

from typing import Any

from judgments.network.faults import EngineFault
from pooling.connectors.http_search import http_kind

# The query is a value of its own: as `q` it could choose its parser by beginning with {!...}.
TEMPLATE = """{
  "query": {"edismax": {"query": "{query}", "qf": "title^2 text"}},
  "limit": "{depth}",
  "fields": "*,score"
}"""


def whole(reply: Any) -> Any:
    """Refuse a reply that Solr cut short."""
    header = reply.get("responseHeader") if isinstance(reply, dict) else None
    if isinstance(header, dict) and str(header.get("partialResults")).lower() in ("true", "omitted"):
        raise EngineFault("busy", "Solr ran out of its own time and answered only in part.")
    return reply


SOLR = http_kind(
    name="solr",
    title="Solr",
    description="Asks a core or collection by its JSON request API.",
    tested="replies in the form of recorded ones, with our documents",
    deepest=10_000,
    path="/solr/{index}/query",
    index="Collection",
    template=TEMPLATE,
    headers="Authorization: Basic {secret|base64}",
    mapping={
        "hits": "response.docs",
        "doc_id": "id",
        "score": "score",
        "title": "title, name",
        "text": "text, description, content, body",
        "url": "url",
        "image": "image",
    },
    check=whole,
)
