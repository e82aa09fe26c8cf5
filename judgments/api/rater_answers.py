"""API endpoint for the judgments of one rater in a round."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import rater_answers
from judgments.api.conflicts import DocumentOfPair, QueryOfPair
from judgments.api.quality import OfRater
from judgments.models import Judgment


class AnswerOfRater(serializers.Serializer):
    """One standing judgment of the rater, beside the others' of the same pair."""

    pair = serializers.UUIDField(source="pair.uuid")
    query = QueryOfPair(source="pair.query")
    document = DocumentOfPair(source="pair.document")
    state = serializers.CharField(help_text="graded or unrateable.")
    grade = serializers.IntegerField(allow_null=True)
    others = serializers.SerializerMethodField(help_text="Pseudonym to grade; null where they could not judge it.")
    again = serializers.IntegerField(allow_null=True, help_text="Their grade when it was shown to them again.")
    seconds = serializers.FloatField(source="seconds_active", allow_null=True)
    characters = serializers.IntegerField(help_text="How long title and text of the document are.")
    reason = serializers.CharField(help_text="Why they could not judge it.")
    note = serializers.CharField()
    surplus = serializers.BooleanField(help_text="The pair had all its ratings: kept, not counted.")
    created_at = serializers.DateTimeField()

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField(allow_null=True)))
    def get_others(self, row: Any) -> dict[str, int | None]:
        return rater_answers.said_of(row)


class AnswersOfRater(ListModelMixin, OfRater):
    """The judgments of one rater of a round."""

    queryset = Judgment.objects.none()
    serializer_class = AnswerOfRater
    also = ()

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return self.queryset
        asked = self.asked()
        rows = rater_answers.answers_of(asked, reader=self.request.user)
        return rater_answers.beside_others(rows, asked).order_by("-pk")

    @extend_schema(summary="What one rater graded")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """For leads, the newest first. Pairs that the caller may still grade are left out."""
        return self.list(request, *args, **kwargs)
