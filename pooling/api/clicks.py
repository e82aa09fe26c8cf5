"""API of click labels: import click logs, list sources and make grades from labels."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from typing import Any

from django.db.models import Count
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access
from judgments.api.endpoint import InCollection
from judgments.api.import_bodies import FileSent, Reading, documented
from judgments.api.imports import Imports
from judgments.api.posted import PostedFile, json_lines
from judgments.models import LabelSource
from pooling import click_agreement, click_logs, click_sources
from pooling.clicks import CLICK_MODELS
from pooling.clicks.cuts import MOST_CUTS
from pooling.clicks.labelling import LEAST_IMPRESSIONS


class ShownSent(serializers.Serializer):
    """One shown result, or the counts of one."""

    query = serializers.CharField(required=False)
    query_id = serializers.CharField(required=False)
    doc_id = serializers.CharField()
    position = serializers.IntegerField(required=False)
    clicked = serializers.BooleanField(required=False)
    impressions = serializers.IntegerField(required=False)
    clicks = serializers.IntegerField(required=False)
    client_id = serializers.CharField(required=False)


class ClickRules(serializers.Serializer):
    """How clicks become labels."""

    model = serializers.ChoiceField(choices=list(CLICK_MODELS), default="coec")
    least_impressions = serializers.IntegerField(
        default=LEAST_IMPRESSIONS,
        min_value=1,
        max_value=click_logs.MOST_IMPRESSIONS,
        help_text="A pair that was shown less often has no label.",
    )
    cuts = serializers.CharField(
        required=False, max_length=300, help_text="Grades instead of fractions: `0.5,1,2` for the grades 0 to 3."
    )
    baseline = serializers.CharField(
        required=False, max_length=2_000, help_text="Clicks per impression from rank 1 on, where they are known."
    )
    strength = serializers.FloatField(
        required=False, min_value=1e-6, max_value=click_logs.MOST_STRENGTH, help_text="Weight of the prior."
    )


class ClicksReading(ClickRules, Reading):
    """How to read and store a log that is sent as a list."""


class ClicksSent(ClickRules, FileSent):
    """A log as a file."""


class ClickSourceBody(serializers.Serializer):
    """One source of labels from clicks."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    labels = serializers.IntegerField(source="label_count")
    rules = serializers.JSONField(source="report.rules")
    impressions = serializers.IntegerField(source="report.impressions")
    clicks = serializers.IntegerField(source="report.clicks")
    sha256 = serializers.CharField(source="report.file_sha256", help_text="Of the log.")
    created_at = serializers.DateTimeField()


class AgreementBody(serializers.Serializer):
    """Cohen's kappa, quadratic, with people's grades of closed rounds."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    pairs = serializers.IntegerField()
    reason = serializers.CharField(allow_blank=True)
    cuts = serializers.ListField(child=serializers.FloatField())
    fitted = serializers.BooleanField(help_text="The cuts were fitted to these pairs, which flatters the agreement.")


class OneClickSourceBody(ClickSourceBody):
    """A source with what each rank brings and how far it agrees with people."""

    ranks = serializers.SerializerMethodField(help_text="Rank (0: unknown), impressions, clicks, expected rate.")
    few = serializers.IntegerField(source="report.few", help_text="Pairs shown too seldom to have a label.")
    clients = serializers.IntegerField(source="report.clients")
    robots = serializers.JSONField(source="report.robots", help_text="Clients that were left out, by reason.")
    agreement = serializers.SerializerMethodField()

    def get_ranks(self, source: LabelSource) -> list[list[float]]:
        return list(source.report["ranks"])

    @extend_schema(responses=AgreementBody)
    def get_agreement(self, source: LabelSource) -> dict[str, Any]:
        found = click_agreement.compare(source, reader=self.context["request"].user)
        low, high = (found.kappa.low, found.kappa.high) if found.kappa else (None, None)
        return AgreementBody(
            {
                "value": found.value,
                "low": low,
                "high": high,
                "pairs": found.pairs,
                "reason": found.reason,
                "cuts": list(found.cuts),
                "fitted": found.fitted,
            }
        ).data


class GradesAsked(serializers.Serializer):
    """From which label on a pair has which grade."""

    name = serializers.CharField(max_length=200)
    cuts = serializers.ListField(child=serializers.FloatField(), min_length=1, max_length=MOST_CUTS)


SOURCES = LabelSource.objects.filter(kind=LabelSource.Kind.CLICKS).annotate(label_count=Count("labels"))


@extend_schema_view(
    get=extend_schema(summary="The labels from clicks, by source"),
    post=documented(
        "Send a click log",
        ShownSent,
        [{"query": "rain jacket", "doc_id": "d1", "position": 1, "impressions": 310, "clicks": 124}],
        ClicksReading,
        ClicksSent,
    ),
)
class ClickSources(Imports):
    """The sources of labels from clicks of a collection."""

    kind = "clicks"
    reading = ClicksReading
    file_sent = ClicksSent
    queryset = SOURCES.order_by("-created_at", "-pk")
    serializer_class = ClickSourceBody
    tag = "labels"

    def as_file(self, rows: Sequence[Any], asked: dict[str, Any]) -> PostedFile:
        return json_lines("click-log-jsonl", rows)


class OneClickSource(InCollection):
    """One source of labels from clicks."""

    serializer_class = OneClickSourceBody
    tag = "labels"

    @extend_schema(summary="One source of labels from clicks")
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        row = access.reach(SOURCES.filter(collection=self.collection), request.user, self.roles, uuid=uuid)
        return self.told(OneClickSourceBody, row)


class ClickGrades(InCollection):
    """Make grades of a source's labels."""

    writes = access.LEADS
    serializer_class = ClickSourceBody
    also = (409,)
    tag = "labels"

    @extend_schema(
        summary="Make grades of labels from clicks",
        request=GradesAsked,
        responses={201: ClickSourceBody},
        examples=[OpenApiExample("Four grades", {"name": "clicks 0-3", "cuts": [0.5, 1, 2]}, request_only=True)],
    )
    def post(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """They become a source of their own; the labels stay as they are."""
        row = access.reach(SOURCES.filter(collection=self.collection), request.user, self.roles, uuid=uuid)
        made = click_sources.make_grades(row, actor=request.user, **self.sent(GradesAsked))
        return self.told(ClickSourceBody, SOURCES.get(pk=made.pk), 201)
