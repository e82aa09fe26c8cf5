"""Models of freshness checks and of a snapshot's last freshness reading."""

from __future__ import annotations

from django.db import models

from judgments.models import Collection, Snapshot, User
from judgments.models.fields import PublicModel


class FreshnessCheck(PublicModel):
    """One look at all signals of a snapshot, with everything read; ``created_by`` is empty where the server did it."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="freshness_checks")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="freshness_checks")
    state = models.CharField(max_length=10)
    # The report as the API tells it, and what of the newest log was counted for the judged queries.
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
    """The signals of a snapshot as a page read them last; computed anew when something that they read changed."""

    snapshot = models.OneToOneField(Snapshot, on_delete=models.CASCADE, related_name="freshness_reading")
    state = models.CharField(max_length=50)
    report = models.JSONField()
    read_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.snapshot}: {self.report['state']}"
