"""Columns of lists of pairs that are known by their ids: query, document and the document's page."""

from __future__ import annotations

from collections.abc import Sequence

from django.urls import reverse

from judgments.documents.answers import questions_of
from judgments.models import Collection, Document
from judgments.models.fields import rows_among
from judgments.web.columns import Column

PAIR_COLUMNS = (
    Column("query", "Query", order="query", head=True, style="clip"),
    Column("query_id", "Query id", order="query_id", style="id"),
    Column("title", "Document", order="title", style="clip", url=lambda row: row["url"]),
    Column("doc_id", "Document id", order="doc_id", style="id"),
)


def described_pairs(collection: Collection, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], dict[str, str]]:
    """Return the values of `PAIR_COLUMNS` of each pair of ids."""
    doc_ids = sorted({doc_id for _, doc_id in pairs})
    queries, questions = dict(collection.queries.values_list("query_id", "text")), questions_of(collection, doc_ids)
    rows = Document.of_any_kind.filter(collection=collection).values_list("doc_id", "title", "uuid")
    documents = {
        doc_id: (title or doc_id, reverse("document", args=[collection.slug, uuid]))
        for doc_id, title, uuid in rows_among(rows, "doc_id", doc_ids)
    }
    described = {}
    for query_id, doc_id in pairs:
        title, url = documents.get(doc_id, (doc_id, ""))
        query = str(questions.get((query_id, doc_id)) or queries.get(query_id, query_id))
        row = {"query": query, "query_id": query_id, "title": title, "doc_id": doc_id, "url": url}
        described[query_id, doc_id] = row
    return described
