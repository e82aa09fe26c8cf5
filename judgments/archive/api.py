"""API endpoints to archive, restore and delete objects of a collection."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments.archive import archive
from judgments.web.endpoints import InCollection
from judgments.web.serializers import Strict


class ThingSent(Strict):
    """One object of a collection."""

    kind = serializers.CharField(help_text="The kind: collection, document, pool, round or run.")
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
    """Base class of the archive endpoints, which are for leads."""

    serializer_class = ThingBody
    tag = "archive"
    also = (409,)

    def thing(self, request: Request, body: dict[str, Any]) -> Any:
        return archive.archivable_row(request.user, self.collection, body["kind"], body["id"])

    def answer(self, kind: str, row: Any) -> Response:
        row.refresh_from_db()
        body = {"kind": kind, "id": row.uuid, "name": str(row), "archived_at": row.archived_at}
        return Response(ThingBody(body).data)


class Archive(OfThing):
    """Archive an object."""

    @extend_schema(summary="Archive an object", request=ThingSent, responses=ThingBody)
    def post(self, request: Request, slug: str) -> Response:
        """Archived objects are hidden in lists and choices; objects made from them stay."""
        body = self.read_body(ThingSent)
        row = self.thing(request, body)
        archive.archive(body["kind"], row, actor=request.user)
        return self.answer(body["kind"], row)


class Restore(OfThing):
    """Restore an archived object."""

    @extend_schema(summary="Restore an object", request=ThingSent, responses=ThingBody)
    def post(self, request: Request, slug: str) -> Response:
        """The object appears in lists and choices again."""
        body = self.read_body(ThingSent)
        row = self.thing(request, body)
        archive.restore(body["kind"], row, actor=request.user)
        return self.answer(body["kind"], row)


class Delete(OfThing):
    """Delete an object permanently."""

    @extend_schema(summary="Delete an object", request=DeletionSent, responses=DeletionBody)
    def post(self, request: Request, slug: str) -> Response:
        """Only objects that no other object depends on can be deleted (otherwise the status is 409). With `preview`
        nothing is deleted."""
        body = self.read_body(DeletionSent)
        row = self.thing(request, body)
        preview = body["preview"]
        deletion = (
            archive.deletion(body["kind"], row) if preview else archive.delete(body["kind"], row, actor=request.user)
        )
        details = {"goes": deletion.goes, "blocked_by": deletion.blocked_by, "why_not": deletion.why_not}
        return Response({"deleted": not preview, "possible": deletion.possible, **details})
