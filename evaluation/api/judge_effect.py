"""API of the effect that a machine judge's labels would have on a metric."""

from __future__ import annotations

import uuid as uuid_module
from dataclasses import asdict

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation import calibration
from evaluation.round_runs import METRIC
from judgments import judged, kinship
from judgments.api.judge_bodies import KinBody
from judgments.api.judges import OfJudge


class JudgeEffectBody(serializers.Serializer):
    """Each run under people's labels and under the judge's."""

    metric = serializers.CharField()
    tau = serializers.FloatField(allow_null=True, help_text="Kendall’s tau-b of the two orders of the runs.")
    why = serializers.CharField(help_text="Why there is nothing to tell; empty where there is.")
    kin = KinBody(many=True, help_text="Runs of the family of one of the judge’s models.")
    effect = serializers.JSONField(allow_null=True, help_text="As `assay calibrate --runs --format json`.")


class JudgeEffect(OfJudge):
    """The effect of a judge on a metric."""

    serializer_class = JudgeEffectBody
    also = ()

    @extend_schema(
        summary="What a machine judge does to a metric",
        parameters=[OpenApiParameter("metric", str, description=f"One with a plain mean; {METRIC} when left out.")],
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """On the pairs that people and the judge both graded, less those that you may still grade."""
        metric = request.query_params.get("metric") or METRIC
        found = calibration.effect(self.judge, self.round, request.user, metric=metric)
        return Response(
            {
                "metric": found.metric,
                "tau": found.tau,
                "why": found.why,
                "kin": [asdict(one) for one in kinship.kin_in(self.round.collection, *self._models())],
                "effect": None if found.found is None else found.found.as_json(),
            }
        )

    def _models(self) -> list[str]:
        """Those that were asked, and the names under which they answered."""
        return [*kinship.models_of(self.judge), *judged.money(self.judge, self.round).models]
