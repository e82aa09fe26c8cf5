"""API of query logs: import a log and draw queries from it."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access
from judgments.api.endpoint import InCollection
from judgments.api.import_bodies import FileSent, Reading, documented
from judgments.api.imports import Imports
from judgments.api.jobs import Started, started
from judgments.api.posted import PostedFile, json_lines
from judgments.api.seeds import Seed
from judgments.api.strict import Strict
from judgments.core.errors import NotFound
from pooling import log_traffic, query_logs
from pooling.models import QueryLog
from pooling.sampling.counted import WINDOW_DAYS
from pooling.sampling.draw import PPS, STRATIFIED
from pooling.sampling.tiers import HEAD_SHARE, TORSO_SHARE


class SearchSent(serializers.Serializer):
    """One search of a raw log, or one query of a counted log."""

    query = serializers.CharField()
    count = serializers.IntegerField(required=False)
    timestamp = serializers.CharField(required=False)
    client_id = serializers.CharField(required=False)
    clicks = serializers.CharField(required=False)
    language = serializers.CharField(required=False)


class LogBody(serializers.Serializer):
    """A log and what was counted in it."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    format = serializers.CharField()
    sha256 = serializers.CharField()
    searches = serializers.IntegerField()
    distinct = serializers.IntegerField(help_text="Distinct queries.")
    first_at = serializers.DateTimeField(allow_null=True)
    last_at = serializers.DateTimeField(allow_null=True)
    languages = serializers.SerializerMethodField(help_text="The languages that the log names, with their searches.")
    created_at = serializers.DateTimeField()

    def get_languages(self, log: QueryLog) -> dict[str, int]:
        return log_traffic.languages(log)


class Draw(Strict):
    """How many queries to draw, and where the tiers are cut."""

    head = serializers.IntegerField(required=False, min_value=0, max_value=query_logs.MOST_QUERIES)
    torso = serializers.IntegerField(required=False, min_value=0, max_value=query_logs.MOST_QUERIES)
    tail = serializers.IntegerField(required=False, min_value=0, max_value=query_logs.MOST_QUERIES)
    seed = Seed()
    method = serializers.ChoiceField(choices=[STRATIFIED, PPS], default=STRATIFIED)
    n = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=query_logs.MOST_QUERIES,
        allow_null=True,
        default=None,
        help_text="For `pps`.",
    )
    window_days = serializers.IntegerField(
        default=WINDOW_DAYS, min_value=1, max_value=query_logs.LONGEST_WINDOW, allow_null=True
    )
    head_share = serializers.FloatField(default=HEAD_SHARE, min_value=0, max_value=1)
    torso_share = serializers.FloatField(default=TORSO_SHARE, min_value=0, max_value=1)
    head_ranks = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=query_logs.MOST_RANKS,
        help_text="Up to which rank the head goes, whatever its traffic; with `torso_ranks`, instead of the shares.",
    )
    torso_ranks = serializers.IntegerField(required=False, min_value=1, max_value=query_logs.MOST_RANKS)
    language = serializers.CharField(
        required=False,
        max_length=40,
        help_text="Only searches in this language, where the log has a column `language`: `de` takes `de-AT` too.",
    )


class NewDraw(Draw):
    """A draw that can be asked for twice without drawing twice."""

    token = serializers.UUIDField(
        default=None,
        allow_null=True,
        help_text="A UUID of yours, the sample's `id` to be: sent twice, it is drawn once.",
    )


class DrawnQuery(serializers.Serializer):
    """A drawn query that is new in the collection."""

    query_id = serializers.CharField()
    query = serializers.CharField(source="text")
    tier = serializers.CharField()
    frequency = serializers.IntegerField(allow_null=True)
    probability = serializers.FloatField(allow_null=True)
    weight = serializers.FloatField(allow_null=True)


class SampleBody(serializers.Serializer):
    """A draw on record: with log, seed and parameters it can be drawn again."""

    id = serializers.UUIDField(source="uuid")
    method = serializers.CharField()
    seed = serializers.IntegerField()
    parameters = serializers.JSONField()
    frame = serializers.JSONField(help_text="What could have been drawn: distinct queries and searches, by tier.")


class Drawn(serializers.Serializer):
    """The draw, and the queries that are new."""

    sample = SampleBody()
    drawn = serializers.IntegerField(help_text="Queries drawn, those that were there already among them.")
    queries = DrawnQuery(many=True)


class LogReading(Reading):
    """How to read and store a log that is sent as a list."""

    single_counts = serializers.BooleanField(
        required=False, help_text="Confirms that it is a log although every query in it counts once."
    )


class LogFileSent(LogReading, FileSent):
    """A log as a file."""


@extend_schema_view(
    get=extend_schema(summary="The query logs"),
    post=documented("Send a query log", SearchSent, [{"query": "rain jacket", "count": 310}], LogReading, LogFileSent),
)
class QueryLogs(Imports):
    """The query logs of a collection."""

    kind = "query-logs"
    reading, file_sent = LogReading, LogFileSent
    queryset = QueryLog.objects.order_by("-created_at", "-pk")
    serializer_class = LogBody
    tag = "query logs"

    def as_file(self, rows: Sequence[Any], asked: dict[str, Any]) -> PostedFile:
        return json_lines("query-log-jsonl", rows)


class DrawQueries(InCollection):
    """Draw queries from a log into the collection."""

    writes = access.LEADS
    serializer_class = Drawn
    tag = "query logs"

    @extend_schema(
        summary="Draw queries",
        request=NewDraw,
        responses={201: Drawn, 202: Started},
        examples=[OpenApiExample("By tier", {"head": 50, "torso": 100, "tail": 50, "seed": 1}, request_only=True)],
    )
    def post(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Each with tier, inclusion probability, weight and one raw row. Sizes default to 50, 100 and 50."""
        log = self.collection.query_logs.filter(uuid=uuid).first()
        if log is None:
            raise NotFound("This collection has no such query log.")
        asked = self.sent(NewDraw)
        sizes = {tier: asked.pop(tier) for tier in query_logs.DEFAULT_SIZES if tier in asked}
        given = dict.fromkeys(query_logs.DEFAULT_SIZES, 0) | sizes if sizes else None
        if log_traffic.is_large(log):
            return started(query_logs.draw_later(log, actor=request.user, sizes=given, **asked))
        sample, new = query_logs.draw(log, actor=request.user, sizes=given, **asked)
        body = {"sample": sample, "drawn": sample.queries.count(), "queries": new}
        return self.told(Drawn, body, 201)
