"""API of scores: runs measured against a snapshot."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Collection as Some
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation import blindness, freshness, leaderboard, scoring, scoring_job
from evaluation.metrics import DEFAULT_METRICS
from evaluation.stored_scores import as_json, scorings_of
from judgments import access, snapshots
from judgments.api.endpoint import Rows, rows_called
from judgments.api.jobs import Started, started
from judgments.api.paging import Pages
from judgments.core.errors import NotValid
from judgments.models import Snapshot


class QrelsOfScores(serializers.Serializer):
    """Which labels."""

    path = serializers.CharField()
    sha256 = serializers.CharField(allow_null=True, help_text="Null while you may still have to grade a pair.")
    queries = serializers.IntegerField()
    judgments = serializers.IntegerField()


class SummaryBody(serializers.Serializer):
    """A metric over the queries; null with a reason where it is undefined."""

    mean = serializers.FloatField(allow_null=True)
    queries = serializers.IntegerField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    weighted = serializers.FloatField(allow_null=True)
    weighted_low = serializers.FloatField(required=False)
    weighted_high = serializers.FloatField(required=False)
    weighted_reason = serializers.CharField(required=False)
    effective_queries = serializers.FloatField(required=False)
    reason = serializers.CharField(required=False)


class RunScored(serializers.Serializer):
    """One run."""

    name = serializers.CharField()
    path = serializers.CharField()
    sha256 = serializers.CharField()
    metrics = serializers.DictField(child=SummaryBody())
    by_tier = serializers.DictField(child=serializers.DictField(child=SummaryBody()))
    per_query = serializers.DictField(child=serializers.DictField(child=serializers.FloatField()))
    diagnostics = serializers.DictField()


class GroupsBody(serializers.Serializer):
    """Which runs were not told apart: they share a letter. Without letters there is a reason."""

    metric = serializers.CharField()
    letters = serializers.DictField(child=serializers.CharField())
    queries = serializers.IntegerField()
    pairs = serializers.IntegerField()
    test = serializers.CharField()
    correction = serializers.CharField()
    alpha = serializers.FloatField()
    reason = serializers.CharField(required=False)


class FreshnessSaid(serializers.Serializer):
    """How far the labels behind the scores still fit, as `freshness/` tells it whole."""

    state = serializers.CharField(help_text="fresh, warn, stale or unknown.")
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="A sentence for each signal, gravest first."
    )
    unknown = serializers.ListField(child=serializers.CharField(), help_text="Signals that could not be read.")
    checked_at = serializers.DateTimeField(allow_null=True, help_text="When everything was read last.")


class AgainstBaselineBody(serializers.Serializer):
    """Each other run compared with the baseline; null where the collection has no scored baseline."""

    baseline = serializers.CharField()
    metric = serializers.CharField()
    runs = serializers.DictField(help_text="Run to difference, low, high, p, wins, ties, losses, reason and verdict.")
    queries = serializers.IntegerField()
    test = serializers.CharField()
    correction = serializers.CharField()
    alpha = serializers.FloatField()


class ScoresBody(serializers.Serializer):
    """The shape of `assay evaluate --format json`, with the snapshot's id and the letters of one metric.

    `left_out` counts the queries that are kept from you, because you may still be asked to grade a document of theirs.
    """

    snapshot = serializers.UUIDField()
    qrels = QrelsOfScores()
    runs = RunScored(many=True)
    settings = serializers.DictField()
    groups = GroupsBody()
    against_baseline = AgainstBaselineBody(allow_null=True)
    left_out = serializers.IntegerField()
    freshness = FreshnessSaid()


class NewScores(serializers.Serializer):
    """Which runs, on which labels, by which metrics."""

    snapshot = serializers.UUIDField()
    runs = serializers.ListField(child=serializers.UUIDField(), allow_empty=False)
    metrics = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        allow_null=True,
        default=None,
        help_text="Names as ir_measures writes them; " + ", ".join(DEFAULT_METRICS) + " when left out. "
        "Those that need labels by subtopic (alpha_nDCG, ERR_IA) are refused: no snapshot has such labels; score them "
        "with `assay evaluate --subtopics`.",
    )
    level = serializers.FloatField(default=scoring.LEVEL, help_text="Coverage of the intervals, between 0 and 1.")
    method = serializers.CharField(default=scoring.METHOD, help_text="percentile, bca or t.")


class FewPages(Pages):
    """A page holds the scores of every query: ten snapshots are plenty."""

    page_size = 10
    max_page_size = 10


def told(snapshot: Snapshot, reader: Any, runs: Some[int] | None = None, metric: str = "") -> dict[str, Any]:
    """The scores of one snapshot, as far as the reader may know them."""
    left_out = blindness.withheld_queries(reader, snapshot)
    found = scorings_of(snapshot, per_query=True, left_out=left_out, runs=runs)
    known = leaderboard.metrics(found)
    shown = metric if metric in known else next(iter(known), leaderboard.HEADLINE)
    rows = leaderboard.rows(found, shown)
    apart = leaderboard.compared(rows, left_out, every_pair=True)
    baseline = leaderboard.compared(rows, left_out)
    body = {
        "snapshot": str(snapshot.uuid),
        **as_json(snapshot, found),
        "groups": apart.as_json(shown),
        "against_baseline": baseline.against_json(shown),
        "left_out": len(left_out),
        "freshness": freshness.look(snapshot).as_json(),
    }
    return snapshots.told_to(reader, snapshot.collection, body)


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
        rows = self.collection.snapshots.filter(scorings__isnull=False).distinct()
        if wanted := self.request.query_params.get("snapshot"):
            rows = rows.filter(uuid=_uuid(wanted))
        return rows.order_by("-created_at", "-pk")

    @extend_schema(
        summary="The scores",
        parameters=[
            OpenApiParameter("snapshot", uuid_module.UUID),
            OpenApiParameter("metric", str, description="The one whose letters are wanted; the first one by default."),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """One entry for each snapshot that was scored on, the newest first."""
        page = self.paginate_queryset(self.get_queryset())
        metric = request.query_params.get("metric", "")
        return self.get_paginated_response([told(snapshot, request.user, metric=metric) for snapshot in page or ()])

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
        """Every mean with an interval, weighted by traffic and by tier where the draw allows. Large runs are a job."""
        asked = self.sent(NewScores)
        rows = self.collection.snapshots.select_related("collection")
        (snapshot,) = rows_called(rows, [asked["snapshot"]], "snapshot", "snapshot")
        runs = rows_called(self.collection.runs.all(), asked["runs"], "runs", "run")
        metrics = scoring.metric_names(asked["metrics"])
        how = {"actor": request.user, "metrics": metrics, "level": asked["level"], "method": asked["method"]}
        if scoring_job.too_large(runs):
            return started(scoring_job.score_later(snapshot, runs, **how))
        scoring.score_runs(snapshot, runs, **how)
        body = told(snapshot, request.user, {run.pk for run in runs})
        place = {run.name: at for at, run in enumerate(runs)}
        body["runs"].sort(key=lambda run: place[run["name"]])
        return Response(body, status=201)


def _uuid(text: str) -> uuid_module.UUID:
    try:
        return uuid_module.UUID(text)
    except ValueError:
        raise NotValid("snapshot is no id.", {"snapshot": "The id of a snapshot."}) from None
