"""Connector to Algolia."""

from assay.connectors.http_search import http_kind

ALGOLIA = http_kind(
    name="algolia",
    title="Algolia",
    description=(
        "Queries an index. The address is https://APPLICATION-dsn.algolia.net; the application id is also in the "
        "headers."
    ),
    tested="simulated responses in the documented format",
    deepest=1_000,
    path="/1/indexes/{index}/query",
    index="Index",
    template='{"query": "{query}", "hitsPerPage": "{depth}", "analytics": false}',
    headers="X-Algolia-Application-Id: APPLICATION\nX-Algolia-API-Key: {secret}",
    mapping={
        "hits": "hits",
        "doc_id": "objectID",
        "title": "title, name",
        "text": "text, description, content, body",
        "url": "url",
        "image": "image",
    },
)
