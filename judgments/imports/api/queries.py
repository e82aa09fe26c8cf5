"""API endpoints to list, upload and change queries."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound, NotValid
from judgments.imports.api.imports import Imports
from judgments.imports.api.serializers import FileSent, Reading, documented
from judgments.imports.posted_lists import PostedFile, table
from judgments.models import Query
from judgments.queries import narratives
from judgments.web.endpoints import InCollection

NUMERIC = ("frequency", "clients", "probability", "weight")


class QuerySent(serializers.Serializer):
    """A query. Only its text is required."""

    query = serializers.CharField(max_length=2048)
    query_id = serializers.CharField(
        required=False, help_text="Send an id in all rows or in none. Rows without ids are numbered q001, q002, ..."
    )
    narrative = serializers.CharField(required=False, help_text="The need behind the query, shown to raters.")
    group = serializers.CharField(required=False)
    tier = serializers.ChoiceField(required=False, choices=Query.Tier.choices)
    frequency = serializers.IntegerField(required=False, allow_null=True)
    clients = serializers.IntegerField(required=False, allow_null=True)
    probability = serializers.FloatField(required=False, allow_null=True)
    weight = serializers.FloatField(required=False, allow_null=True)


class QueryBody(serializers.Serializer):
    """A stored query."""

    id = serializers.UUIDField(source="uuid")
    query_id = serializers.CharField()
    query = serializers.CharField(source="text")
    narrative = serializers.CharField()
    group = serializers.CharField()
    tier = serializers.CharField(help_text="`head`, `torso`, `tail` or empty.")
    frequency = serializers.IntegerField(allow_null=True)
    clients = serializers.IntegerField(allow_null=True)
    probability = serializers.FloatField(allow_null=True)
    weight = serializers.FloatField(allow_null=True)
    stratum = serializers.CharField(allow_null=True, help_text="Null if the collection has no strata.")
    draft = serializers.CharField(help_text="A narrative that has not been confirmed yet; raters do not see it.")
    drafted_by = serializers.CharField()


class QueryChange(serializers.Serializer):
    """The narrative of a query: exactly one of the three fields."""

    narrative = serializers.CharField(required=False, allow_blank=True, max_length=narratives.LONGEST)
    draft = serializers.CharField(required=False, allow_blank=True, max_length=narratives.LONGEST)
    confirm = serializers.BooleanField(required=False, help_text="True makes the draft the narrative.")


class QueriesReading(Reading):
    """How to read and store a posted list of queries."""

    redact = serializers.BooleanField(required=False, help_text="Remove possible personal data from new queries (W59).")


class QueriesFileSent(QueriesReading, FileSent):
    """Queries as a file."""


@extend_schema_view(
    get=extend_schema(
        summary="List queries", parameters=[OpenApiParameter(name) for name in ("query_id", "tier", "group", "stratum")]
    ),
    post=documented(
        "Upload queries",
        QuerySent,
        [{"query_id": "q1", "query": "rain jacket", "narrative": "For a wet week."}],
        QueriesReading,
        QueriesFileSent,
    ),
)
class Queries(Imports):
    """The queries of a collection."""

    kind = "queries"
    reading, file_serializer = QueriesReading, QueriesFileSent
    queryset = Query.objects.select_related("stratum").order_by("query_id")
    serializer_class = QueryBody
    filters = {"query_id": "query_id", "tier": "tier", "group": "group", "stratum": "stratum__name"}
    tag = "queries"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        return table("queries-csv", rows, numeric=NUMERIC)


class OneQuery(InCollection):
    """One query."""

    serializer_class = QueryBody
    also = (409,)
    tag = "queries"

    @extend_schema(summary="Get a query")
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Return the query with its narrative or draft."""
        return self.respond(QueryBody, self._query(uuid))

    @extend_schema(
        summary="Change the narrative of a query",
        request=QueryChange,
        responses=QueryBody,
        examples=[OpenApiExample("A need", {"narrative": "A jacket for a wet week of hiking."}, request_only=True)],
    )
    def patch(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """A narrative cannot change while an open round contains the query; the status is then 409. A draft can always
        change."""
        query, change = self._query(uuid), self.read_body(QueryChange)
        if len(change) != 1 or change.get("confirm") is False:
            raise NotValid(
                "Send exactly one of narrative, draft and confirm.",
                {"narrative": "Send exactly one of narrative, draft and confirm."},
            )
        if "draft" in change:
            query = narratives.save_draft(query, text=change["draft"], actor=request.user)
        elif "narrative" in change:
            query = narratives.write(query, text=change["narrative"], actor=request.user)
        else:
            query = narratives.confirm(query, actor=request.user)
        return self.respond(QueryBody, query)

    def _query(self, uuid: uuid_module.UUID) -> Query:
        rows = Query.of_any_kind.filter(collection=self.collection).select_related("stratum")
        query = rows.filter(uuid=uuid).first()
        if query is None:
            raise NotFound("This collection has no such query.")
        return query
