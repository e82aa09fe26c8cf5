"""Connector to Elasticsearch, which refuses incomplete responses."""

from __future__ import annotations

from typing import Any

from judgments.network.faults import EngineFault
from pooling.connectors.http_search import http_kind

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


def whole(reply: Any) -> Any:
    """Refuse a reply in which shards failed or ran out of time: its best documents may be missing."""
    if not isinstance(reply, dict):
        return reply
    if reply.get("timed_out"):
        raise EngineFault("busy", "The engine ran out of its own time and answered only in part.")
    shards = reply.get("_shards")
    if failed := shards.get("failed") if isinstance(shards, dict) else 0:
        raise EngineFault("busy", f"{failed} shards of the index failed; the answer is not whole.")
    return reply


ELASTICSEARCH = http_kind(
    name="elasticsearch",
    title="Elasticsearch",
    description="Asks one or more indexes by _search with the query as you write it.",
    tested="a real Elasticsearch 7.0",
    deepest=10_000,
    path="/{index}/_search",
    index="Index",
    template=TEMPLATE,
    headers="Authorization: ApiKey {secret}",
    mapping=MAPPING,
    check=whole,
)
