"""API endpoints for auto-accepting a judge's lowest grade and for a draft round without those pairs."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import auto_accept
from judgments.api.judge_bodies import RoutedRound
from judgments.api.judges import OfJudge
from judgments.api.strict import Strict
from judgments.core.errors import Conflict
from judgments.models import AutoAccept


class BoundSent(Strict):
    """From when on the lowest grade may stand."""

    bound = serializers.FloatField(
        min_value=0.5, max_value=0.999, help_text="The share of these pairs that is not relevant at least: 0.95."
    )


class ConfirmedBody(serializers.Serializer):
    """What people found of the pairs with the judge's lowest grade."""

    population = serializers.IntegerField(help_text="Pairs of the round with this grade.")
    sampled = serializers.IntegerField(help_text="Of them in the audit slice.")
    judged = serializers.IntegerField(help_text="Of those judged by people.")
    right = serializers.IntegerField(help_text="Of those found not relevant.")
    low = serializers.FloatField(
        allow_null=True, help_text="Of the pairs outside the slice the share that is not relevant at least."
    )


class AcceptBody(serializers.Serializer):
    """Whether the lowest grade stands now."""

    asked = serializers.BooleanField(help_text="Whether a lead asked for it and nobody ended it.")
    bound = serializers.FloatField(allow_null=True)
    asked_at = serializers.DateTimeField(allow_null=True)
    stands = serializers.BooleanField()
    why = serializers.CharField()
    confirmed = ConfirmedBody(
        allow_null=True, help_text="Null where nothing is asked for, and for who may still grade pairs of the round."
    )


class Accept(OfJudge):
    """What stands of a judge."""

    serializer_class = AcceptBody

    @extend_schema(summary="Whether a judge's lowest grade stands")
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Looked at afresh each time."""
        return self._told(self._asked())

    @extend_schema(summary="Let a judge's lowest grade stand", request=BoundSent, responses={201: AcceptBody})
    def post(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """As long as people confirm it on the audit slice; a 400 says why it does not hold now."""
        bound = self.sent(BoundSent)["bound"]
        return self._told(auto_accept.ask(self.round, self.judge, bound=bound, actor=request.user), 201)

    @extend_schema(summary="Let none of its grades stand", responses={200: AcceptBody})
    def delete(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Snapshots that hold them stay as they were frozen."""
        asked = self._asked()
        if asked is None:
            raise Conflict("No grade of this judge stands in the round, so there is nothing to end.")
        auto_accept.end(asked, actor=request.user)
        return self._told(None)

    def _asked(self) -> AutoAccept | None:
        found = auto_accept.asked_for(self.round)
        return found if found is not None and found.judge_id == self.judge.pk else None

    def _told(self, asked: AutoAccept | None, status: int = 200) -> Response:
        if asked is None:
            why = "Nobody asked for it: all of its grades need a person."
            nothing: dict[str, Any] = {"bound": None, "asked_at": None, "confirmed": None}
            return self.told(AcceptBody, {"asked": False, "stands": False, "why": why, **nothing}, status)
        found = auto_accept.told_to(self.request.user, self.round, auto_accept.standing(asked))
        plain = {"bound": asked.bound, "asked_at": asked.created_at, "stands": found.stands, "why": found.why}
        return self.told(AcceptBody, {"asked": True, **plain, "confirmed": found.confirmed}, status)


class DraftWithout(OfJudge):
    """A round without what stands."""

    @extend_schema(summary="Make a draft round without what stands", request=None, responses={201: RoutedRound})
    def post(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """The pairs that no person has judged, with what is left of the audit slice; 409 where nothing stands."""
        asked = auto_accept.asked_for(self.round)
        if asked is None or asked.judge_id != self.judge.pk:
            raise Conflict("No grade of this judge stands in the round, so there is nothing to leave out.")
        made = auto_accept.draft_round(self.round, actor=request.user)
        return Response({"round": str(made.uuid), "pairs": made.pairs_made}, status=201)
