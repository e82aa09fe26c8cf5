"""Documents, and answers of RAG systems that are judged like documents."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.fields import (
    Archivable,
    ArchivableQuerySet,
    FirstWords,
    OfKind,
    OpaqueIdField,
    PublicModel,
    check,
    unique,
)
from judgments.models.members.collection import Collection


class DocumentKind(models.TextChoices):
    DOCUMENT = "document", "document"
    ANSWER = "answer", "answer"


class Documents(OfKind.from_queryset(ArchivableQuerySet)):  # type: ignore[misc]
    """The documents of a collection, without answers."""

    kind = DocumentKind.DOCUMENT


class Answers(OfKind.from_queryset(ArchivableQuerySet)):  # type: ignore[misc]
    """The answers of a collection."""

    kind = DocumentKind.ANSWER


class Document(PublicModel, Archivable):
    """A document by its id, with the content that raters see."""

    Kind = DocumentKind

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="documents")
    kind = models.CharField(max_length=8, choices=DocumentKind.choices, default=DocumentKind.DOCUMENT)
    doc_id = OpaqueIdField()
    title = models.TextField(blank=True)
    text = models.TextField(blank=True)
    url = models.TextField(blank=True)
    image = models.TextField(blank=True)
    fields = models.JSONField(default=dict, blank=True)
    content_sha256 = models.CharField(max_length=64)
    # Only for answers: [{"doc_id", "title", "text", "url"}, ...], in citation order.
    evidence = models.JSONField(default=list, blank=True)
    reference = models.TextField(blank=True)
    stub = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = Documents()
    answers = Answers()
    of_any_kind = models.Manager()

    class Meta:
        ordering = ["doc_id"]
        indexes = [models.Index("collection", FirstWords("title"), name="document_by_first_words")]
        constraints = [
            # Includes the kind, so that a document cannot take the id of an answer.
            unique("doc_id_once", "collection", "kind", "doc_id"),
            check("document_kind_known", kind__in=["document", "answer"]),
            check("document_has_id", ~Q(doc_id="")),
        ]

    @property
    def is_answer(self) -> bool:
        return self.kind == DocumentKind.ANSWER

    def __str__(self) -> str:
        return self.title or self.doc_id
