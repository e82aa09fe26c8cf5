"""Connector to OpenSearch."""

from assay.connectors.elasticsearch import MAPPING, TEMPLATE, complete_reply
from assay.connectors.http_search import http_kind

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
