"""API of the score history: the scores of runs on the snapshots of a collection."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotValid
from evaluation.scoring import history, leaderboard
from evaluation.scoring.api.scores import FreshnessSaid
from judgments.snapshots import snapshots
from judgments.web.endpoints import InCollection

# Each is compared with the previous one, which reads two files the first time.
MOST_SNAPSHOTS = 100


class ChangeBody(serializers.Serializer):
    """Changes since the previous snapshot. `rule`, `guidelines` and `software` are [before, after] or null."""

    labels_added = serializers.IntegerField()
    labels_removed = serializers.IntegerField()
    labels_changed = serializers.IntegerField()
    queries_added = serializers.IntegerField()
    queries_removed = serializers.IntegerField()
    rounds_added = serializers.ListField(child=serializers.CharField())
    rounds_removed = serializers.ListField(child=serializers.CharField())
    rule = serializers.ListField(child=serializers.CharField(), allow_null=True)
    guidelines = serializers.ListField(child=serializers.CharField(), allow_null=True)
    software = serializers.ListField(child=serializers.CharField(), allow_null=True)


class RunThen(serializers.Serializer):
    """One run on one snapshot."""

    run = serializers.UUIDField()
    name = serializers.CharField()
    sha256 = serializers.CharField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    weighted = serializers.FloatField(allow_null=True)
    weighted_low = serializers.FloatField(allow_null=True)
    weighted_high = serializers.FloatField(allow_null=True)
    queries = serializers.IntegerField()
    reason = serializers.CharField(required=False)


class SnapshotThen(serializers.Serializer):
    """One snapshot with the scores of its runs."""

    snapshot = serializers.UUIDField()
    name = serializers.CharField()
    content_sha256 = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    queries = serializers.IntegerField()
    labels = serializers.IntegerField()
    change = ChangeBody(allow_null=True)
    runs = RunThen(many=True)


class HistoryBody(serializers.Serializer):
    """Snapshots in the order they were frozen."""

    metric = serializers.CharField()
    snapshots = SnapshotThen(many=True)
    freshness = FreshnessSaid(allow_null=True, help_text="Freshness of the newest of these snapshots.")


class History(InCollection):
    """The scores of a collection over time."""

    tag = "scores"
    serializer_class = HistoryBody

    @extend_schema(
        summary="Get scores over time",
        responses=HistoryBody,
        parameters=[
            OpenApiParameter("metric", str, description="A metric with scores; by default the first."),
            OpenApiParameter("run", str, description="Return only this run, by id or name."),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return every snapshot with its scores, oldest first, and the changes since the previous one."""
        known = history.metrics_of(self.collection)
        metric = request.query_params.get("metric", "") or next(iter(known), leaderboard.HEADLINE)
        if known and metric not in known:
            message = f"No scores exist for {metric}. Metrics with scores: {', '.join(known)}."
            raise NotValid(message, {"metric": message})
        run = history.chosen_run(self.collection, request.query_params.get("run", ""))
        points = history.points_for(request.user, self.collection, metric, MOST_SNAPSHOTS)
        body: dict[str, Any] = history.as_json(metric, points, run)
        return Response(snapshots.redacted_for(request.user, self.collection, body))
