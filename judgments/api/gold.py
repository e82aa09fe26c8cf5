"""API endpoints to list, add and remove gold pairs of a round, and to read its raters' qualification."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, calibration, gold, gold_files
from judgments.api.endpoint import InRound
from judgments.core.errors import NotFound
from judgments.models import GoldPair


class GoldBody(serializers.Serializer):
    """A pair of known grade."""

    id = serializers.UUIDField(source="uuid")
    query_id = serializers.CharField(source="query.query_id")
    doc_id = serializers.CharField(source="document.doc_id")
    use = serializers.ChoiceField(choices=GoldPair.Use.choices)
    grade = serializers.SerializerMethodField()
    explanation = serializers.SerializerMethodField()

    def get_grade(self, row: GoldPair) -> int | None:
        """Null where the caller may still have to grade the pair."""
        return None if self._hidden(row) else row.grade

    def get_explanation(self, row: GoldPair) -> str:
        return "" if self._hidden(row) else row.explanation

    def _hidden(self, row: GoldPair) -> bool:
        hidden: set[gold.Key] = self.context.get("hidden", set())
        return (row.query.query_id, row.document.doc_id) in hidden


class KnownSent(serializers.Serializer):
    """One pair."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    grade = serializers.IntegerField(min_value=0, max_value=100)
    explanation = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=gold.LONGEST_EXPLANATION
    )


class GoldSent(serializers.Serializer):
    """Pairs with their grades: all of them are added, or none."""

    use = serializers.ChoiceField(choices=GoldPair.Use.choices)
    pairs = KnownSent(many=True)


class Added(serializers.Serializer):
    """How many were added."""

    added = serializers.IntegerField()


class CalibrationBody(serializers.Serializer):
    """How far a rater is with the calibration."""

    rater = serializers.CharField()
    attempts = serializers.IntegerField()
    answered = serializers.IntegerField(help_text="Of the last sitting.")
    share = serializers.FloatField(allow_null=True, help_text="Right, of the last sitting that came to its end.")
    passed = serializers.BooleanField()


class Gold(ListModelMixin, InRound):
    """The pairs of known grade."""

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
        return {"hidden": gold.hidden_from(self.request.user, self.round.collection)}

    @extend_schema(summary="The pairs of known grade")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """For leads: raters never learn which of their pairs are among them."""
        return self.list(request)

    @extend_schema(
        summary="Add pairs of known grade",
        request=GoldSent,
        responses={201: Added},
        examples=[
            OpenApiExample(
                "To calibrate by",
                {"use": "calibration", "pairs": [{"query_id": "q1", "doc_id": "d7", "grade": 2, "explanation": "..."}]},
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """All or none: what cannot be added is told by its number. Pairs of the round itself are refused."""
        sent = self.sent(GoldSent)
        known = gold_files.from_rows(self.round.collection, list(enumerate(sent["pairs"], 1)), field="pairs")
        made = gold.add(self.round, known, use=sent["use"], actor=request.user)
        return self.told(Added, {"added": len(made)}, 201)


class OneGold(InRound):
    """One of them."""

    serializer_class = GoldBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Take a pair of known grade out", responses={204: None})
    def delete(self, request: Request, uuid: uuid_module.UUID, gold_pair: uuid_module.UUID) -> Response:
        """409 once a rater was shown it."""
        row = self.round.gold.filter(uuid=gold_pair).first()
        if row is None:
            raise NotFound("The round has no such pair of known grade.")
        gold.remove(row, actor=request.user)
        return Response(status=204)


class Calibration(ListModelMixin, InRound):
    """Who has calibrated."""

    reads = access.LEADS
    queryset = GoldPair.objects.none()
    serializer_class = CalibrationBody
    tag = "rounds"

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return self.queryset
        rows = calibration.results(self.round)
        names = ("attempts", "answered", "share", "passed")
        return [{"rater": row.asked.pseudonym, **{name: getattr(row, name) for name in names}} for row in rows]

    @extend_schema(summary="How far raters are with the calibration")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        return self.list(request)
