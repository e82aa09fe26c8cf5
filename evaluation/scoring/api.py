"""API of scores: metrics of runs on a snapshot, and their history over the snapshots of a collection."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Collection as Some
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotValid
from assay.metrics import DEFAULT_METRICS
from evaluation.freshness import freshness
from evaluation.scoring import history, leaderboard, scoring
from evaluation.scoring.stored_scores import as_json, scorings_of
from judgments.jobs.api import Started, started
from judgments.models import Snapshot
from judgments.snapshots import snapshots
from judgments.web import access
from judgments.web.api_lists import Pages
from judgments.web.endpoints import InCollection, Rows, rows_called


class QrelsOfScores(serializers.Serializer):
    """The labels behind the scores."""

    path = serializers.CharField()
    sha256 = serializers.CharField(allow_null=True, help_text="Null while you may still grade a pair of the snapshot.")
    queries = serializers.IntegerField()
    judgments = serializers.IntegerField()


class SummaryBody(serializers.Serializer):
    """A metric over the queries; null with a reason if it is undefined."""

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
    """Runs that share a letter are not significantly different. Without letters there is a reason."""

    metric = serializers.CharField()
    letters = serializers.DictField(child=serializers.CharField())
    queries = serializers.IntegerField()
    pairs = serializers.IntegerField()
    test = serializers.CharField()
    correction = serializers.CharField()
    alpha = serializers.FloatField()
    reason = serializers.CharField(required=False)


class FreshnessSaid(serializers.Serializer):
    """Freshness of the labels behind the scores; `freshness/` returns all signals."""

    state = serializers.CharField(help_text="fresh, warn, stale or unknown.")
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="One sentence per signal, most severe first."
    )
    unknown = serializers.ListField(child=serializers.CharField(), help_text="Signals that could not be computed.")
    checked_at = serializers.DateTimeField(allow_null=True, help_text="The time of the last complete check.")


class AgainstBaselineBody(serializers.Serializer):
    """Each other run compared with the baseline; null without a scored baseline."""

    baseline = serializers.CharField()
    metric = serializers.CharField()
    runs = serializers.DictField(
        help_text="For each run: difference, low, high, p, wins, ties, losses, reason and verdict."
    )
    queries = serializers.IntegerField()
    test = serializers.CharField()
    correction = serializers.CharField()
    alpha = serializers.FloatField()


class ScoresBody(serializers.Serializer):
    """The format of `assay evaluate --format json`, with the snapshot's id and the letters of one metric."""

    snapshot = serializers.UUIDField()
    qrels = QrelsOfScores()
    runs = RunScored(many=True)
    settings = serializers.DictField()
    groups = GroupsBody()
    against_baseline = AgainstBaselineBody(allow_null=True)
    left_out = serializers.IntegerField()
    freshness = FreshnessSaid()


class NewScores(serializers.Serializer):
    """The runs, labels and metrics to score."""

    snapshot = serializers.UUIDField()
    runs = serializers.ListField(child=serializers.UUIDField(), allow_empty=False)
    metrics = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        allow_null=True,
        default=None,
        help_text="Names as in ir_measures; by default "
        + ", ".join(DEFAULT_METRICS)
        + " . Metrics that need labels by subtopic (alpha_nDCG, ERR_IA) are not available because snapshots have "
        "no such labels. Use `assay evaluate --subtopics`.",
    )
    level = serializers.FloatField(
        default=scoring.LEVEL, help_text="Confidence level of the intervals, between 0 and 1."
    )
    method = serializers.CharField(default=scoring.METHOD, help_text="Interval method: percentile, bca or t.")


class FewPages(Pages):
    """Limit pages to ten snapshots, because a page contains the scores of every query."""

    page_size = 10
    max_page_size = 10


def snapshot_scores(snapshot: Snapshot, reader: Any, runs: Some[int] | None = None, metric: str = "") -> dict[str, Any]:
    """Return the scores of one snapshot that the reader may see."""
    left_out = snapshots.withheld_queries(reader, snapshot)
    scorings = scorings_of(snapshot, per_query=True, left_out=left_out, runs=runs)
    known = leaderboard.metrics(scorings)
    shown = metric if metric in known else next(iter(known), leaderboard.HEADLINE)
    rows = leaderboard.rows(scorings, shown)
    apart = leaderboard.compared(rows, left_out, every_pair=True)
    baseline = leaderboard.compared(rows, left_out)
    body = {
        "snapshot": str(snapshot.uuid),
        **as_json(snapshot, scorings),
        "groups": apart.as_json(shown),
        "against_baseline": baseline.against_json(shown),
        "left_out": len(left_out),
        "freshness": freshness.look(snapshot).as_json(),
    }
    return snapshots.redacted_for(reader, snapshot.collection, body)


class Scores(Rows):
    """The scores of a collection, by snapshot."""

    queryset = Snapshot.objects.none()
    serializer_class = ScoresBody
    pagination_class = FewPages
    ordering = {"created_at": "created_at", "name": "name"}
    parameters = (
        OpenApiParameter("snapshot", uuid_module.UUID, description="The scores of this snapshot only."),
        OpenApiParameter("metric", str, description="The metric of the significance letters; by default the first."),
    )
    writes = access.STAFF
    tag = "scores"

    def rows(self) -> QuerySet[Snapshot]:
        rows = self.collection.snapshots.filter(scorings__isnull=False).distinct()
        if wanted := self.request.query_params.get("snapshot"):
            rows = rows.filter(uuid=_uuid(wanted))
        return rows.order_by("-created_at", "-pk")

    @extend_schema(summary="List scores")
    def get(self, request: Request, slug: str) -> Response:
        """Return one entry for each snapshot with scores, newest first."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        metric = request.query_params.get("metric", "")
        return self.get_paginated_response(
            [snapshot_scores(snapshot, request.user, metric=metric) for snapshot in page or ()]
        )

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
        """Compute each mean with an interval; also weighted by traffic and by tier if the sampling design allows it."""
        data = self.read_body(NewScores)
        rows = self.collection.snapshots.select_related("collection")
        (snapshot,) = rows_called(rows, [data["snapshot"]], "snapshot", "snapshot")
        runs = rows_called(self.collection.runs.all(), data["runs"], "runs", "run")
        metrics = scoring.metric_names(data["metrics"])
        how = {"actor": request.user, "metrics": metrics, "level": data["level"], "method": data["method"]}
        if scoring.too_large(runs):
            return started(scoring.score_later(snapshot, runs, **how))
        scoring.score_runs(snapshot, runs, **how)
        body = snapshot_scores(snapshot, request.user, {run.pk for run in runs})
        place = {run.name: at for at, run in enumerate(runs)}
        body["runs"].sort(key=lambda run: place[run["name"]])
        return Response(body, status=201)


def _uuid(text: str) -> uuid_module.UUID:
    try:
        return uuid_module.UUID(text)
    except ValueError:
        raise NotValid("`snapshot` is not a valid id.", {"snapshot": "Send the id of a snapshot."}) from None


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
            raise NotValid(f"No scores exist for {metric}. Metrics with scores: {', '.join(known)}.", "metric")
        run = history.chosen_run(self.collection, request.query_params.get("run", ""))
        points = history.points_for(request.user, self.collection, metric, MOST_SNAPSHOTS)
        body: dict[str, Any] = history.as_json(metric, points, run)
        return Response(snapshots.redacted_for(request.user, self.collection, body))
