"""API of decision-critical pairs: the fewest judgments that could reverse a comparison of two runs."""

from __future__ import annotations

import uuid as uuid_module

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.comparison import decision_critical
from evaluation.comparison.api.runs import comparable, pair_named
from evaluation.freshness import freshness
from evaluation.scoring.api.scores import FreshnessSaid
from judgments.web.endpoints import InCollection
from pooling.pools.effort import pace


class TurningPairBody(serializers.Serializer):
    """An unjudged pair that could help reverse the comparison. Grade and ranks are null while the caller may still
    grade it."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    grade = serializers.FloatField(allow_null=True, help_text="The grade that would help to reverse the comparison.")
    rank_a = serializers.IntegerField(allow_null=True)
    rank_b = serializers.IntegerField(allow_null=True)
    state = serializers.ChoiceField([decision_critical.OPEN, decision_critical.GRADED, decision_critical.YOURS])


class TurningBody(serializers.Serializer):
    """The judgments that could reverse the comparison."""

    metric = serializers.CharField()
    a = serializers.CharField()
    b = serializers.CharField()
    difference = serializers.FloatField(help_text="Mean of b minus mean of a; each query counts once.")
    winner = serializers.CharField(allow_null=True)
    turns = serializers.BooleanField(allow_null=True, help_text="null: unknown, or the means are equal.")
    exact = serializers.BooleanField(help_text="Whether no smaller set of pairs could reverse it.")
    at_least = serializers.IntegerField(allow_null=True)
    difference_after = serializers.FloatField(allow_null=True)
    most = serializers.FloatField(help_text="The largest possible change of the difference from unjudged pairs.")
    unjudged = serializers.IntegerField()
    queries = serializers.IntegerField()
    reason = serializers.CharField(allow_null=True)
    number = serializers.IntegerField()
    hours = serializers.FloatField()
    seconds = serializers.FloatField(help_text="Seconds per judgment at the collection’s own pace.")
    sentence = serializers.CharField()
    pairs = TurningPairBody(many=True)
    freshness = FreshnessSaid()


class Turning(InCollection):
    """The fewest unjudged pairs that could reverse the comparison."""

    serializer_class = TurningBody
    tag = "scores"

    @extend_schema(
        summary="List decision-critical pairs",
        parameters=[
            OpenApiParameter("a", str, description="The baseline, by id or name; by default the first run."),
            OpenApiParameter("b", str, description="The candidate, by id or name; by default the second run."),
            OpenApiParameter(
                "metric", str, description="A metric that both runs have scores for; by default the first."
            ),
            OpenApiParameter(
                "snapshot", uuid_module.UUID, description="The snapshot; by default the newest one with scores."
            ),
        ],
        responses=TurningBody,
        examples=[OpenApiExample("Twelve pairs", {"winner": "bm25", "turns": True, "number": 12, "exact": True})],
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the report of `assay compare --turning` for the exported labels."""
        params = request.query_params
        metric, having, withheld = comparable(self.collection, request)
        a, b = pair_named(having, params.get("a", ""), params.get("b", ""))
        result = decision_critical.turn(a, b, metric, withheld=withheld)
        pairs = decision_critical.visible_pairs(request.user, self.collection, result)
        freshness_data = {"freshness": freshness.look(a.snapshot).as_json()}
        return Response(decision_critical.as_json(result, pairs, pace(self.collection)) | freshness_data)
