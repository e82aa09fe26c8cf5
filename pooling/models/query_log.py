"""Model of an imported query log and its counts."""

from __future__ import annotations

from django.db import models

from judgments.models import Collection, User
from judgments.models.fields import PublicModel


class QueryLog(PublicModel):
    """A query log: the stored file, and its counts."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="query_logs")
    name = models.CharField(max_length=200)
    format = models.CharField(max_length=40)
    options = models.JSONField(default=dict)
    path = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    searches = models.BigIntegerField()
    distinct = models.BigIntegerField()
    first_at = models.DateTimeField(null=True)
    last_at = models.DateTimeField(null=True)
    report = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["collection", "sha256"], name="query_log_file_once")]

    def __str__(self) -> str:
        return self.name
