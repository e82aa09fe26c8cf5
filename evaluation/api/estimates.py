"""API of mean estimates for runs from a judge's many grades and people's few."""

from __future__ import annotations

import uuid as uuid_module

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation import estimates
from evaluation.round_runs import METRIC
from evaluation.views.estimates import half_of
from judgments import judged
from judgments.api.judges import OfJudge
from judgments.core.errors import NotFound


class EstimatedRunBody(serializers.Serializer):
    """One run by either method."""

    run = serializers.CharField()
    ppi = serializers.JSONField(help_text="As `assay estimate --method ppi --format json`.")
    stratified = serializers.JSONField(help_text="As `assay estimate --method stratified --format json`.")


class JudgeEstimatesBody(serializers.Serializer):
    """Means with intervals, or why there are none."""

    metric = serializers.CharField()
    half = serializers.FloatField(help_text="Half of the interval that `needed` plans for.")
    queries = serializers.IntegerField(help_text="That the judge labelled.")
    whole = serializers.IntegerField(help_text="Of which people have judged every pair of the round.")
    drawn = serializers.BooleanField(help_text="Whether you said that these were drawn at random.")
    runs = EstimatedRunBody(many=True)
    why = serializers.CharField(help_text="Why there is no mean; empty where there is.")
    rate = serializers.JSONField(allow_null=True, help_text="The share of relevant pairs, by the audit slice.")
    rate_why = serializers.CharField(help_text="Why there is none; empty where there is.")


class JudgeEstimates(OfJudge):
    """Means of the runs from a judge's labels and people's."""

    serializer_class = JudgeEstimatesBody
    also = ()

    @extend_schema(
        summary="Means by few human and many machine grades",
        parameters=[
            OpenApiParameter("metric", str, description=f"One with a plain mean; {METRIC} when left out."),
            OpenApiParameter("half", float, description=f"What planning aims at; {estimates.HALF} when left out."),
            OpenApiParameter(
                "drawn",
                bool,
                description="Say true where the queries that people judged whole were drawn at random. Without it "
                "there is no interval, unless people judged all.",
            ),
        ],
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Prediction-powered and stratified, beside people alone. Who may still grade here is told nothing."""
        if not judged.has_grades(self.judge):
            raise NotFound("This judge gives no grades, so there is nothing to estimate from.")
        asked = request.query_params
        found = estimates.estimates_of(
            self.judge,
            self.round,
            request.user,
            metric=asked.get("metric") or METRIC,
            half=half_of(asked.get("half", "")),
            drawn=asked.get("drawn", "").casefold() in ("true", "1", "yes"),
        )
        return Response(found.as_json())
