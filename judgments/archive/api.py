"""API endpoints to archive, restore and delete objects of a collection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework import serializers

from judgments.archive import archive
from judgments.web.endpoints import InCollection, call
from judgments.web.serializers import Strict


class ThingSent(Strict):
    """One object of a collection."""

    kind = serializers.CharField(help_text="Kind of object: collection, document, pool, round or run.")
    id = serializers.UUIDField()


class ThingBody(serializers.Serializer):
    """One object and whether it is archived."""

    kind = serializers.CharField()
    id = serializers.UUIDField()
    name = serializers.CharField()
    archived_at = serializers.DateTimeField(allow_null=True)


class DeletionSent(ThingSent):
    """The object to delete."""

    preview = serializers.BooleanField(default=False, help_text="Whether to return only a preview of the deletion.")


class DeletionBody(serializers.Serializer):
    """Numbers of rows by kind: the rows that deletion would remove, and the rows that prevent it."""

    deleted = serializers.BooleanField()
    possible = serializers.BooleanField()
    goes = serializers.DictField(child=serializers.IntegerField())
    blocked_by = serializers.DictField(child=serializers.IntegerField())
    why_not = serializers.CharField()


class OfThing(InCollection):
    tag = "archive"
    also = (409,)

    def row(self, body: dict[str, Any]) -> Any:
        return archive.archivable_row(self.user, self.collection, body["kind"], body["id"])

    def archived(self, act: Callable[..., None], body: dict[str, Any]) -> dict[str, Any]:
        """Archive or restore the object, and return its new state."""
        row = self.row(body)
        act(body["kind"], row, actor=self.user)
        row.refresh_from_db()
        return {"kind": body["kind"], "id": row.uuid, "name": str(row), "archived_at": row.archived_at}


class Archive(OfThing):
    @call("Archive an object", ThingBody, ThingSent)
    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """Archived objects no longer appear in lists and choices. Objects created from them do not change."""
        return self.archived(archive.archive, body)


class Restore(OfThing):
    @call("Restore an object", ThingBody, ThingSent)
    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """The object appears in lists and choices again."""
        return self.archived(archive.restore, body)


class Delete(OfThing):
    @call("Delete an object", DeletionBody, DeletionSent)
    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """Only objects that no other object depends on can be deleted (otherwise the status is 409). With `preview`
        nothing is deleted."""
        kind, row, preview = body["kind"], self.row(body), body["preview"]
        deletion = archive.deletion(kind, row) if preview else archive.delete(kind, row, actor=self.user)
        return {"deleted": not preview, "possible": deletion.possible, **vars(deletion)}
