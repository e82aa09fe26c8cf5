"""Versions of a collection's guidelines: the exact text that raters worked under."""

from __future__ import annotations

import hashlib

from django.db import models
from django.db.models import Q

from judgments.models.fields import EventModel, PublicModel
from judgments.models.members.collection import Collection
from judgments.models.members.user import User


class GuidelinesVersion(PublicModel, EventModel):
    """One version of a collection's guidelines: Markdown, numbered from 1. It never changes."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="guidelines")
    number = models.PositiveIntegerField()
    markdown = models.TextField()
    sha256 = models.CharField(max_length=64)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "number"], name="guidelines_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1) & ~Q(markdown=""), name="guidelines_say_something"),
        ]

    def __str__(self) -> str:
        return f"version {self.number}"

    @staticmethod
    def hash_of(markdown: str) -> str:
        """Return the SHA-256 of the text."""
        return hashlib.sha256(markdown.encode()).hexdigest()
