"""API of the effect that a machine judge's labels would have on a metric."""

from __future__ import annotations

import uuid as uuid_module
from dataclasses import asdict

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.effects import judge_effect
from evaluation.effects.round_runs import METRIC
from judgments.machines.calibration import calibration
from judgments.machines.judge_runs import kinship
from judgments.machines.judge_runs.api.judges import OfJudge
from judgments.machines.judge_runs.api.serializers import KinBody


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
