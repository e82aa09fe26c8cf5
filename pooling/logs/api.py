"""API of query logs: import a log and draw queries from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.response import Response

from assay.sampling.counted_log import WINDOW_DAYS
from assay.sampling.draw import PPS, STRATIFIED
from assay.sampling.tiers import HEAD_SHARE, TORSO_SHARE
from judgments.imports.api import FileSent, Imports, Reading, documented
from judgments.imports.posted_lists import PostedFile, json_lines
from judgments.jobs.api import Started, started
from judgments.web import access
from judgments.web.endpoints import InCollection, call
from judgments.web.serializers import Seed, Strict
from pooling.logs import query_logs, traffic
from pooling.models import QueryLog


class SearchInput(serializers.Serializer):
    """One search of a raw log, or one query of a counted log."""

    query = serializers.CharField()
    count = serializers.IntegerField(required=False)
    timestamp = serializers.CharField(required=False)
    client_id = serializers.CharField(required=False)
    clicks = serializers.CharField(required=False)
    language = serializers.CharField(required=False)


class LogBody(serializers.Serializer):
    """A query log and its counts."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    format = serializers.CharField()
    sha256 = serializers.CharField()
    searches = serializers.IntegerField()
    distinct = serializers.IntegerField(help_text="Distinct queries.")
    first_at = serializers.DateTimeField(allow_null=True)
    last_at = serializers.DateTimeField(allow_null=True)
    languages = serializers.SerializerMethodField(help_text="The languages of the log, with their numbers of searches.")
    created_at = serializers.DateTimeField()

    def get_languages(self, log: QueryLog) -> dict[str, int]:
        return traffic.languages(log)


class Draw(Strict):
    """Sizes of a draw, and the tier boundaries."""

    head = serializers.IntegerField(required=False, min_value=0, max_value=query_logs.MOST_QUERIES)
    torso = serializers.IntegerField(required=False, min_value=0, max_value=query_logs.MOST_QUERIES)
    tail = serializers.IntegerField(required=False, min_value=0, max_value=query_logs.MOST_QUERIES)
    seed = Seed()
    method = serializers.ChoiceField(choices=[STRATIFIED, PPS], default=STRATIFIED)
    n = serializers.IntegerField(
        min_value=1,
        max_value=query_logs.MOST_QUERIES,
        allow_null=True,
        default=None,
        help_text="Number of queries, for `pps`.",
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
        help_text="The last rank of the head, regardless of its traffic; use it with "
        "`torso_ranks` instead of the shares.",
    )
    torso_ranks = serializers.IntegerField(required=False, min_value=1, max_value=query_logs.MOST_RANKS)
    language = serializers.CharField(
        required=False,
        max_length=40,
        help_text="Only searches in this language, if the log has a column `language`: `de` includes `de-AT`.",
    )


class NewDraw(Draw):
    """A draw with a token. A repeated request returns the same draw."""

    token = serializers.UUIDField(
        default=None,
        allow_null=True,
        help_text="A UUID for the sample's `id`; a repeated request with it makes no second draw.",
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
    """A recorded draw. It can be repeated with its log, seed and parameters."""

    id = serializers.UUIDField(source="uuid")
    method = serializers.CharField()
    seed = serializers.IntegerField()
    parameters = serializers.JSONField()
    frame = serializers.JSONField(help_text="The sampling frame: distinct queries and searches, by tier.")


class Drawn(serializers.Serializer):
    """The draw, and the new queries."""

    sample = SampleBody()
    drawn = serializers.IntegerField(help_text="Number of drawn queries, including existing ones.")
    queries = DrawnQuery(many=True)


class LogReading(Reading):
    """How to read and store a log posted as a list."""

    single_counts = serializers.BooleanField(
        required=False, help_text="Confirm that the file is a log even though every query occurs once."
    )


class LogFileInput(LogReading, FileSent):
    """A log as a file."""


@extend_schema_view(
    get=extend_schema(summary="List query logs"),
    post=documented(
        "Upload a query log", SearchInput, [{"query": "rain jacket", "count": 310}], LogReading, LogFileInput
    ),
)
class QueryLogs(Imports):
    """The query logs of a collection."""

    kind = "query-logs"
    reading, file_serializer = LogReading, LogFileInput
    queryset = QueryLog.objects.order_by("-created_at", "-pk")
    serializer_class = LogBody
    filters = {"name": "name"}
    ordering = {"created_at": "created_at", "name": "name", "searches": "searches"}
    tag = "query logs"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        return json_lines("query-log-jsonl", rows)


class DrawQueries(InCollection):
    writes = access.LEADS
    tag = "query logs"

    @call(
        "Draw queries",
        request=NewDraw,
        responses={201: Drawn, 202: Started},
        example=("By tier", {"head": 50, "torso": 100, "tail": 50, "seed": 1}),
    )
    def post(self) -> Response:
        """Drawn queries get a tier, inclusion probability, weight and one raw row. The default sizes are 50, 100 and
        50."""
        log = self.one(self.collection.query_logs.all(), "query log")
        options = self.read_body(NewDraw)
        sizes = {tier: options.pop(tier) for tier in query_logs.DEFAULT_SIZES if tier in options}
        given = dict.fromkeys(query_logs.DEFAULT_SIZES, 0) | sizes if sizes else None
        if traffic.is_large(log):
            return started(query_logs.draw_later(log, actor=self.user, sizes=given, **options))
        sample, new = query_logs.draw(log, actor=self.user, sizes=given, **options)
        body = {"sample": sample, "drawn": sample.queries.count(), "queries": new}
        return self.respond(Drawn, body, 201)
