"""Answers of RAG systems by their ids, and the questions that they answer."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import F

from judgments.models import Collection, Document, Query
from judgments.models.fields import rows_among

BATCH = 500


def answers_by_id(collection: Collection, doc_ids: Sequence[str]) -> dict[str, Document]:
    """Return the answers of RAG systems that have these ids."""
    return {row.doc_id: row for row in rows_among(Document.answers.filter(collection=collection), "doc_id", doc_ids)}


def questions_of(collection: Collection, doc_ids: Sequence[str]) -> dict[tuple[str, str], Query]:
    """Return the question of each answer among these ids, by the ids of both. An answer belongs to one question."""
    answers = Document.answers.filter(collection=collection).values_list("doc_id", flat=True)
    wanted = list(set(answers).intersection(doc_ids))
    questions: dict[tuple[str, str], Query] = {}
    for begin in range(0, len(wanted), BATCH):
        some = wanted[begin : begin + BATCH]
        answered = Document.answers.filter(collection=collection, doc_id__in=some)
        rows = Query.of_any_kind.filter(pairs__document__in=answered).annotate(answer=F("pairs__document__doc_id"))
        questions |= {(row.query_id, row.answer): row for row in rows.distinct()}
    return questions
