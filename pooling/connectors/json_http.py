"""Generic connector to any engine that takes HTTP requests and responds with JSON."""

from __future__ import annotations

from pooling.connectors.http_search import http_kind

JSON_HTTP = http_kind(
    name="json-http",
    title="Any engine over HTTP",
    description="Asks one address with a template of your own; you say where in the reply things stand.",
    tested="a real HTTP server that hangs, fails, repeats and lies",
    deepest=10_000,
    path="",
    template='{"query": "{query}", "size": "{depth}"}',
    headers="Authorization: Bearer {secret}",
    mapping={"hits": "hits", "doc_id": "id", "score": "score", "title": "title", "text": "text", "url": "url"},
)
