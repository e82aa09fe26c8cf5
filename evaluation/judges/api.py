"""API of a judge's page: estimates from its grades, and its effect on a metric."""

from __future__ import annotations

from dataclasses import asdict

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.response import Response

from assay.core.errors import NotFound
from evaluation.effects.round_runs import METRIC
from evaluation.judges import estimates, judge_effect
from evaluation.judges.views.estimates import half_of
from judgments.machines.calibration import calibration, cost
from judgments.machines.judge_runs import judge_settings
from judgments.machines.judge_runs.api import OfJudge
from judgments.machines.judge_runs.serializers import KinBody
from judgments.web.endpoints import call


class EstimatedRunBody(serializers.Serializer):
    """Estimates for one run by both methods."""

    run = serializers.CharField()
    ppi = serializers.JSONField(help_text="The format of `assay estimate --method ppi --format json`.")
    stratified = serializers.JSONField(help_text="The format of `assay estimate --method stratified --format json`.")


class JudgeEstimatesBody(serializers.Serializer):
    """Means with intervals, or the reason that they are missing."""

    metric = serializers.CharField()
    half = serializers.FloatField(help_text="Half-width of the interval that `needed` plans for.")
    queries = serializers.IntegerField(help_text="Number of queries that the judge labeled.")
    whole = serializers.IntegerField(help_text="Number of queries of which people have judged all pairs.")
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

    @call(
        "Estimate means from few human and many machine grades",
        JudgeEstimatesBody,
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
    def get(self) -> Response:
        """Return prediction-powered and stratified means, with means from human labels alone."""
        if not calibration.has_grades(self.judge):
            raise NotFound("This judge gives no grades, so nothing can be estimated from it.")
        params = self.request.query_params
        result = estimates.estimates_of(
            self.judge,
            self.round,
            self.user,
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

    @call(
        "Get a judge's effect on a metric",
        JudgeEffectBody,
        parameters=[OpenApiParameter("metric", str, description=f"A metric with a plain mean; by default {METRIC}.")],
    )
    def get(self) -> Response:
        """Use the pairs that both people and the judge graded, without pairs that you may still grade."""
        metric = self.request.query_params.get("metric") or METRIC
        effect = judge_effect.effect(self.judge, self.round, self.user, metric=metric)
        # The models that were called, and the model names that they reported.
        models = [*judge_settings.models_of(self.judge), *cost.money(self.judge, self.round).models]
        return Response(
            {
                "metric": effect.metric,
                "tau": effect.tau,
                "why": effect.why,
                "kin": [asdict(one) for one in judge_settings.kin_in(self.round.collection, *models)],
                "effect": None if effect.biases is None else effect.biases.as_json(),
            }
        )
