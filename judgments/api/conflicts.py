"""API endpoints for conflicts and unrateable pairs of a round, and for resolving a pair."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, adjudication, conflict_effects, conflicts, examples, untold
from judgments.api.endpoint import InRound
from judgments.api.strict import Strict
from judgments.conflict_effects import Effects
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

    pair = serializers.UUIDField(source="uuid")
    query = QueryOfPair()
    document = DocumentOfPair()
    grades = serializers.SerializerMethodField(help_text="Pseudonym to grade.")
    notes = serializers.SerializerMethodField()
    spread = serializers.IntegerField(help_text="Highest grade less lowest.")
    effect = serializers.SerializerMethodField(
        help_text="How far settling it moves the mean of the run that feels it most, at most; null where no run tells."
    )
    settled = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_grades(self, pair: Any) -> dict[str, int]:
        return conflicts.grades_of(pair)

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_notes(self, pair: Any) -> dict[str, str]:
        return conflicts.notes_of(pair)

    def get_effect(self, pair: Any) -> float | None:
        known: Effects | None = self.context.get("effects")
        return known.moves.get(pair.pk) if known else None

    @extend_schema_field(Settlement(allow_null=True))
    def get_settled(self, pair: Any) -> Any:
        settled = conflicts.settled_as(pair)
        return Settlement(settled).data if settled else None


class UnrateableBody(serializers.Serializer):
    """A pair that could not be judged."""

    pair = serializers.UUIDField(source="uuid")
    query = QueryOfPair()
    document = DocumentOfPair()
    reasons = serializers.SerializerMethodField(help_text="Pseudonym to the reason given.")
    settled = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_reasons(self, pair: Any) -> dict[str, str]:
        return {one.pseudonym: one.reason for one in pair.answers if one.grade is None}

    @extend_schema_field(Settlement(allow_null=True))
    def get_settled(self, pair: Any) -> Any:
        settled = conflicts.settled_as(pair)
        return Settlement(settled).data if settled else None


class SettleSent(Strict):
    """The grade that stands, and why: a reason in words, a cause, or both."""

    grade = serializers.IntegerField()
    reason = serializers.CharField(max_length=adjudication.LONGEST_REASON, required=False, allow_blank=True, default="")
    cause = serializers.ChoiceField(list(adjudication.CAUSES.items()), required=False, allow_blank=True, default="")
    example = serializers.BooleanField(default=False, help_text="Let it wait for the next guidelines version.")


class Settled(serializers.Serializer):
    """What was settled."""

    pair = serializers.UUIDField()
    grade = serializers.IntegerField()
    reason = serializers.CharField(help_text="The cause in words, then the reason.")
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
        return conflicts.told(conflicts.in_conflict(self.round, viewer=self.request.user, steps=self._steps()))

    def get_serializer_context(self) -> dict[str, Any]:
        fake = getattr(self, "swagger_fake_view", False)
        told = not fake and untold.may_be_told_means(self.request.user, self.round)
        return super().get_serializer_context() | {"effects": conflict_effects.effects(self.round) if told else None}

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


class Unrateable(ListModelMixin, InRound):
    """The pairs of a round that could not be judged."""

    reads = access.LEADS
    queryset = Pair.objects.none()
    serializer_class = UnrateableBody
    tag = "rounds"

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return self.queryset
        return conflicts.told(conflicts.could_not_be_judged(self.round, viewer=self.request.user))

    @extend_schema(summary="What could not be judged")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Pairs of which two raters said so, or everybody who was asked. Mend the document, or settle the pair."""
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
        if not untold.may_be_told(request.user, row):
            raise NotAllowed(
                "You may still grade this pair yourself. Settle it once you have, or once the round is closed."
            )
        said = self.sent(SettleSent)
        with transaction.atomic():
            proposed = said.pop("example")
            settled = adjudication.settle(row, actor=request.user, **said)
            if proposed:
                examples.propose(settled, actor=request.user)
        body = {"pair": row.uuid, "settled_by": request.user.username, "grade": settled.grade}
        return self.told(Settled, {**body, "reason": settled.reason, "created_at": settled.created_at}, 201)
