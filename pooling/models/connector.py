"""Models of connectors and of the fetches from them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models import Collection, Job, User
from judgments.models.fields import PublicModel
from pooling.models.run import Run


class Connector(PublicModel):
    """An engine with its settings; secrets are encrypted in a separate column."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="connectors")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=40)
    settings = models.JSONField(default=dict)
    sealed = models.TextField(blank=True)
    timeout = models.FloatField(default=10.0)
    concurrency = models.PositiveSmallIntegerField(default=4)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="connector_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="connector_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Fetch(PublicModel):
    """One fetch of a collection's queries from an engine; its results stay in storage until they become a run."""

    connector = models.ForeignKey(Connector, on_delete=models.CASCADE, related_name="fetches")
    run_name = models.CharField(max_length=120)
    depth = models.PositiveIntegerField()
    # The queries at the start of the fetch, as pairs of id and text, and the settings without secrets.
    queries = models.JSONField(default=list)
    settings = models.JSONField(default=dict)
    parts = models.JSONField(default=list)
    answered = models.PositiveIntegerField(default=0)
    failed = models.JSONField(default=dict)  # query id to the engine's error
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="fetches")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.run_name

    @property
    def query_count(self) -> int:
        """Return the number of queries to fetch."""
        return len(self.queries)

    @property
    def waits(self) -> bool:
        """Return whether the fetch stopped before it created a run, so that it can be resumed."""
        return self.run_id is None and (self.job is None or self.job.over)
