"""Models of freshness checks and of a snapshot's last freshness reading."""

from __future__ import annotations

from django.db import models

from judgments.models import Collection, Snapshot, User
from judgments.models.fields import PublicModel


class FreshnessCheck(PublicModel):
    """A complete freshness check of a snapshot; ``created_by`` is empty if the server started it."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="freshness_checks")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="freshness_checks")
    state = models.CharField(max_length=10)
    # The report in the API's format, and counts of the judged queries in the newest log.
    report = models.JSONField(default=dict)
    traffic = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["fresh", "warn", "stale", "unknown"]), name="freshness_state_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.snapshot}: {self.state}"


class FreshnessReading(models.Model):
    """The last freshness reading of a snapshot; computed again after its data changed."""

    snapshot = models.OneToOneField(Snapshot, on_delete=models.CASCADE, related_name="freshness_reading")
    state = models.CharField(max_length=50)
    report = models.JSONField()
    read_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.snapshot}: {self.report['state']}"
