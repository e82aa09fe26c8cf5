"""API endpoint for the caller's resolved pairs of a closed round, with the reasons."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments.agreement.resolutions_for_rater import resolved_pairs_for
from judgments.models import Pair
from judgments.rating.serializers import DocumentNamed, QueryNamed
from judgments.web import access
from judgments.web.endpoints import InRound


class SettledBody(serializers.Serializer):
    """A pair that the caller judged and a lead resolved."""

    pair = serializers.UUIDField(source="uuid")
    query = QueryNamed()
    document = DocumentNamed()
    given = serializers.SerializerMethodField(
        help_text="The caller's own grade; null if they marked the pair unrateable."
    )
    settled = serializers.SerializerMethodField(help_text="The grade of the resolution.")
    reason = serializers.SerializerMethodField(help_text="The lead's reason.")

    def get_given(self, pair: Any) -> int | None:
        return pair.mine[0].grade if pair.mine else None

    def get_settled(self, pair: Any) -> int:
        return int(pair.resolutions[0].grade)

    def get_reason(self, pair: Any) -> str:
        return str(pair.resolutions[0].reason)


class Settled(ListModelMixin, InRound):
    """The caller's resolved pairs of a closed round."""

    reads = access.RATERS
    scope = "rate"
    queryset = Pair.objects.none()
    serializer_class = SettledBody
    tag = "rating"

    def get_queryset(self) -> Any:
        fake = getattr(self, "swagger_fake_view", False)
        return self.queryset if fake else resolved_pairs_for(self.request.user, self.round)  # type: ignore[arg-type]

    @extend_schema(summary="List the resolutions of your pairs")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return an empty list until the round is closed."""
        return self.list(request, *args, **kwargs)
