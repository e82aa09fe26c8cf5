"""API endpoints to archive, restore and delete things of a collection."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import archive
from judgments.api.endpoint import InCollection
from judgments.api.strict import Strict


class ThingSent(Strict):
    """One thing of a collection."""

    kind = serializers.CharField(help_text="collection, document, pool, round or run.")
    id = serializers.UUIDField()


class ThingBody(serializers.Serializer):
    """One thing and whether it is archived."""

    kind = serializers.CharField()
    id = serializers.UUIDField()
    name = serializers.CharField()
    archived_at = serializers.DateTimeField(allow_null=True)


class DeletionSent(ThingSent):
    """What to delete."""

    preview = serializers.BooleanField(default=False, help_text="Only say what would go; nothing is deleted.")


class DeletionBody(serializers.Serializer):
    """What deleting takes with it, and what forbids it: numbers of rows by kind."""

    deleted = serializers.BooleanField()
    possible = serializers.BooleanField()
    goes = serializers.DictField(child=serializers.IntegerField())
    blocked_by = serializers.DictField(child=serializers.IntegerField())
    why_not = serializers.CharField()


class OfThing(InCollection):
    """An address that takes one thing of a collection; for leads."""

    serializer_class = ThingBody
    tag = "archive"
    also = (409,)

    def thing(self, request: Request, asked: dict[str, Any]) -> Any:
        return archive.thing(request.user, self.collection, asked["kind"], asked["id"])

    def answer(self, kind: str, row: Any) -> Response:
        row.refresh_from_db()
        body = {"kind": kind, "id": row.uuid, "name": str(row), "archived_at": row.archived_at}
        return Response(ThingBody(body).data)


class Archive(OfThing):
    """Put something away."""

    @extend_schema(summary="Archive", request=ThingSent, responses=ThingBody)
    def post(self, request: Request, slug: str) -> Response:
        """Lists and choices leave it out; what was made from it stays. An open round must be closed first."""
        asked = self.sent(ThingSent)
        row = self.thing(request, asked)
        archive.archive(asked["kind"], row, actor=request.user)
        return self.answer(asked["kind"], row)


class Restore(OfThing):
    """Bring something back."""

    @extend_schema(summary="Restore", request=ThingSent, responses=ThingBody)
    def post(self, request: Request, slug: str) -> Response:
        """Lists and choices offer it again."""
        asked = self.sent(ThingSent)
        row = self.thing(request, asked)
        archive.restore(asked["kind"], row, actor=request.user)
        return self.answer(asked["kind"], row)


class Delete(OfThing):
    """Delete something for good."""

    @extend_schema(summary="Delete", request=DeletionSent, responses=DeletionBody)
    def post(self, request: Request, slug: str) -> Response:
        """Only what nothing depends on can be deleted (409 otherwise). `preview` says what would go."""
        asked = self.sent(DeletionSent)
        row = self.thing(request, asked)
        preview = asked["preview"]
        found = (
            archive.deletion(asked["kind"], row) if preview else archive.delete(asked["kind"], row, actor=request.user)
        )
        told = {"goes": found.goes, "blocked_by": found.blocked_by, "why_not": found.why_not}
        return Response({"deleted": not preview, "possible": found.possible, **told})
