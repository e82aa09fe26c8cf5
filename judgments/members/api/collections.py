"""API endpoints to list, create and change collections that the caller is a member of."""

from __future__ import annotations

from typing import Any

from django.db.models import OuterRef, Prefetch, QuerySet, Subquery
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments.members import collections as verbs
from judgments.models import Collection, Membership, Role, Round
from judgments.web import access
from judgments.web.endpoints import Endpoint, InCollection


class OpenRound(serializers.Serializer):
    """An open round in which the caller rates."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()


class CollectionRow(serializers.Serializer):
    """A collection as every member sees it."""

    id = serializers.UUIDField(source="uuid")
    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices, help_text="The caller's role.")
    open_rounds = OpenRound(many=True, source="asking", help_text="Open rounds in which the caller rates.")


class CollectionBody(serializers.Serializer):
    """A collection as leads and engineers see it."""

    id = serializers.UUIDField(source="uuid")
    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    embedding_changed_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


class NewCollection(serializers.Serializer):
    """Name and slug of a new collection."""

    slug = serializers.SlugField(max_length=60, help_text="Part of every URL; it cannot be changed later.")
    name = serializers.CharField(max_length=120)
    description = serializers.CharField(required=False, allow_blank=True, default="")


class CollectionChange(serializers.Serializer):
    """Changeable fields; omitted fields stay as they are."""

    name = serializers.CharField(max_length=120, required=False)
    description = serializers.CharField(required=False, allow_blank=True)
    embedding_changed_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="When the embeddings changed; earlier grades may be stale."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "slug" in self.initial_data:
            raise serializers.ValidationError({"slug": "The slug is part of every URL and cannot be changed."})
        return attrs


class Collections(ListModelMixin, Endpoint):
    """The caller's collections."""

    queryset = Collection.objects.all()
    serializer_class = CollectionRow
    also = (409,)
    tag = "collections"

    def get_queryset(self) -> QuerySet[Collection]:
        user = self.request.user
        mine = Membership.objects.filter(collection=OuterRef("pk"), user_id=user.pk)
        rounds = Round.objects.open_to(user).order_by("opened_at")
        archived = self.request.query_params.get("archived") == "true"
        rows = Collection.objects.visible_to(user).filter(archived_at__isnull=not archived)
        rows = rows.annotate(role=Subquery(mine.values("role")[:1]))
        return rows.prefetch_related(Prefetch("rounds", rounds, to_attr="asking"))

    @extend_schema(summary="List my collections")
    def get(self, request: Request) -> Response:
        """Return every collection that the caller is a member of, with the open rounds in which the caller rates."""
        return self.list(request)

    @extend_schema(
        summary="Create a collection",
        request=NewCollection,
        responses={201: CollectionBody},
        examples=[OpenApiExample("Shop", {"slug": "shop", "name": "Outdoor shop, site search"}, request_only=True)],
    )
    def post(self, request: Request) -> Response:
        """The creator becomes its lead. This requires the permission to create collections, which operators grant."""
        access.check_may_create_collections(request.user)
        made = verbs.create_collection(actor=request.user, **self.read_body(NewCollection))
        return self.respond(CollectionBody, made, 201)


class OneCollection(InCollection):
    """One collection."""

    writes = access.LEADS
    serializer_class = CollectionBody
    tag = "collections"

    @extend_schema(summary="Get a collection")
    def get(self, request: Request, slug: str) -> Response:
        return self.respond(CollectionBody, self.collection)

    @extend_schema(summary="Change a collection", request=CollectionChange)
    def patch(self, request: Request, slug: str) -> Response:
        """Change the name, the description, or the date of the last embedding change. The slug cannot change."""
        changes = self.read_body(CollectionChange)
        return self.respond(CollectionBody, verbs.update_collection(self.collection, actor=request.user, **changes))
