"""Model of a run: one system's ranked documents per query."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models import Collection, User
from judgments.models.fields import Archivable, Named, PublicModel


class Run(Named, PublicModel, Archivable):
    """One system's ranked documents per query: a file in storage, and its statistics."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="runs")
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=300, blank=True)
    # The run that other runs are compared with, such as production; at most one per collection.
    baseline = models.BooleanField(default=False)
    # The declared family of its language model: "none" if it uses none, empty if unknown.
    generator_family = models.CharField(max_length=60, blank=True, default="")
    filename = models.CharField(max_length=255)
    path = models.CharField(max_length=255)
    # The hash of the uploaded file, by which pools and snapshots refer to the run.
    sha256 = models.CharField(max_length=64)
    # The hashes of the run's content and of the stored Parquet file; both empty if the file is stored as uploaded.
    content_sha256 = models.CharField(max_length=64, blank=True, default="")
    stored_sha256 = models.CharField(max_length=64, blank=True, default="")
    rows = models.BigIntegerField()
    queries = models.IntegerField()
    depth = models.IntegerField()
    # Depth, ties, and queries missing in the collection or in the run; computed once at import.
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
