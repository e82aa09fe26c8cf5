"""Audit rows: who did what, to what, and when."""

from __future__ import annotations

from django.db import models

from judgments.models.collection import Collection
from judgments.models.fields import EventModel, PublicModel
from judgments.models.user import User


class AuditRow(PublicModel, EventModel):
    """One act of a lead or an engineer, written by the verb that did it."""

    # The row outlives what it speaks of: no constraint, so that nothing has to change or go with it.
    collection = models.ForeignKey(
        Collection, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="audit"
    )
    actor = models.ForeignKey(User, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    verb = models.CharField(max_length=60)
    target = models.CharField(max_length=60, blank=True)
    target_uuid = models.UUIDField(null=True)
    sentence = models.CharField(max_length=300)
    detail = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["collection", "-id"], name="audit_of_collection")]

    def __str__(self) -> str:
        return self.sentence
