"""What is judged, and is it still what it was when somebody judged it?"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.collection import Collection
from judgments.models.fields import Archivable, OpaqueIdField, PublicModel


class Document(PublicModel, Archivable):
    """A document by its id, with the content that raters see.

    A run or an imported label may name a document whose content nobody has sent yet: it is a ``stub`` until a
    documents file fills it in.
    """

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="documents")
    doc_id = OpaqueIdField()
    title = models.TextField(blank=True)
    text = models.TextField(blank=True)
    url = models.TextField(blank=True)
    image = models.TextField(blank=True)
    fields = models.JSONField(default=dict, blank=True)
    content_sha256 = models.CharField(max_length=64)
    stub = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["doc_id"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "doc_id"], name="doc_id_once"),
            models.CheckConstraint(condition=~Q(doc_id=""), name="document_has_id"),
        ]

    def __str__(self) -> str:
        return self.title or self.doc_id
