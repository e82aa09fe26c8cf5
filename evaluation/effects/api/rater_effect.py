"""API of rater effects: the ranking of the runs without each rater of a round, and by each rater alone."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.effects import rater_effect
from evaluation.effects.round_runs import METRIC
from judgments.web.endpoints import InRound


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
