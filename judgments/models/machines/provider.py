"""Model providers: which models a collection's judges may call, where, and within which limits."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from judgments.models.fields import PublicModel
from judgments.models.members.collection import Collection
from judgments.models.members.user import User


class Provider(PublicModel):
    """A model service. Its key is encrypted (``judgments.jobs.encrypted_secrets``) and never shown again."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="providers")
    name = models.CharField(max_length=120)
    protocol = models.CharField(max_length=40)
    base_url = models.CharField(max_length=500)
    # [{"name": ..., "price_in": ..., "price_out": ...}]: dollars per million tokens, None if unknown.
    models_offered = models.JSONField(default=list)
    prices_of = models.DateField(null=True)  # the day on which those prices were looked up
    sealed = models.TextField(blank=True)
    concurrency = models.PositiveSmallIntegerField(default=8)
    per_minute = models.PositiveIntegerField(null=True)
    tokens_per_minute = models.PositiveIntegerField(null=True)
    timeout = models.FloatField(default=60.0)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="provider_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="provider_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name

    def offered(self, model: str) -> dict[str, Any] | None:
        """Return the listed settings of a model; None if the provider does not list it."""
        return next((one for one in self.models_offered if one["name"] == model), None)
