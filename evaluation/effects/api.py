"""API of effects: those of each rater, and changes between snapshots."""

from __future__ import annotations

import uuid as uuid_module

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.response import Response

from assay.core.errors import NotValid
from evaluation.effects import rater_effect, snapshot_changes
from evaluation.effects.round_runs import METRIC
from judgments.models import Snapshot
from judgments.web.endpoints import InCollection, InRound, call


class RankingBody(serializers.Serializer):
    """Ranking of the runs under other labels, compared with all raters' labels on the same queries."""

    tau = serializers.FloatField(allow_null=True, help_text="Kendall’s tau-b of the two rankings; null with a reason.")
    moved = serializers.IntegerField(help_text="The largest change of any run’s rank.")
    run = serializers.CharField(help_text="The run whose rank changes most.")
    rank_before = serializers.IntegerField()
    rank_after = serializers.IntegerField()
    change = serializers.FloatField(allow_null=True, help_text="The largest change of a run’s mean.")
    queries = serializers.IntegerField()
    reason = serializers.CharField()


class RaterEffectBody(serializers.Serializer):
    """The effect of one rater, by pseudonym."""

    rater = serializers.CharField()
    pairs = serializers.IntegerField()
    without = RankingBody()
    alone = RankingBody()


class RaterEffectsBody(serializers.Serializer):
    """The effects of all raters of a round."""

    metric = serializers.CharField()
    rule = serializers.CharField()
    runs = serializers.ListField(child=serializers.CharField())
    raters = RaterEffectBody(many=True)
    newer = serializers.IntegerField(help_text="Judgments added or changed since this was computed.")


class RaterEffects(InRound):
    """The ranking of the runs without each rater, and by each rater alone."""

    serializer_class = RaterEffectsBody
    tag = "rounds"

    @call(
        "Get the effect of each rater on the ranking",
        RaterEffectsBody,
        parameters=[
            OpenApiParameter("metric", str, description=f"A metric with a plain mean; by default {METRIC}."),
            OpenApiParameter("rule", str, description="A label rule; by default median."),
        ],
    )
    def get(self) -> Response:
        """Not allowed while you may still grade pairs of the round, because the result would reveal other raters'
        grades."""
        params = self.request.query_params
        rater_effect.check_reader(self.round, self.user)
        metric, rule = params.get("metric") or METRIC, params.get("rule") or "median"
        return Response(rater_effect.look(self.round, metric=metric, rule=rule).as_json())


class LabelCounts(serializers.Serializer):
    """Pairs by the change of their label."""

    same = serializers.IntegerField()
    changed = serializers.IntegerField()
    added = serializers.IntegerField(help_text="Labeled only in b.")
    gone = serializers.IntegerField(help_text="Labeled only in a.")


class ConfusionCell(serializers.Serializer):
    """Number of pairs with one label in a and another in b; null means no label."""

    old = serializers.FloatField(allow_null=True)
    new = serializers.FloatField(allow_null=True)
    pairs = serializers.IntegerField()


class StandingBody(serializers.Serializer):
    """One run under both snapshots."""

    run = serializers.CharField()
    before = serializers.FloatField()
    after = serializers.FloatField()
    rank_before = serializers.IntegerField()
    rank_after = serializers.IntegerField()
    difference = serializers.FloatField()


class BoardsBody(serializers.Serializer):
    """All runs under both snapshots, each mean over the queries with labels in that snapshot."""

    runs = StandingBody(many=True)
    tau = serializers.FloatField(allow_null=True, help_text="Kendall’s tau-b of the two rankings; null with a reason.")
    reason = serializers.CharField()


class SnapshotComparisonBody(serializers.Serializer):
    """A second snapshot compared with a first snapshot."""

    a = serializers.UUIDField()
    b = serializers.UUIDField()
    same_content = serializers.BooleanField()
    metric = serializers.CharField()
    labels = LabelCounts()
    queries_added = serializers.ListField(child=serializers.CharField())
    queries_gone = serializers.ListField(child=serializers.CharField())
    confusion = ConfusionCell(many=True)
    agreement = serializers.DictField(
        allow_null=True, help_text="Alpha and kappa of the labels of pairs in both snapshots."
    )
    leaderboard = BoardsBody(allow_null=True)
    left_out = serializers.CharField(help_text="Why there is no ranking; empty if there is one.")


class CompareSnapshots(InCollection):
    """Two snapshots compared, with the runs under both."""

    serializer_class = SnapshotComparisonBody
    tag = "snapshots"

    @call(
        "Compare snapshots",
        SnapshotComparisonBody,
        parameters=[
            OpenApiParameter("a", uuid_module.UUID, description="The first snapshot; by default the second newest."),
            OpenApiParameter("b", uuid_module.UUID, description="The second snapshot; by default the newest."),
            OpenApiParameter("metric", str, description=f"A metric with a plain mean; by default {METRIC}."),
        ],
    )
    def get(self) -> Response:
        """Not allowed while the labels of either snapshot would reveal grades of pairs that you may still grade."""
        known = list(self.collection.snapshots.all())
        a, b = self._named(known, "a", 1), self._named(known, "b", 0)
        metric = self.request.query_params.get("metric") or METRIC
        return Response(snapshot_changes.compare(a, b, metric=metric, reader=self.user).as_json(a, b))

    def _named(self, known: list[Snapshot], side: str, place: int) -> Snapshot:
        uuid = self.request.query_params.get(side, "")
        matches = known[place : place + 1] if not uuid else [one for one in known if str(one.uuid) == uuid]
        if not matches:
            message = "This collection has no such snapshot." if uuid else "A comparison needs two snapshots."
            raise NotValid(message, side)
        return matches[0]
