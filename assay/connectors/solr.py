"""Connector to Solr, which rejects partial responses."""

from __future__ import annotations

from typing import Any

from assay.connectors.http_search import http_kind
from assay.network.faults import EngineFault

# The query is a separate parameter: as `q` it could select its parser by starting with {!...}.
TEMPLATE = """{
  "query": {"edismax": {"query": "{query}", "qf": "title^2 text"}},
  "limit": "{depth}",
  "fields": "*,score"
}"""


def complete_reply(reply: Any) -> Any:
    """Return the response; reject it if it is partial."""
    header = reply.get("responseHeader") if isinstance(reply, dict) else None
    if isinstance(header, dict) and str(header.get("partialResults")).lower() in ("true", "omitted"):
        raise EngineFault("busy", "Solr timed out and returned a partial result.")
    return reply


SOLR = http_kind(
    name="solr",
    title="Solr",
    description="Queries a core or collection through the JSON request API.",
    tested="simulated responses in the documented format",
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
    check=complete_reply,
)
