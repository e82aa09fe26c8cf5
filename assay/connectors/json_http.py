"""Generic connector to any engine that accepts HTTP requests and responds with JSON."""

from assay.connectors.http_search import http_kind

JSON_HTTP = http_kind(
    name="json-http",
    title="Any engine over HTTP",
    description="Queries an address with your own template; you map the fields of the response.",
    tested="a real HTTP server that times out, fails, repeats responses and returns wrong data",
    deepest=10_000,
    path="",
    template='{"query": "{query}", "size": "{depth}"}',
    headers="Authorization: Bearer {secret}",
    mapping={"hits": "hits", "doc_id": "id", "score": "score", "title": "title", "text": "text", "url": "url"},
)
