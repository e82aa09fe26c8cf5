"""API endpoints for query groups: spellings of one need, which may share their judgments."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import query_groups as verbs
from judgments.api.endpoint import InCollection, Rows
from judgments.core.errors import NotFound, NotValid
from judgments.models import Collection, Query, QueryGroup


class GroupBody(serializers.Serializer):
    """A group as it is now."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    shares = serializers.BooleanField(help_text="Whether its queries share their judgments.")
    queries = serializers.SerializerMethodField(help_text="Their ids, the most frequent first.")

    def get_queries(self, group: QueryGroup) -> list[str]:
        return list(group.queries.values_list("query_id", flat=True))


class NewGroup(serializers.Serializer):
    """Which queries go together; they leave the groups that they were in."""

    queries = serializers.ListField(child=serializers.CharField(max_length=500), min_length=1)
    name = serializers.CharField(required=False, max_length=500, help_text="A new group, or one that takes them in.")
    shares = serializers.BooleanField(required=False)


class GroupChange(serializers.Serializer):
    """What is to be otherwise."""

    name = serializers.CharField(required=False, max_length=500)
    shares = serializers.BooleanField(required=False)
    take_out = serializers.ListField(
        child=serializers.CharField(max_length=500), required=False, help_text="Queries that are another need."
    )


class QueryGroups(Rows):
    """The groups of a collection."""

    queryset = QueryGroup.objects.order_by("name")
    serializer_class = GroupBody
    filters = {"name": "name"}
    tag = "query groups"

    @extend_schema(summary="The query groups")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Spellings of one need, and whether they share their judgments."""
        return self.list(request)

    @extend_schema(
        summary="Put queries into a group",
        request=NewGroup,
        responses={201: GroupBody},
        examples=[OpenApiExample("Two", {"queries": ["q001", "q017"], "shares": True}, request_only=True)],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Without a name the group is called what its most frequent query says."""
        asked = self.sent(NewGroup)
        asked["queries"] = queries_called(self.collection, asked["queries"])
        return self.told(GroupBody, verbs.gather(self.collection, actor=request.user, **asked), 201)


class OneQueryGroup(InCollection):
    """One group."""

    serializer_class = GroupBody
    also = (409,)
    tag = "query groups"

    @extend_schema(summary="A query group")
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Its name, its queries, and whether they share."""
        return self.told(GroupBody, self._group(uuid))

    @extend_schema(summary="Change a query group", request=GroupChange, responses=GroupBody)
    def patch(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Another name, sharing on or off, or queries that leave. Frozen labels stay as they are."""
        group, asked = self._group(uuid), self.sent(GroupChange)
        if "name" in asked:
            group = verbs.rename(group, name=asked["name"], actor=request.user)
        if "shares" in asked:
            verbs.let_share(self.collection, [group], shares=asked["shares"], actor=request.user)
        if asked.get("take_out"):
            verbs.take_out(group, queries_called(self.collection, asked["take_out"]), actor=request.user)
        if not self.collection.query_groups.filter(pk=group.pk).exists():
            return Response(status=204)
        return self.told(GroupBody, self._group(uuid))

    @extend_schema(summary="Dissolve a query group", responses={204: None})
    def delete(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Each of its queries stands for itself again."""
        verbs.dissolve(self._group(uuid), actor=request.user)
        return Response(status=204)

    def _group(self, uuid: uuid_module.UUID) -> QueryGroup:
        group = self.collection.query_groups.select_related("collection").filter(uuid=uuid).first()
        if group is None:
            raise NotFound("This collection has no such query group.")
        return group


def queries_called(collection: Collection, query_ids: Sequence[str]) -> list[Query]:
    """The queries of these ids.

    Raises
    ------
    NotValid
        One of them is none of the collection's.
    """
    found = {query.query_id: query for query in collection.queries.filter(query_id__in=query_ids)}
    strange = [query_id for query_id in query_ids if query_id not in found]
    if strange:
        said = f"No query of this collection: {', '.join(strange[:10])}."
        raise NotValid(said, {"queries": said})
    return [found[query_id] for query_id in dict.fromkeys(query_ids)]
