"""Connector to OpenSearch."""

from __future__ import annotations

from pooling.connectors.elasticsearch import MAPPING, TEMPLATE, whole
from pooling.connectors.http_search import http_kind

OPENSEARCH = http_kind(
    name="opensearch",
    title="OpenSearch",
    description="Asks one or more indexes by _search; the secret is user:password.",
    tested="a real Elasticsearch 7.0, from which OpenSearch has its search interface",
    deepest=10_000,
    path="/{index}/_search",
    index="Index",
    template=TEMPLATE,
    headers="Authorization: Basic {secret|base64}",
    mapping=MAPPING,
    check=whole,
)
