"""What do runs score against a snapshot?"""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation import scoring
from evaluation.metrics import DEFAULT_METRICS
from evaluation.models import Scoring
from judgments import access
from judgments.api.endpoint import Rows, rows_called
from judgments.api.jobs import Started, started
from judgments.api.paging import Pages
from judgments.core.errors import NotValid
from judgments.models import Snapshot


class QrelsOfScores(serializers.Serializer):
    """Which labels."""

    path = serializers.CharField()
    sha256 = serializers.CharField()
    queries = serializers.IntegerField()
    judgments = serializers.IntegerField()


class SummaryBody(serializers.Serializer):
    """A metric over the queries; null with a reason where it is undefined."""

    mean = serializers.FloatField(allow_null=True)
    queries = serializers.IntegerField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    weighted = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(required=False)


class RunScored(serializers.Serializer):
    """One run."""

    name = serializers.CharField()
    path = serializers.CharField()
    sha256 = serializers.CharField()
    metrics = serializers.DictField(child=SummaryBody())
    by_tier = serializers.DictField()
    per_query = serializers.DictField(child=serializers.DictField(child=serializers.FloatField()))
    diagnostics = serializers.DictField()


class ScoresBody(serializers.Serializer):
    """The shape of `assay evaluate --format json`, with the snapshot's id."""

    snapshot = serializers.UUIDField()
    qrels = QrelsOfScores()
    runs = RunScored(many=True)


class NewScores(serializers.Serializer):
    """Which runs, on which labels, by which metrics."""

    snapshot = serializers.UUIDField()
    runs = serializers.ListField(child=serializers.UUIDField(), allow_empty=False)
    metrics = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        allow_null=True,
        default=None,
        help_text="Names as ir_measures writes them; " + ", ".join(DEFAULT_METRICS) + " when left out.",
    )


class FewPages(Pages):
    """A page holds the scores of every query: ten snapshots are plenty."""

    page_size = 10
    max_page_size = 50


def told(snapshot: Snapshot, scorings: list[Scoring]) -> dict[str, Any]:
    """The scores of one snapshot."""
    return {"snapshot": str(snapshot.uuid), **scoring.as_json(snapshot, scorings)}


class Scores(Rows):
    """The scores of a collection, by snapshot."""

    queryset = Snapshot.objects.none()
    serializer_class = ScoresBody
    pagination_class = FewPages
    writes = access.STAFF
    tag = "scores"

    def get_queryset(self) -> QuerySet[Snapshot]:
        if getattr(self, "swagger_fake_view", False):
            return self.queryset
        scored = Scoring.objects.select_related("run").prefetch_related("scores").order_by("run__name")
        rows = self.collection.snapshots.filter(scorings__isnull=False).distinct()
        if wanted := self.request.query_params.get("snapshot"):
            rows = rows.filter(uuid=_uuid(wanted))
        return rows.prefetch_related(Prefetch("scorings", scored)).order_by("-created_at", "-pk")

    @extend_schema(summary="The scores", parameters=[OpenApiParameter("snapshot", uuid_module.UUID)])
    def get(self, request: Request, slug: str) -> Response:
        """One entry for each snapshot that was scored on, the newest first."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response([told(snapshot, list(snapshot.scorings.all())) for snapshot in page or ()])

    @extend_schema(
        summary="Score runs",
        request=NewScores,
        responses={201: ScoresBody, 202: Started},
        examples=[
            OpenApiExample(
                "Two runs", {"snapshot": "<id>", "runs": ["<id>", "<id>"], "metrics": ["nDCG@10"]}, request_only=True
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Every mean with a 95 % interval. Large runs are scored as a job."""
        asked = self.sent(NewScores)
        rows = self.collection.snapshots.select_related("collection")
        (snapshot,) = rows_called(rows, [asked["snapshot"]], "snapshot", "snapshot")
        runs = rows_called(self.collection.runs.all(), asked["runs"], "runs", "run")
        metrics = checked_metrics(asked["metrics"])
        if scoring.too_large(runs):
            return started(scoring.score_later(snapshot, runs, actor=request.user, metrics=metrics))
        return Response(
            told(snapshot, scoring.score_runs(snapshot, runs, actor=request.user, metrics=metrics)), status=201
        )


def checked_metrics(names: list[str] | None) -> list[str] | None:
    """The names, once every one of them is known to be a metric; told at their field otherwise."""
    from evaluation.metrics.names import parse_metrics

    if not names:
        return None
    try:
        parse_metrics(names)
    except NotValid as error:
        raise NotValid(str(error), {"metrics": str(error)}) from error
    return names


def _uuid(text: str) -> uuid_module.UUID:
    try:
        return uuid_module.UUID(text)
    except ValueError:
        raise NotValid("snapshot is no id.", {"snapshot": "The id of a snapshot."}) from None
