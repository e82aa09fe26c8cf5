"""Connector to Typesense."""

from assay.connectors.http_search import http_kind

TYPESENSE = http_kind(
    name="typesense",
    title="Typesense",
    description="Queries a collection; query_by names the fields to search.",
    tested="simulated responses in the documented format",
    deepest=10_000,
    page=250,
    path="/collections/{index}/documents/search",
    index="Collection",
    method="GET",
    template='{"q": "{query}", "query_by": "title,text", "per_page": "{depth}", "page": "{page}"}',
    headers="X-TYPESENSE-API-KEY: {secret}",
    mapping={
        "hits": "hits",
        "doc_id": "document.id",
        "score": "text_match",
        "title": "document.title, document.name",
        "text": "document.text, document.description, document.content, document.body",
        "url": "document.url",
        "image": "document.image",
        "fields": "document",
    },
)
