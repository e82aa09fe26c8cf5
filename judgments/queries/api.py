"""API endpoints for query groups: spellings of one need, which may share their judgments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.response import Response

from assay.core.errors import NotValid
from judgments.models import Collection, Query, QueryGroup
from judgments.queries import groups as verbs
from judgments.web.endpoints import InCollection, Rows, call, listed


class GroupBody(serializers.Serializer):
    """A query group."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    shares = serializers.BooleanField(help_text="Whether its queries share their judgments.")
    queries = serializers.SerializerMethodField(help_text="Query ids, most frequent first.")

    def get_queries(self, group: QueryGroup) -> list[str]:
        return list(group.queries.values_list("query_id", flat=True))


class NewGroup(serializers.Serializer):
    """The queries of a group; they leave their earlier groups."""

    queries = serializers.ListField(child=serializers.CharField(max_length=500), min_length=1)
    name = serializers.CharField(
        required=False, max_length=500, help_text="Name of a new group, or of an existing group to extend."
    )
    shares = serializers.BooleanField(required=False)


class GroupChange(serializers.Serializer):
    """Changeable fields of a group."""

    name = serializers.CharField(required=False, max_length=500)
    shares = serializers.BooleanField(required=False)
    take_out = serializers.ListField(
        child=serializers.CharField(max_length=500),
        required=False,
        help_text="Queries to remove from the group, because they express another need.",
    )


@listed("List query groups", "Each group has the spellings of one need; its queries may share their judgments.")
class QueryGroups(Rows):
    """The groups of a collection."""

    queryset = QueryGroup.objects.order_by("name")
    serializer_class = GroupBody
    filters = {"name": "name"}
    ordering = {"name": "name", "created_at": "created_at"}
    tag = "query groups"

    @call(
        "Group queries", GroupBody, NewGroup, status=201, example=("Two", {"queries": ["q001", "q017"], "shares": True})
    )
    def post(self, body: dict[str, Any]) -> Any:
        """By default the group gets the text of its most frequent query as its name."""
        body["queries"] = queries_called(self.collection, body["queries"])
        return verbs.gather(self.collection, actor=self.user, **body)


class OneQueryGroup(InCollection):
    also = (409,)
    tag = "query groups"

    @call("Get a query group", GroupBody)
    def get(self) -> Any:
        """Return the group's name and queries, and whether they share judgments."""
        return self._group()

    @call("Change a query group", request=GroupChange, responses=GroupBody)
    def patch(self) -> Response:
        """Rename the group, turn sharing on or off, or remove queries. Frozen labels do not change."""
        group, changes = self._group(), self.read_body(GroupChange)
        if "name" in changes:
            group = verbs.rename(group, name=changes["name"], actor=self.user)
        if "shares" in changes:
            verbs.let_share(self.collection, [group], shares=changes["shares"], actor=self.user)
        if changes.get("take_out"):
            verbs.take_out(group, queries_called(self.collection, changes["take_out"]), actor=self.user)
        if not self.collection.query_groups.filter(pk=group.pk).exists():
            return Response(status=204)
        return self.respond(GroupBody, self._group())

    @call("Delete a query group")
    def delete(self) -> None:
        """Each query is judged separately again. Judgments are kept."""
        verbs.dissolve(self._group(), actor=self.user)

    def _group(self) -> QueryGroup:
        return self.one(self.collection.query_groups.select_related("collection"), "query group")


def queries_called(collection: Collection, query_ids: Sequence[str]) -> list[Query]:
    """Return the queries with these ids."""
    by_id = {query.query_id: query for query in collection.queries.filter(query_id__in=query_ids)}
    strange = [query_id for query_id in query_ids if query_id not in by_id]
    if strange:
        raise NotValid(f"This collection has no queries with these ids: {', '.join(strange[:10])}.", "queries")
    return [by_id[query_id] for query_id in dict.fromkeys(query_ids)]
