"""Connector to Vespa, which refuses responses with errors or partial coverage."""

from __future__ import annotations

from typing import Any

from judgments.network.faults import EngineFault
from pooling.connectors.http_search import http_kind

TEMPLATE = """{
  "yql": "select * from sources * where userInput(@words)",
  "words": "{query}",
  "hits": "{depth}",
  "offset": "{offset}"
}"""


def whole(reply: Any) -> Any:
    """Refuse a reply that holds errors or covers a part of the documents; return the documents of any other."""
    root = reply.get("root") if isinstance(reply, dict) else None
    if not isinstance(root, dict):
        return reply
    if root.get("errors"):
        told = [str(one.get("message") or one.get("summary")) for one in root["errors"] if isinstance(one, dict)]
        raise EngineFault("refused", f"Vespa answered with errors: {'; '.join(told)[:200]}")
    coverage = root.get("coverage")
    if isinstance(coverage, dict) and coverage.get("full") is False:
        raise EngineFault("busy", f"Vespa covered {coverage.get('coverage')} % of the documents only.")
    # Vespa sends no list at all where nothing was found; a child without fields is a group and no document.
    children = root.get("children") or []
    return {"root": {**root, "children": [child for child in children if not _is_group(child)]}}


def _is_group(child: Any) -> bool:
    return isinstance(child, dict) and str(child.get("id", "")).startswith("group:")


VESPA = http_kind(
    name="vespa",
    title="Vespa",
    description="Asks the query API with YQL; the words of the query are a parameter of their own.",
    tested="replies in the form of recorded ones, with our documents",
    # maxHits and maxOffset as they come: the last request may begin at 1,000.
    deepest=1_000,
    page=400,
    path="/search/",
    template=TEMPLATE,
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
    check=whole,
)
