"""API of click labels: import click logs, list sources and make grades from labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Count
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers

from assay.clicks import CLICK_MODELS
from assay.clicks.grade_cuts import MOST_CUTS
from assay.clicks.labeling import LEAST_IMPRESSIONS
from judgments.imports.api import FileSent, Imports, Reading, documented
from judgments.imports.posted_lists import PostedFile, json_lines
from judgments.models import LabelSource
from judgments.web import access
from judgments.web.endpoints import InCollection, call
from pooling.clicks import agreement as click_agreement
from pooling.clicks import click_logs, label_sources


class ShownInput(serializers.Serializer):
    """One search result with its clicks, or counts of them."""

    query = serializers.CharField(required=False)
    query_id = serializers.CharField(required=False)
    doc_id = serializers.CharField()
    position = serializers.IntegerField(required=False)
    clicked = serializers.BooleanField(required=False)
    impressions = serializers.IntegerField(required=False)
    clicks = serializers.IntegerField(required=False)
    client_id = serializers.CharField(required=False)


class ClickRules(serializers.Serializer):
    """The rules that turn clicks into labels."""

    model = serializers.ChoiceField(choices=list(CLICK_MODELS), default="coec")
    least_impressions = serializers.IntegerField(
        default=LEAST_IMPRESSIONS,
        min_value=1,
        max_value=click_logs.MOST_IMPRESSIONS,
        help_text="Minimum impressions; pairs with fewer impressions get no label.",
    )
    cuts = serializers.CharField(
        required=False,
        max_length=300,
        help_text="Thresholds for grades instead of fractions: `0.5,1,2` for the grades 0 to 3.",
    )
    baseline = serializers.CharField(
        required=False,
        max_length=2_000,
        help_text="Measured clicks per impression by rank, starting with rank 1; omit it to use the rates of the log.",
    )
    strength = serializers.FloatField(
        required=False, min_value=1e-6, max_value=click_logs.MOST_STRENGTH, help_text="Weight of the prior."
    )


class ClicksReading(ClickRules, Reading):
    """How to read and store a log posted as a list."""


class ClicksFileInput(ClickRules, FileSent):
    """A log as a file."""


class ClickSourceBody(serializers.Serializer):
    """One source of labels from clicks."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    labels = serializers.IntegerField(source="label_count")
    rules = serializers.JSONField(source="report.rules")
    impressions = serializers.IntegerField(source="report.impressions")
    clicks = serializers.IntegerField(source="report.clicks")
    sha256 = serializers.CharField(source="report.file_sha256", help_text="SHA-256 of the click log.")
    created_at = serializers.DateTimeField()


class AgreementBody(serializers.Serializer):
    """Agreement with the human grades of closed rounds: Cohen's kappa with quadratic weights."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    pairs = serializers.IntegerField()
    reason = serializers.CharField(allow_blank=True)
    cuts = serializers.ListField(child=serializers.FloatField())
    fitted = serializers.BooleanField(
        help_text="Whether the thresholds were fitted to these pairs, which inflates the agreement."
    )


class OneClickSourceBody(ClickSourceBody):
    """A source with its click rates by rank and its agreement with human grades."""

    ranks = serializers.SerializerMethodField(
        help_text="By rank, with 0 for unknown: impressions, clicks and expected rate."
    )
    few = serializers.IntegerField(source="report.few", help_text="Pairs with too few impressions for a label.")
    clients = serializers.IntegerField(source="report.clients")
    robots = serializers.JSONField(source="report.robots", help_text="Clients left out, by reason.")
    agreement = serializers.SerializerMethodField()

    def get_ranks(self, source: LabelSource) -> list[list[float]]:
        return list(source.report["ranks"])

    @extend_schema(responses=AgreementBody)
    def get_agreement(self, source: LabelSource) -> dict[str, Any]:
        compared = click_agreement.compare(source, reader=self.context["request"].user)
        low, high = (compared.kappa.low, compared.kappa.high) if compared.kappa else (None, None)
        return AgreementBody(
            {
                "value": compared.value,
                "low": low,
                "high": high,
                "pairs": compared.pairs,
                "reason": compared.reason,
                "cuts": list(compared.cuts),
                "fitted": compared.fitted,
            }
        ).data


class GradeCuts(serializers.Serializer):
    """Thresholds that turn labels into grades."""

    name = serializers.CharField(max_length=200)
    cuts = serializers.ListField(child=serializers.FloatField(), min_length=1, max_length=MOST_CUTS)


SOURCES = LabelSource.objects.filter(kind=LabelSource.Kind.CLICKS).annotate(label_count=Count("labels"))


@extend_schema_view(
    get=extend_schema(summary="List click label sources"),
    post=documented(
        "Upload a click log",
        ShownInput,
        [{"query": "rain jacket", "doc_id": "d1", "position": 1, "impressions": 310, "clicks": 124}],
        ClicksReading,
        ClicksFileInput,
    ),
)
class ClickSources(Imports):
    """The click label sources of a collection."""

    kind = "clicks"
    reading = ClicksReading
    file_serializer = ClicksFileInput
    queryset = SOURCES.order_by("-created_at", "-pk")
    serializer_class = ClickSourceBody
    filters = {"name": "name"}
    ordering = {"created_at": "created_at", "name": "name"}
    tag = "labels"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        return json_lines("click-log-jsonl", rows)


class OneClickSource(InCollection):
    """One click label source."""

    tag = "labels"

    @call("Get a click label source", OneClickSourceBody)
    def get(self) -> Any:
        return access.reach(SOURCES.filter(collection=self.collection), self.user, self.roles, uuid=self.kwargs["uuid"])


class ClickGrades(InCollection):
    writes = access.LEADS
    also = (409,)
    tag = "labels"

    @call(
        "Create grades from click labels",
        ClickSourceBody,
        status=201,
        request=GradeCuts,
        example=("Four grades", {"name": "clicks 0-3", "cuts": [0.5, 1, 2]}),
    )
    def post(self) -> Any:
        """The grades become a new source. The original labels stay unchanged."""
        row = access.reach(SOURCES.filter(collection=self.collection), self.user, self.roles, uuid=self.kwargs["uuid"])
        made = label_sources.make_grades(row, actor=self.user, **self.read_body(GradeCuts))
        return SOURCES.get(pk=made.pk)
