"""API endpoints to list, add and remove gold pairs of a round, and to read its raters' qualification."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound
from judgments.labels import grade_visibility
from judgments.models import GoldPair
from judgments.quality import gold_files, gold_pairs, qualification
from judgments.web import access
from judgments.web.endpoints import InRound


class GoldBody(serializers.Serializer):
    """A gold pair."""

    id = serializers.UUIDField(source="uuid")
    query_id = serializers.CharField(source="query.query_id")
    doc_id = serializers.CharField(source="document.doc_id")
    use = serializers.ChoiceField(choices=GoldPair.Use.choices)
    grade = serializers.SerializerMethodField()
    explanation = serializers.SerializerMethodField()

    def get_grade(self, row: GoldPair) -> int | None:
        """Null while the caller may still grade the pair."""
        return None if self._hidden(row) else row.grade

    def get_explanation(self, row: GoldPair) -> str:
        return "" if self._hidden(row) else row.explanation

    def _hidden(self, row: GoldPair) -> bool:
        hidden: set[gold_pairs.Key] = self.context.get("hidden", set())
        return (row.query.query_id, row.document.doc_id) in hidden


class KnownSent(serializers.Serializer):
    """A pair to add as a gold pair."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    grade = serializers.IntegerField(min_value=0, max_value=100)
    explanation = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=gold_pairs.LONGEST_EXPLANATION
    )


class GoldSent(serializers.Serializer):
    """Gold pairs with grades: all of them are added, or none."""

    use = serializers.ChoiceField(choices=GoldPair.Use.choices)
    pairs = KnownSent(many=True)


class Added(serializers.Serializer):
    """The number of added gold pairs."""

    added = serializers.IntegerField()


class CalibrationBody(serializers.Serializer):
    """A rater's qualification."""

    rater = serializers.CharField()
    attempts = serializers.IntegerField()
    answered = serializers.IntegerField(help_text="Number of answers in the last attempt.")
    share = serializers.FloatField(allow_null=True, help_text="Share of correct answers in the last completed attempt.")
    passed = serializers.BooleanField()


class Gold(ListModelMixin, InRound):
    """The gold pairs of a round."""

    reads = access.LEADS
    queryset = GoldPair.objects.none()
    serializer_class = GoldBody
    also = (409,)
    tag = "rounds"

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return self.queryset
        return self.round.gold.select_related("query", "document").order_by("use", "position")

    def get_serializer_context(self) -> dict[str, Any]:
        if getattr(self, "swagger_fake_view", False):
            return {}
        return {"hidden": grade_visibility.hidden_keys(self.request.user, self.round.collection)}

    @extend_schema(summary="List gold pairs")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """This list is for leads. Raters never learn which of their pairs are gold pairs."""
        return self.list(request)

    @extend_schema(
        summary="Add gold pairs",
        request=GoldSent,
        responses={201: Added},
        examples=[
            OpenApiExample(
                "For qualification",
                {"use": "calibration", "pairs": [{"query_id": "q1", "doc_id": "d7", "grade": 2, "explanation": "..."}]},
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """All pairs are added, or none; errors name the item by its number. Pairs of the round itself are refused."""
        body = self.read_body(GoldSent)
        known = gold_files.from_rows(self.round.collection, list(enumerate(body["pairs"], 1)), field="pairs")
        made = gold_pairs.add(self.round, known, use=body["use"], actor=request.user)
        return self.respond(Added, {"added": len(made)}, 201)


class OneGold(InRound):
    """One gold pair."""

    serializer_class = GoldBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Remove a gold pair", responses={204: None})
    def delete(self, request: Request, uuid: uuid_module.UUID, gold_pair: uuid_module.UUID) -> Response:
        """The status is 409 if a rater has already seen the pair."""
        row = self.round.gold.filter(uuid=gold_pair).first()
        if row is None:
            raise NotFound("The round has no such gold pair.")
        gold_pairs.remove(row, actor=request.user)
        return Response(status=204)


class Calibration(ListModelMixin, InRound):
    """The qualification of the raters of a round."""

    reads = access.LEADS
    queryset = GoldPair.objects.none()
    serializer_class = CalibrationBody
    tag = "rounds"

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return self.queryset
        rows = qualification.results(self.round)
        names = ("attempts", "answered", "share", "passed")
        return [{"rater": row.assignment.pseudonym, **{name: getattr(row, name) for name in names}} for row in rows]

    @extend_schema(summary="Get the qualification of raters")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        return self.list(request)
