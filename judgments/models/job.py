"""Background jobs: state, progress, log, and the lease of the worker."""

from __future__ import annotations

from typing import Any

from django.db import models

from judgments.models.fields import PublicModel, check
from judgments.models.members.collection import Collection
from judgments.models.members.user import User


class Job(PublicModel):
    """One background job. The queue only points to this row, which has state, progress, log and lease."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"  # an expected failure, with a message for the user
        CRASHED = "crashed", "crashed"  # an unexpected error, with its traceback
        CANCELLED = "cancelled", "cancelled"

    collection = models.ForeignKey(Collection, null=True, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=60)
    title = models.CharField(max_length=200)
    parameters = models.JSONField(default=dict)
    result = models.JSONField(null=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    log = models.TextField(blank=True)
    error = models.TextField(blank=True)
    traceback = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    cancel_requested = models.BooleanField(default=False, db_column="cancel_asked")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="jobs")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            check("job_state_known", state__in=["queued", "running", "done", "failed", "crashed", "cancelled"])
        ]
        indexes = [models.Index(fields=["state", "lease_until"], name="job_by_state")]

    def __str__(self) -> str:
        return self.title

    @property
    def over(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)

    @property
    def visible_result(self) -> dict[str, Any] | None:
        """The result without its ``found`` part, which only the page that checks access shows."""
        result: dict[str, Any] | None = self.result
        return result and {name: value for name, value in result.items() if name != "found"}
