"""API of rater effects: the ranking of the runs without each rater of a round, and by each rater alone."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation import rater_effect
from evaluation.round_runs import METRIC
from judgments.api.endpoint import InRound


class RankingBody(serializers.Serializer):
    """The order of the runs under other labels, beside the order under everybody’s labels on the same queries."""

    tau = serializers.FloatField(allow_null=True, help_text="Kendall’s tau-b of the two orders; null with a reason.")
    moved = serializers.IntegerField(help_text="The largest change of any run’s rank.")
    run = serializers.CharField(help_text="The run that moves most.")
    rank_before = serializers.IntegerField()
    rank_after = serializers.IntegerField()
    change = serializers.FloatField(allow_null=True, help_text="How far the runs’ means lie from what they were.")
    queries = serializers.IntegerField()
    reason = serializers.CharField()


class RaterEffectBody(serializers.Serializer):
    """One rater, by pseudonym."""

    rater = serializers.CharField()
    pairs = serializers.IntegerField()
    without = RankingBody()
    alone = RankingBody()


class RaterEffectsBody(serializers.Serializer):
    """All raters of a round."""

    metric = serializers.CharField()
    rule = serializers.CharField()
    runs = serializers.ListField(child=serializers.CharField())
    raters = RaterEffectBody(many=True)
    newer = serializers.IntegerField(help_text="Answers, and changes of answers, that came since this was counted.")


class RaterEffects(InRound):
    """The ranking of the systems without each rater, and by each rater alone."""

    serializer_class = RaterEffectsBody
    tag = "rounds"

    @extend_schema(
        summary="What hangs on each rater",
        parameters=[
            OpenApiParameter("metric", str, description=f"One with a plain mean; {METRIC} when left out."),
            OpenApiParameter("rule", str, description="A label rule; median when left out."),
        ],
        responses=RaterEffectsBody,
    )
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Refused while you may still be asked to grade pairs of the round: it would tell what others gave.

        Of a large round a job counts it: 409 until it has.
        """
        asked: dict[str, Any] = request.query_params
        rater_effect.check_reader(self.round, request.user)
        metric, rule = asked.get("metric") or METRIC, asked.get("rule") or "median"
        return Response(rater_effect.look(self.round, metric=metric, rule=rule).as_json())
