"""Grants: hosts, folders and models of the server that a collection may use."""

from __future__ import annotations

from django.db import models

from judgments.models.fields import PublicModel
from judgments.models.members.collection import Collection
from judgments.models.members.user import User


class Grant(PublicModel):
    """The operator's permission for one collection. It never exceeds the server's own settings."""

    class Kind(models.TextChoices):
        CONNECTOR_HOST = "connector-host", "host that connectors may query"
        CONNECTOR_FOLDER = "connector-folder", "folder or file that connectors may read"
        PROVIDER_HOST = "provider-host", "host of a model provider"
        LOCAL_MODEL = "local-model", "model that judges may load on the server"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="grants")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    # As in the settings; ``*`` permits everything that they allow, now and later.
    value = models.CharField(max_length=500)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["collection", "kind", "value"]
        constraints = [models.UniqueConstraint(fields=["collection", "kind", "value"], name="grant_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"
