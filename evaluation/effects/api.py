"""API of effects: estimates from machine grades, effects of judges and raters, and changes between snapshots."""

from __future__ import annotations

import uuid as uuid_module
from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound, NotValid
from evaluation.effects import estimates, judge_effect, rater_effect, snapshot_changes
from evaluation.effects.round_runs import METRIC
from evaluation.effects.views.estimates import half_of
from judgments.machines.calibration import calibration
from judgments.machines.judge_runs import kinship
from judgments.machines.judge_runs.api import OfJudge
from judgments.machines.judge_runs.serializers import KinBody
from judgments.models import Snapshot
from judgments.web.endpoints import InCollection, InRound


class EstimatedRunBody(serializers.Serializer):
    """Estimates for one run by both methods."""

    run = serializers.CharField()
    ppi = serializers.JSONField(help_text="As `assay estimate --method ppi --format json`.")
    stratified = serializers.JSONField(help_text="As `assay estimate --method stratified --format json`.")


class JudgeEstimatesBody(serializers.Serializer):
    """Means with intervals, or the reason why they are missing."""

    metric = serializers.CharField()
    half = serializers.FloatField(help_text="Half-width of the interval that `needed` plans for.")
    queries = serializers.IntegerField(help_text="Queries that the judge labeled.")
    whole = serializers.IntegerField(help_text="Queries whose pairs people have all judged.")
    drawn = serializers.BooleanField(help_text="Whether you stated that these queries were drawn at random.")
    runs = EstimatedRunBody(many=True)
    why = serializers.CharField(help_text="Why there is no mean; empty if there is one.")
    rate = serializers.JSONField(
        allow_null=True, help_text="The share of relevant pairs, estimated from the audit slice."
    )
    rate_why = serializers.CharField(help_text="Why there is no share; empty if there is one.")


class JudgeEstimates(OfJudge):
    """Means of the runs from human and machine labels."""

    serializer_class = JudgeEstimatesBody
    also = ()

    @extend_schema(
        summary="Estimate means from few human and many machine grades",
        parameters=[
            OpenApiParameter("metric", str, description=f"A metric with a plain mean; by default {METRIC}."),
            OpenApiParameter(
                "half", float, description=f"Target half-width of the interval; by default {estimates.HALF}."
            ),
            OpenApiParameter(
                "drawn",
                bool,
                description="True if the queries that people judged completely were drawn at random. Without it no "
                "interval is computed, unless people judged all queries.",
            ),
        ],
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Return prediction-powered and stratified means, with means from human labels alone."""
        if not calibration.has_grades(self.judge):
            raise NotFound("This judge gives no grades, so nothing can be estimated from it.")
        params = request.query_params
        result = estimates.estimates_of(
            self.judge,
            self.round,
            request.user,
            metric=params.get("metric") or METRIC,
            half=half_of(params.get("half", "")),
            drawn=params.get("drawn", "").casefold() in ("true", "1", "yes"),
        )
        return Response(result.as_json())


class JudgeEffectBody(serializers.Serializer):
    """Each run under human labels and under the judge's labels."""

    metric = serializers.CharField()
    tau = serializers.FloatField(allow_null=True, help_text="Kendall’s tau-b of the two rankings of the runs.")
    why = serializers.CharField(help_text="Why there is no result; empty if there is one.")
    kin = KinBody(many=True, help_text="Runs of the same model family as one of the judge’s models.")
    effect = serializers.JSONField(allow_null=True, help_text="The format of `assay calibrate --runs --format json`.")


class JudgeEffect(OfJudge):
    """The effect of a judge on a metric."""

    serializer_class = JudgeEffectBody
    also = ()

    @extend_schema(
        summary="Get a judge's effect on a metric",
        parameters=[OpenApiParameter("metric", str, description=f"A metric with a plain mean; by default {METRIC}.")],
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Compare over the pairs that both people and the judge graded, without pairs that you may still grade."""
        metric = request.query_params.get("metric") or METRIC
        effect = judge_effect.effect(self.judge, self.round, request.user, metric=metric)
        return Response(
            {
                "metric": effect.metric,
                "tau": effect.tau,
                "why": effect.why,
                "kin": [asdict(one) for one in kinship.kin_in(self.round.collection, *self._models())],
                "effect": None if effect.biases is None else effect.biases.as_json(),
            }
        )

    def _models(self) -> list[str]:
        """Return the models that were called and the model names that they reported."""
        return [*kinship.models_of(self.judge), *calibration.money(self.judge, self.round).models]


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

    @extend_schema(
        summary="Get the effect of each rater on the ranking",
        parameters=[
            OpenApiParameter("metric", str, description=f"A metric with a plain mean; by default {METRIC}."),
            OpenApiParameter("rule", str, description="A label rule; by default median."),
        ],
        responses=RaterEffectsBody,
    )
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Not allowed while you may still grade pairs of the round, because the result would reveal other raters'
        grades."""
        params: dict[str, Any] = request.query_params
        rater_effect.check_reader(self.round, request.user)
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
    """All runs under both snapshots, each over the queries that the snapshot labels."""

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
    left_out = serializers.CharField(help_text="Why there is no leaderboard.")


class CompareSnapshots(InCollection):
    """Two snapshots compared, with the runs under both."""

    serializer_class = SnapshotComparisonBody
    tag = "snapshots"

    @extend_schema(
        summary="Compare snapshots",
        parameters=[
            OpenApiParameter("a", uuid_module.UUID, description="The first snapshot; by default the second newest."),
            OpenApiParameter("b", uuid_module.UUID, description="The second snapshot; by default the newest."),
            OpenApiParameter("metric", str, description=f"A metric with a plain mean; by default {METRIC}."),
        ],
        responses=SnapshotComparisonBody,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Not allowed while the labels of either snapshot would reveal grades of pairs that you may still grade."""
        known = list(self.collection.snapshots.all())
        a, b = self._named(known, request, "a", 1), self._named(known, request, "b", 0)
        metric = request.query_params.get("metric") or METRIC
        return Response(snapshot_changes.compare(a, b, metric=metric, reader=request.user).as_json(a, b))

    def _named(self, known: list[Snapshot], request: Request, side: str, place: int) -> Snapshot:
        uuid = request.query_params.get(side, "")
        matches = known[place : place + 1] if not uuid else [one for one in known if str(one.uuid) == uuid]
        if not matches:
            message = "This collection has no such snapshot." if uuid else "A comparison needs two snapshots."
            raise NotValid(message, {side: message})
        return matches[0]
