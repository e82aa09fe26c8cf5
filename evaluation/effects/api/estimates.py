"""API of mean estimates for runs from many machine grades and few human grades."""

from __future__ import annotations

import uuid as uuid_module

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound
from evaluation.effects import estimates
from evaluation.effects.round_runs import METRIC
from evaluation.effects.views.estimates import half_of
from judgments.machines.calibration import calibration
from judgments.machines.judge_runs.api.judges import OfJudge


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
