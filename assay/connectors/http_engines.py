"""Connectors of search engines over HTTP: what each sends and where its replies hold the documents."""

from __future__ import annotations

from typing import Any

from assay.connectors.http_search import http_kind
from assay.network.faults import EngineFault

TEMPLATE = """{
  "size": "{depth}",
  "query": {"multi_match": {"query": "{query}", "fields": ["title^2", "text"]}}
}"""
MAPPING = {
    "hits": "hits.hits",
    "doc_id": "_id",
    "score": "_score",
    "title": "_source.title, _source.name",
    "text": "_source.text, _source.description, _source.content, _source.body",
    "url": "_source.url",
    "image": "_source.image",
    "fields": "_source",
}


def complete_reply(reply: Any) -> Any:
    """Return the response; reject it if shards failed or timed out, because its best documents may be missing."""
    if not isinstance(reply, dict):
        return reply
    if reply.get("timed_out"):
        raise EngineFault("busy", "The engine timed out and returned a partial result.")
    shards = reply.get("_shards")
    if failed := shards.get("failed") if isinstance(shards, dict) else 0:
        raise EngineFault("busy", f"{failed} shards of the index failed, so the result is incomplete.")
    return reply


ELASTICSEARCH = http_kind(
    name="elasticsearch",
    title="Elasticsearch",
    description="Queries one or more indexes through _search with your own query.",
    tested="a real Elasticsearch 7.0",
    deepest=10_000,
    path="/{index}/_search",
    index="Index",
    template=TEMPLATE,
    headers="Authorization: ApiKey {secret}",
    mapping=MAPPING,
    check=complete_reply,
)


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


OPENSEARCH = http_kind(
    name="opensearch",
    title="OpenSearch",
    description="Queries one or more indexes through _search; the secret is user:password.",
    tested="a real Elasticsearch 7.0, which has the same search API",
    deepest=10_000,
    path="/{index}/_search",
    index="Index",
    template=TEMPLATE,
    headers="Authorization: Basic {secret|base64}",
    mapping=MAPPING,
    check=complete_reply,
)


ALGOLIA = http_kind(
    name="algolia",
    title="Algolia",
    description=(
        "Queries an index. The address is https://APPLICATION-dsn.algolia.net; the application id is also in the "
        "headers."
    ),
    tested="replies in the documented format, with our own documents",
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


# The query is a separate parameter: as `q` it could select its parser by starting with {!...}.
SOLR_TEMPLATE = """{
  "query": {"edismax": {"query": "{query}", "qf": "title^2 text"}},
  "limit": "{depth}",
  "fields": "*,score"
}"""


def complete_solr_reply(reply: Any) -> Any:
    """Return the response; reject it if it is partial."""
    header = reply.get("responseHeader") if isinstance(reply, dict) else None
    if isinstance(header, dict) and str(header.get("partialResults")).lower() in ("true", "omitted"):
        raise EngineFault("busy", "Solr timed out and returned a partial result.")
    return reply


SOLR = http_kind(
    name="solr",
    title="Solr",
    description="Queries a core or collection through the JSON request API.",
    tested="replies in the documented format, with our own documents",
    deepest=10_000,
    path="/solr/{index}/query",
    index="Collection",
    template=SOLR_TEMPLATE,
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
    check=complete_solr_reply,
)


TYPESENSE = http_kind(
    name="typesense",
    title="Typesense",
    description="Queries a collection; query_by names the fields to search.",
    tested="replies in the documented format, with our own documents",
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


VESPA_TEMPLATE = """{
  "yql": "select * from sources * where userInput(@words)",
  "words": "{query}",
  "hits": "{depth}",
  "offset": "{offset}"
}"""


def complete_vespa_reply(reply: Any) -> Any:
    """Return the documents; reject a response with errors or partial coverage."""
    root = reply.get("root") if isinstance(reply, dict) else None
    if not isinstance(root, dict):
        return reply
    if root.get("errors"):
        messages = [str(one.get("message") or one.get("summary")) for one in root["errors"] if isinstance(one, dict)]
        raise EngineFault("refused", f"Vespa returned errors: {'; '.join(messages)[:200]}")
    coverage = root.get("coverage")
    if isinstance(coverage, dict) and coverage.get("full") is False:
        raise EngineFault("busy", f"Vespa covered only {coverage.get('coverage')}% of the documents.")
    # Vespa returns no list if nothing matches; a child without fields is a group, not a document.
    children = root.get("children") or []
    return {"root": {**root, "children": [child for child in children if not _is_group(child)]}}


def _is_group(child: Any) -> bool:
    return isinstance(child, dict) and str(child.get("id", "")).startswith("group:")


VESPA = http_kind(
    name="vespa",
    title="Vespa",
    description="Queries the query API with YQL; the query text is a separate parameter.",
    tested="replies in the documented format, with our own documents",
    # The defaults of maxHits and maxOffset: the last request may start at 1,000.
    deepest=1_000,
    page=400,
    path="/search/",
    template=VESPA_TEMPLATE,
    headers="Authorization: Bearer {secret}",
    mapping={
        "hits": "root.children",
        "doc_id": "id",
        "score": "relevance",
        "title": "fields.title, fields.name",
        "text": "fields.text, fields.description, fields.content, fields.body",
        "url": "fields.url",
        "image": "fields.image",
        "fields": "fields",
    },
    check=complete_vespa_reply,
)
