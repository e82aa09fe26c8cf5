"""API endpoints for auto-accepting a judge's lowest grade and for a draft round without those pairs."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import Conflict
from judgments.machines.calibration import auto_accept
from judgments.machines.judge_runs.api.judges import OfJudge
from judgments.machines.judge_runs.api.serializers import RoutedRound
from judgments.models import AutoAccept
from judgments.web.serializers import Strict


class BoundSent(Strict):
    """The condition for accepting the lowest grade."""

    bound = serializers.FloatField(
        min_value=0.5,
        max_value=0.999,
        help_text="The required share of these pairs that is not relevant, such as 0.95.",
    )


class ConfirmedBody(serializers.Serializer):
    """Human judgments of pairs with the judge's lowest grade."""

    population = serializers.IntegerField(help_text="Number of pairs of the round with this grade.")
    sampled = serializers.IntegerField(help_text="Number of these pairs in the audit slice.")
    judged = serializers.IntegerField(help_text="Number of sampled pairs that people have judged.")
    right = serializers.IntegerField(help_text="Number of judged pairs that people found not relevant.")
    low = serializers.FloatField(
        allow_null=True, help_text="Lower bound of the share that is not relevant, outside the slice."
    )


class AcceptBody(serializers.Serializer):
    """Whether the lowest grade is accepted now."""

    asked = serializers.BooleanField(help_text="Whether a lead has turned on auto-accept.")
    bound = serializers.FloatField(allow_null=True)
    asked_at = serializers.DateTimeField(allow_null=True)
    stands = serializers.BooleanField()
    why = serializers.CharField()
    confirmed = ConfirmedBody(
        allow_null=True, help_text="Null if auto-accept is off, or while you may still grade pairs of the round."
    )


class Accept(OfJudge):
    """Auto-accept of a judge's lowest grade."""

    serializer_class = AcceptBody

    @extend_schema(summary="Get the state of auto-accept")
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """The state is computed at each request."""
        return self._respond_status(self._active_accept())

    @extend_schema(summary="Auto-accept a judge's lowest grade", request=BoundSent, responses={201: AcceptBody})
    def post(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Auto-accept holds while people confirm the grade on the audit slice. A 400 response explains why it does not
        hold now."""
        bound = self.read_body(BoundSent)["bound"]
        return self._respond_status(auto_accept.activate(self.round, self.judge, bound=bound, actor=request.user), 201)

    @extend_schema(summary="Turn off auto-accept", responses={200: AcceptBody})
    def delete(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Snapshots that contain accepted grades do not change."""
        accept = self._active_accept()
        if accept is None:
            raise Conflict("Auto-accept is off for this judge, so it cannot be turned off.")
        auto_accept.deactivate(accept, actor=request.user)
        return self._respond_status(None)

    def _active_accept(self) -> AutoAccept | None:
        accept = auto_accept.active_accept(self.round)
        return accept if accept is not None and accept.judge_id == self.judge.pk else None

    def _respond_status(self, accept: AutoAccept | None, status: int = 200) -> Response:
        if accept is None:
            why = "Auto-accept is off. People must judge all of its pairs."
            nothing: dict[str, Any] = {"bound": None, "asked_at": None, "confirmed": None}
            return self.respond(AcceptBody, {"asked": False, "stands": False, "why": why, **nothing}, status)
        acceptance = auto_accept.visible_status(self.request.user, self.round, auto_accept.status_of(accept))
        plain = {
            "bound": accept.bound,
            "asked_at": accept.created_at,
            "stands": acceptance.stands,
            "why": acceptance.why,
        }
        return self.respond(AcceptBody, {"asked": True, **plain, "confirmed": acceptance.confirmed}, status)


class DraftWithout(OfJudge):
    """A draft round without the accepted pairs."""

    @extend_schema(summary="Create a draft round without accepted pairs", request=None, responses={201: RoutedRound})
    def post(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """It has the unjudged pairs without an accepted grade, and the rest of the audit slice."""
        accept = auto_accept.active_accept(self.round)
        if accept is None or accept.judge_id != self.judge.pk:
            raise Conflict("No grade of this judge is accepted in the round, so no pair can be left out.")
        made = auto_accept.draft_round(self.round, actor=request.user)
        return Response({"round": str(made.uuid), "pairs": made.pairs_made}, status=201)
