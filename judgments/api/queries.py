"""How do queries go in and out?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers

from judgments.api.import_bodies import documented
from judgments.api.imports import Imports
from judgments.api.posted import PostedFile, table
from judgments.models import Query

NUMERIC = ("frequency", "clients", "probability", "weight")


class QuerySent(serializers.Serializer):
    """A query; only its text is needed."""

    query = serializers.CharField(max_length=2048)
    query_id = serializers.CharField(required=False, help_text="In all rows or in none: then q001, q002, ...")
    narrative = serializers.CharField(required=False, help_text="The need behind the query; raters see it.")
    group = serializers.CharField(required=False)
    tier = serializers.ChoiceField(required=False, choices=Query.Tier.choices)
    frequency = serializers.IntegerField(required=False, allow_null=True)
    clients = serializers.IntegerField(required=False, allow_null=True)
    probability = serializers.FloatField(required=False, allow_null=True)
    weight = serializers.FloatField(required=False, allow_null=True)


class QueryBody(serializers.Serializer):
    """A query as it is now."""

    id = serializers.UUIDField(source="uuid")
    query_id = serializers.CharField()
    query = serializers.CharField(source="text")
    narrative = serializers.CharField()
    group = serializers.CharField()
    tier = serializers.CharField(help_text="head, torso, tail, or empty.")
    frequency = serializers.IntegerField(allow_null=True)
    clients = serializers.IntegerField(allow_null=True)
    probability = serializers.FloatField(allow_null=True)
    weight = serializers.FloatField(allow_null=True)


@extend_schema_view(
    get=extend_schema(summary="The queries", parameters=[OpenApiParameter("query_id"), OpenApiParameter("tier")]),
    post=documented(
        "Send queries", QuerySent, [{"query_id": "q1", "query": "rain jacket", "narrative": "For a wet week."}]
    ),
)
class Queries(Imports):
    """The queries of a collection, by their ids."""

    kind = "queries"
    queryset = Query.objects.order_by("query_id")
    serializer_class = QueryBody
    filters = {"query_id": "query_id", "tier": "tier"}
    tag = "queries"

    def as_file(self, rows: Sequence[Any], asked: dict[str, Any]) -> PostedFile:
        return table("queries-csv", rows, numeric=NUMERIC)
