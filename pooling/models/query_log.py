"""Query logs and click counts in the database."""

from __future__ import annotations

from django.db import models

from judgments.models import Collection, ImportedLabel, User
from judgments.models.fields import PublicModel


class ClickCount(models.Model):
    """The counts behind one click label: impressions, clicks, and the interval of the label."""

    label = models.OneToOneField(ImportedLabel, on_delete=models.CASCADE, primary_key=True, related_name="click_count")
    impressions = models.BigIntegerField()
    clicks = models.BigIntegerField()
    expected = models.FloatField()
    estimate = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()

    def __str__(self) -> str:
        return f"{self.clicks} of {self.impressions}"


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
