"""Audit trail: who did what, to what, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import models

from judgments.models.fields import EventModel, PublicModel
from judgments.models.members.collection import Collection
from judgments.models.members.user import User


class AuditRow(PublicModel, EventModel):
    """One action of a lead or an engineer."""

    # No constraint: the row outlives the object that it describes, and nothing has to change with that object.
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


OF_TARGET: Any = object()


def record(
    verb: str,
    sentence: str,
    *,
    actor: Any,
    collection: Collection | None = OF_TARGET,
    target: Any = None,
    uuid: UUID | None = None,
    **detail: Any,
) -> AuditRow:
    """Write one audit row, by default of the target's collection. The action itself calls this, in its transaction."""
    if collection is OF_TARGET:
        collection = target if isinstance(target, Collection) else target.collection
    return AuditRow.objects.create(
        verb=verb,
        sentence=sentence[:300],
        actor_id=getattr(actor, "pk", None),
        collection=collection,
        target=type(target).__name__ if target is not None else "",
        target_uuid=getattr(target, "uuid", None),
        detail=detail,
        **({"uuid": uuid} if uuid is not None else {}),
    )


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that differ between two states, as ``before`` and ``after``."""
    names = [name for name in after if before.get(name) != after[name]]
    return {"before": {name: before.get(name) for name in names}, "after": {name: after[name] for name in names}}
