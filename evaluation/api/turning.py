"""API of decision-critical pairs: the fewest judgments that could reverse a comparison of two runs."""

from __future__ import annotations

import uuid as uuid_module

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation import freshness
from evaluation import turning as turnings
from evaluation.api.compare import comparable, pair_named
from evaluation.api.scores import FreshnessSaid
from judgments.api.endpoint import InCollection
from pooling.effort import pace


class TurningPairBody(serializers.Serializer):
    """A pair that could help; grade and ranks are null while the caller may still have to grade it."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    grade = serializers.FloatField(allow_null=True, help_text="The grade that it would have to get.")
    rank_a = serializers.IntegerField(allow_null=True)
    rank_b = serializers.IntegerField(allow_null=True)
    state = serializers.ChoiceField([turnings.OPEN, turnings.GRADED, turnings.YOURS])


class TurningBody(serializers.Serializer):
    """What it takes to turn the decision."""

    metric = serializers.CharField()
    a = serializers.CharField()
    b = serializers.CharField()
    difference = serializers.FloatField(help_text="The mean of b less that of a, each query once.")
    winner = serializers.CharField(allow_null=True)
    turns = serializers.BooleanField(allow_null=True, help_text="null: not known, or the runs are level.")
    exact = serializers.BooleanField(help_text="Whether no fewer pairs can turn it.")
    at_least = serializers.IntegerField(allow_null=True)
    difference_after = serializers.FloatField(allow_null=True)
    most = serializers.FloatField(help_text="How far all unjudged pairs together could move the difference.")
    unjudged = serializers.IntegerField()
    queries = serializers.IntegerField()
    reason = serializers.CharField(allow_null=True)
    number = serializers.IntegerField()
    hours = serializers.FloatField()
    seconds = serializers.FloatField(help_text="Of a rater for one judgment: the collection’s own pace.")
    sentence = serializers.CharField()
    pairs = TurningPairBody(many=True)
    freshness = FreshnessSaid()


class Turning(InCollection):
    """The fewest unjudged pairs that could put the other run ahead."""

    serializer_class = TurningBody
    tag = "scores"

    @extend_schema(
        summary="What would turn a decision",
        parameters=[
            OpenApiParameter("a", str, description="The baseline, by id or name; the first run where none is named."),
            OpenApiParameter("b", str, description="The candidate, by id or name."),
            OpenApiParameter("metric", str, description="One that they were scored with; the first one when left out."),
            OpenApiParameter("snapshot", uuid_module.UUID, description="The newest that was scored on when left out."),
        ],
        responses=TurningBody,
        examples=[OpenApiExample("Twelve pairs", {"winner": "bm25", "turns": True, "number": 12, "exact": True})],
    )
    def get(self, request: Request, slug: str) -> Response:
        """As `assay compare --turning` says it of the exported labels. To judge the pairs, post them as a pool."""
        asked = request.query_params
        metric, having, withheld = comparable(self.collection, request)
        a, b = pair_named(having, asked.get("a", ""), asked.get("b", ""))
        told = turnings.turn(a, b, metric, withheld=withheld)
        pairs = turnings.told_to(request.user, self.collection, told)
        said = {"freshness": freshness.look(a.snapshot).as_json()}
        return Response(turnings.as_json(told, pairs, pace(self.collection)) | said)
