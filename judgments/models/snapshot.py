"""Which labels were frozen, from what, and under which hash?"""

from __future__ import annotations

from django.db import models

from judgments.models.collection import Collection
from judgments.models.fields import EventModel, PublicModel
from judgments.models.round import Round
from judgments.models.user import User

# Column 2 of a snapshot's qrels: where a label comes from.
HUMAN, MACHINE, IMPORTED, CARRIED = "0", "1", "2", "3"


class Snapshot(PublicModel, EventModel):
    """A frozen, hashed set of labels: files in storage, and this one row that points to them.

    ``content_sha256`` is its identity: over labels, queries and provenance, without any name, time or pseudonym.
    """

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="snapshots")
    name = models.CharField(max_length=120)
    content_sha256 = models.CharField(max_length=64)
    rule = models.CharField(max_length=20)
    folder = models.CharField(max_length=200)
    manifest = models.JSONField()
    summary = models.JSONField(default=dict)  # labels, queries, by grade, agreement at the time: what lists show
    override_reason = models.TextField(blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    rounds = models.ManyToManyField(Round, related_name="snapshots")

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["collection", "name"], name="snapshot_name_once")]

    def __str__(self) -> str:
        return self.name
