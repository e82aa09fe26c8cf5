"""Model of a run: one system's ranked documents per query."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models import Collection, User
from judgments.models.fields import Archivable, PublicModel


class Run(PublicModel, Archivable):
    """One system's ranked documents per query: a file in storage, and what is known about it."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="runs")
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=300, blank=True)
    # The run that others are compared with, such as what production answers: one in a collection at most.
    baseline = models.BooleanField(default=False)
    # Of its language model, as declared; "none" where none has a part, empty where nobody said.
    generator_family = models.CharField(max_length=60, blank=True, default="")
    filename = models.CharField(max_length=255)
    path = models.CharField(max_length=255)
    # Of the file as it came: pools and snapshots name a run by it.
    sha256 = models.CharField(max_length=64)
    # Of what the run says, and of the Parquet file in storage; both empty where the file still lies as it came.
    content_sha256 = models.CharField(max_length=64, blank=True, default="")
    stored_sha256 = models.CharField(max_length=64, blank=True, default="")
    rows = models.BigIntegerField()
    queries = models.IntegerField()
    depth = models.IntegerField()
    # Depth, ties, queries that the collection does not have or the run leaves out: read once, when it is stored.
    health = models.JSONField(default=dict)
    report = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="run_name_once"),
            models.UniqueConstraint(fields=["collection", "sha256"], name="run_file_once"),
            models.UniqueConstraint(fields=["collection"], condition=Q(baseline=True), name="one_baseline"),
            models.CheckConstraint(condition=~Q(name=""), name="run_has_name"),
        ]

    def __str__(self) -> str:
        return self.name
