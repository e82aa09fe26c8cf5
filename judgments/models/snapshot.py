"""Snapshots: frozen labels with their provenance and hash."""

from __future__ import annotations

from typing import Any

from django.db import models

from judgments.models.fields import EventModel, EventQuerySet, Named, PublicModel, unique
from judgments.models.members.collection import Collection
from judgments.models.members.user import User
from judgments.models.round import Round

# Column 2 of a snapshot's qrels: where a label comes from.
HUMAN, MACHINE, IMPORTED, CARRIED = "0", "1", "2", "3"


class SnapshotsOfDocuments(models.Manager.from_queryset(EventQuerySet)):  # type: ignore[misc]
    """The snapshots with labels of documents: runs can be scored on them, and they can become stale."""

    def get_queryset(self) -> Any:
        of_answers = Snapshot.rounds.through.objects.exclude(round__dimension="")
        return super().get_queryset().exclude(pk__in=of_answers.values("snapshot"))


class Snapshot(Named, PublicModel, EventModel):
    """A frozen, hashed set of labels: this row points to its files in storage."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="snapshots")
    name = models.CharField(max_length=120)
    content_sha256 = models.CharField(max_length=64)
    rule = models.CharField(max_length=20)
    folder = models.CharField(max_length=200)
    manifest = models.JSONField()
    summary = models.JSONField(default=dict)  # labels, queries, labels by grade and agreement, shown in lists
    override_reason = models.TextField(blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    rounds = models.ManyToManyField(Round, related_name="snapshots")

    objects = EventQuerySet.as_manager()
    of_documents = SnapshotsOfDocuments()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [unique("snapshot_name_once", "collection", "name")]

    @property
    def of_answers(self) -> bool:
        """Whether the labels are of answers of RAG systems."""
        return self.rounds.exclude(dimension="").exists()
