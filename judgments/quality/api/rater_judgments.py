"""API endpoint for the judgments of one rater in a round."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments.models import Judgment
from judgments.quality import rater_judgments
from judgments.quality.api.quality import OfRater
from judgments.rounds.serializers import DocumentOfPair, QueryOfPair


class AnswerOfRater(serializers.Serializer):
    """One current judgment of the rater, with the others' grades of the pair."""

    pair = serializers.UUIDField(source="pair.uuid")
    query = QueryOfPair(source="pair.query")
    document = DocumentOfPair(source="pair.document")
    state = serializers.CharField(help_text="`graded` or `unrateable`.")
    grade = serializers.IntegerField(allow_null=True)
    others = serializers.SerializerMethodField(help_text="Pseudonym to grade; null if they marked the pair unrateable.")
    again = serializers.IntegerField(allow_null=True, help_text="The rater's grade of the repeat.")
    seconds = serializers.FloatField(source="seconds_active", allow_null=True)
    characters = serializers.IntegerField(help_text="Length of the document's title and text.")
    reason = serializers.CharField(help_text="The reason for `unrateable`.")
    note = serializers.CharField()
    surplus = serializers.BooleanField(
        help_text="Whether the pair already had all its ratings, so that this judgment is stored but not counted."
    )
    created_at = serializers.DateTimeField()

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField(allow_null=True)))
    def get_others(self, row: Any) -> dict[str, int | None]:
        return rater_judgments.grades_of_others(row)


class AnswersOfRater(ListModelMixin, OfRater):
    """The judgments of one rater of a round."""

    queryset = Judgment.objects.none()
    serializer_class = AnswerOfRater
    also = ()

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return self.queryset
        round_rater = self.get_round_rater()
        rows = rater_judgments.answers_of(round_rater, reader=self.request.user)
        return rater_judgments.beside_others(rows, round_rater).order_by("-pk")

    @extend_schema(summary="List the judgments of a rater")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """This list is for leads, newest first. Pairs that the caller may still grade are left out."""
        return self.list(request, *args, **kwargs)
