"""API endpoint for a rater's resolved pairs of a closed round, with the reasons."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access
from judgments.api.endpoint import InRound
from judgments.api.rating_bodies import DocumentNamed, QueryNamed
from judgments.models import Pair
from judgments.settled_pairs import settled_for


class SettledBody(serializers.Serializer):
    """A pair that the caller answered and a lead settled."""

    pair = serializers.UUIDField(source="uuid")
    query = QueryNamed()
    document = DocumentNamed()
    given = serializers.SerializerMethodField(help_text="The caller's own grade; null where they could not judge it.")
    settled = serializers.SerializerMethodField(help_text="The grade that stands.")
    reason = serializers.SerializerMethodField(help_text="Why, in the lead's words.")

    def get_given(self, pair: Any) -> int | None:
        return pair.mine[0].grade if pair.mine else None

    def get_settled(self, pair: Any) -> int:
        return int(pair.settlements[0].grade)

    def get_reason(self, pair: Any) -> str:
        return str(pair.settlements[0].reason)


class Settled(ListModelMixin, InRound):
    """The caller's settled pairs of a closed round."""

    reads = access.RATERS
    scope = "rate"
    queryset = Pair.objects.none()
    serializer_class = SettledBody
    tag = "rating"

    def get_queryset(self) -> Any:
        fake = getattr(self, "swagger_fake_view", False)
        return self.queryset if fake else settled_for(self.request.user, self.round)  # type: ignore[arg-type]

    @extend_schema(summary="Why your pairs were settled as they were")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Empty while the round is not closed. Nobody else's grade or name is told, nor what may be asked again."""
        return self.list(request, *args, **kwargs)
