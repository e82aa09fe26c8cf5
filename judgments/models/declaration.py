"""Recorded changes outside the data, such as a new schema, new embeddings or a new category."""

from __future__ import annotations

from django.db import models

from judgments.models.fields import EventModel, EventQuerySet, PublicModel, check
from judgments.models.members.collection import Collection
from judgments.models.members.user import User


class DeclarationQuerySet(EventQuerySet):
    def standing(self) -> DeclarationQuerySet:
        """Filter the recorded changes that were not withdrawn."""
        return self.filter(withdraws__isnull=True, withdrawn_by__isnull=True)


class Declaration(PublicModel, EventModel):
    """One recorded change outside the data, such as a new schema, new embeddings or a new category."""

    class Kind(models.TextChoices):
        SCHEMA = "schema", "schema or analyzer changed"
        EMBEDDING = "embedding", "embedding model changed"
        CATEGORY = "category", "new category"
        LANGUAGE = "language", "new language"
        FIELDS = "fields", "fields of category and language"
        INDEX = "index", "documents in the index"
        UNRATED = "unrated", "unrated documents of an engine"

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="declarations")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    happened_at = models.DateTimeField()
    note = models.CharField(max_length=300, blank=True)
    data = models.JSONField(default=dict)
    withdraws = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="withdrawn_by")
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DeclarationQuerySet.as_manager()

    class Meta:
        ordering = ["-happened_at", "-pk"]
        constraints = [
            check(
                "declaration_kind_known",
                kind__in=["schema", "embedding", "category", "language", "fields", "index", "unrated"],
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.happened_at:%Y-%m-%d}"
