"""Uploads: files that were read and wait for someone to review the report before they are stored."""

from __future__ import annotations

from django.db import models

from judgments.models.fields import PublicModel
from judgments.models.members.collection import Collection
from judgments.models.members.user import User


class Upload(PublicModel):
    """A file that was read and is not stored in the collection yet."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="uploads")
    kind = models.CharField(max_length=20)
    format = models.CharField(max_length=40)
    options = models.JSONField(default=dict)
    filename = models.CharField(max_length=255)
    path = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    bytes = models.BigIntegerField()
    report = models.JSONField(default=dict)
    preview = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="uploads")
    created_at = models.DateTimeField(auto_now_add=True)
    stored_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.filename
