"""Where do a round's raters differ, and how is a pair settled?"""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, adjudication, reliability
from judgments.api.endpoint import InRound
from judgments.core.errors import NotAllowed, NotValid
from judgments.models import Pair


class QueryOfPair(serializers.Serializer):
    """Which query."""

    id = serializers.CharField(source="query_id")
    text = serializers.CharField()


class DocumentOfPair(serializers.Serializer):
    """Which document."""

    id = serializers.CharField(source="doc_id")
    title = serializers.CharField()


class Settlement(serializers.Serializer):
    """How a lead settled it."""

    grade = serializers.IntegerField()
    reason = serializers.CharField()
    settled_by = serializers.CharField(source="settled_by.username")
    created_at = serializers.DateTimeField()


class ConflictBody(serializers.Serializer):
    """A pair with different grades."""

    pair = serializers.UUIDField(source="pair.uuid")
    query = QueryOfPair(source="pair.query")
    document = DocumentOfPair(source="pair.document")
    grades = serializers.DictField(child=serializers.IntegerField(), help_text="Pseudonym to grade.")
    notes = serializers.DictField(child=serializers.CharField())
    spread = serializers.IntegerField(help_text="Highest grade less lowest.")
    settled = Settlement(allow_null=True)


class SettleSent(serializers.Serializer):
    """The grade that stands, and why."""

    grade = serializers.IntegerField()
    reason = serializers.CharField(max_length=adjudication.LONGEST_REASON)


class Settled(serializers.Serializer):
    """What was settled."""

    pair = serializers.UUIDField()
    grade = serializers.IntegerField()
    reason = serializers.CharField()
    settled_by = serializers.CharField()
    created_at = serializers.DateTimeField()


class Conflicts(ListModelMixin, InRound):
    """The conflicts of a round."""

    reads = access.LEADS
    queryset = Pair.objects.none()
    serializer_class = ConflictBody
    tag = "rounds"

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return self.queryset
        return reliability.conflicts(self.round, viewer=self.request.user, steps=self._steps())

    def _steps(self) -> int:
        text = self.request.query_params.get("steps", "1")
        if not (text.isascii() and text.isdigit() and 1 <= len(text) <= 3 and int(text)):
            raise NotValid("steps cannot be that.", {"steps": "A whole number from 1."})
        return int(text)

    @extend_schema(
        summary="Where raters differ",
        parameters=[OpenApiParameter("steps", int, description="Apart by at least so many; 1 when left out.")],
    )
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """The widest first. A lead who rates in an open round does not see those that they may still grade."""
        return self.list(request)


class Settle(InRound):
    """Settle one pair."""

    serializer_class = Settled
    tag = "rounds"

    @extend_schema(
        summary="Settle a pair",
        request=SettleSent,
        responses={201: Settled},
        examples=[
            OpenApiExample("With a reason", {"grade": 1, "reason": "For men, not for women."}, request_only=True)
        ],
    )
    def post(self, request: Request, uuid: uuid_module.UUID, pair: uuid_module.UUID) -> Response:
        """Settling again supersedes the earlier settlement; both are kept."""
        row = access.pair_for(request.user, self.round, pair)
        if not access.may_see_grades(request.user, row):
            raise NotAllowed(
                "You may still grade this pair yourself. Settle it once you have, or once the round is closed."
            )
        settled = adjudication.settle(row, actor=request.user, **self.sent(SettleSent))
        body = {"pair": row.uuid, "settled_by": request.user.username, "grade": settled.grade}
        return self.told(Settled, {**body, "reason": settled.reason, "created_at": settled.created_at}, 201)
