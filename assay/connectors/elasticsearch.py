"""Connector to Elasticsearch, which refuses incomplete responses."""

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
