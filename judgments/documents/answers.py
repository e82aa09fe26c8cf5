"""Answers of RAG systems by their ids, and the questions that they answer."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import F

from judgments.models import Collection, Document, Query
from judgments.models.fields import rows_among


def answers_by_id(collection: Collection, doc_ids: Sequence[str]) -> dict[str, Document]:
    """Return the answers of RAG systems that have these ids."""
    return {row.doc_id: row for row in rows_among(Document.answers.filter(collection=collection), "doc_id", doc_ids)}


def questions_of(collection: Collection, doc_ids: Sequence[str]) -> dict[tuple[str, str], Query]:
    """Return the question of each answer among these ids, by the ids of both. An answer belongs to one question."""
    answers = Document.answers.filter(collection=collection).values_list("doc_id", flat=True)
    wanted = set(answers).intersection(doc_ids)
    of_answers = {"pairs__document__collection": collection, "pairs__document__kind": Document.Kind.ANSWER}
    rows = Query.of_any_kind.filter(**of_answers).annotate(answer=F("pairs__document__doc_id")).distinct()
    return {(row.query_id, row.answer): row for row in rows_among(rows, "answer", wanted)}
