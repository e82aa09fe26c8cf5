"""API endpoints to list, upload and change queries."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import narratives
from judgments.api.endpoint import InCollection
from judgments.api.import_bodies import FileSent, Reading, documented
from judgments.api.imports import Imports
from judgments.api.posted import PostedFile, table
from judgments.core.errors import NotFound, NotValid
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
    stratum = serializers.CharField(allow_null=True, help_text="Where the collection has several.")
    draft = serializers.CharField(help_text="A narrative that nobody has confirmed; raters do not see it.")
    drafted_by = serializers.CharField()


class QueryChange(serializers.Serializer):
    """What a person says a query means; one of the three."""

    narrative = serializers.CharField(required=False, allow_blank=True, max_length=narratives.LONGEST)
    draft = serializers.CharField(required=False, allow_blank=True, max_length=narratives.LONGEST)
    confirm = serializers.BooleanField(required=False, help_text="True makes the draft the narrative.")


class QueriesReading(Reading):
    """How to read and store queries that are sent as a list."""

    redact = serializers.BooleanField(
        required=False, help_text="Takes out of new queries what looks like personal data (W59)."
    )


class QueriesFileSent(QueriesReading, FileSent):
    """Queries as a file."""


@extend_schema_view(
    get=extend_schema(
        summary="The queries", parameters=[OpenApiParameter(name) for name in ("query_id", "tier", "group", "stratum")]
    ),
    post=documented(
        "Send queries",
        QuerySent,
        [{"query_id": "q1", "query": "rain jacket", "narrative": "For a wet week."}],
        QueriesReading,
        QueriesFileSent,
    ),
)
class Queries(Imports):
    """The queries of a collection, by their ids."""

    kind = "queries"
    reading, file_sent = QueriesReading, QueriesFileSent
    queryset = Query.objects.select_related("stratum").order_by("query_id")
    serializer_class = QueryBody
    filters = {"query_id": "query_id", "tier": "tier", "group": "group", "stratum": "stratum__name"}
    tag = "queries"

    def as_file(self, rows: Sequence[Any], asked: dict[str, Any]) -> PostedFile:
        return table("queries-csv", rows, numeric=NUMERIC)


class OneQuery(InCollection):
    """One query."""

    serializer_class = QueryBody
    also = (409,)
    tag = "queries"

    @extend_schema(summary="A query")
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """With its narrative, or its draft of one."""
        return self.told(QueryBody, self._query(uuid))

    @extend_schema(
        summary="Write what a query means",
        request=QueryChange,
        responses=QueryBody,
        examples=[OpenApiExample("A need", {"narrative": "A jacket for a wet week of hiking."}, request_only=True)],
    )
    def patch(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """A narrative stands still while a round is open that holds the query (409); a draft may change at any time."""
        query, asked = self._query(uuid), self.sent(QueryChange)
        if len(asked) != 1 or asked.get("confirm") is False:
            raise NotValid("Send a narrative, a draft, or confirm.", {"narrative": "One of the three."})
        if "draft" in asked:
            query = narratives.save_draft(query, text=asked["draft"], actor=request.user)
        elif "narrative" in asked:
            query = narratives.write(query, text=asked["narrative"], actor=request.user)
        else:
            query = narratives.confirm(query, actor=request.user)
        return self.told(QueryBody, query)

    def _query(self, uuid: uuid_module.UUID) -> Query:
        rows = Query.of_any_kind.filter(collection=self.collection).select_related("stratum")
        query = rows.filter(uuid=uuid).first()
        if query is None:
            raise NotFound("This collection has no such query.")
        return query
