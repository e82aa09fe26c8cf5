"""Versions of a collection's prompts: a version never changes, and changed text is a new version."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.fields import EventModel, PublicModel
from judgments.models.members.collection import Collection
from judgments.models.members.user import User


class PromptVersion(PublicModel, EventModel):
    """One version of a collection's own prompt template."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="prompts")
    name = models.CharField(max_length=80)
    number = models.PositiveIntegerField()
    system = models.TextField(blank=True)
    prompt = models.TextField()
    sha256 = models.CharField(max_length=64)
    note = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name", "number"], name="prompt_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1) & ~Q(prompt=""), name="prompt_says_something"),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.number}"
