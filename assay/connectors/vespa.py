"""Connector to Vespa, which refuses responses with errors or partial coverage."""

from __future__ import annotations

from typing import Any

from assay.connectors.http_search import http_kind
from assay.network.faults import EngineFault

TEMPLATE = """{
  "yql": "select * from sources * where userInput(@words)",
  "words": "{query}",
  "hits": "{depth}",
  "offset": "{offset}"
}"""


def complete_reply(reply: Any) -> Any:
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
    tested="simulated responses in the documented format",
    # The defaults of maxHits and maxOffset: the last request may start at 1,000.
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
    check=complete_reply,
)
