"""API endpoints to read, change, open, reopen and close a round."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotValid
from judgments import hooks
from judgments.models import Collection, Membership, Round, User
from judgments.models.document import DocumentKind
from judgments.rounds import rounds
from judgments.rounds import settings as round_settings
from judgments.rounds.serializers import SettingsBody, settings_in
from judgments.web.endpoints import InRound
from judgments.web.serializers import Strict


class GradeBody(Strict):
    """One grade of a scale, with the label of its button."""

    value = serializers.IntegerField()
    label = serializers.CharField(max_length=40)
    cue = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class ScaleBody(Strict):
    """The grades of a scale, and the lowest grade that counts as relevant."""

    grades = GradeBody(many=True)
    relevant_from = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The lowest grade that counts as relevant in binary metrics; null "
        "means every grade except the lowest.",
    )


class ScaleOfRound(serializers.Serializer):
    """The scale of a round, lowest grade first."""

    grades = GradeBody(many=True, source="grades.all")
    relevant_from = serializers.IntegerField(help_text="The lowest grade that counts as relevant in binary metrics.")


class RoundBody(serializers.Serializer):
    """A round as leads and engineers see it."""

    id = serializers.UUIDField(source="uuid")
    collection = serializers.CharField(source="collection.slug")
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=Round.State.choices)
    kind = serializers.ChoiceField(choices=DocumentKind.choices, help_text="Whether raters grade documents or answers.")
    dimension = serializers.CharField(help_text="The graded dimension of answers; empty for documents.")
    scale = ScaleOfRound()
    guidelines_version = serializers.IntegerField(source="guidelines.number")
    ratings_per_pair = serializers.IntegerField()
    overlap = serializers.FloatField(
        help_text="Share of the pairs that get all their ratings; the others get one rating."
    )
    settings = serializers.SerializerMethodField(help_text="All settings; PATCH accepts the same names.")
    seed = serializers.IntegerField()
    pairs = serializers.IntegerField(source="pair_count")
    most_pairs = serializers.IntegerField(
        allow_null=True,
        help_text="Maximum number of pairs, if pairs are chosen while the round is open; null if they are fixed.",
    )
    more_may_come = serializers.BooleanField(source="growing", help_text="Whether more pairs are still being chosen.")
    refill = serializers.SerializerMethodField(help_text="State of choosing pairs; null if they are fixed.")
    raters = serializers.SerializerMethodField(help_text="User names of the raters.")
    created_at = serializers.DateTimeField()
    opened_at = serializers.DateTimeField(allow_null=True)
    closed_at = serializers.DateTimeField(allow_null=True)

    def get_settings(self, round_: Round) -> dict[str, Any]:
        return round_settings.RoundSettings.of(round_).as_dict()

    def get_refill(self, round_: Round) -> dict[str, Any] | None:
        return hooks.status(round_)

    def get_raters(self, round_: Round) -> list[str]:
        return sorted(row.user.username for row in round_.raters.all() if row.left_at is None)


class RoundChange(SettingsBody):
    """Changeable fields of a round. Pairs, scale, guidelines, seed and ratings per pair are fixed."""

    FIXED = dict.fromkeys(
        ("collection", "guidelines", "guidelines_version", "most_pairs", "pairs", "pool", "refill", "scale", "seed"),
        "This field cannot change after a round is created. Create a new round.",
    )
    name = serializers.CharField(max_length=120, required=False)
    raters = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="User names of raters to add; existing raters stay."
    )


def shown_rounds() -> QuerySet[Round]:
    """Return rounds with the related rows that their serializer needs, in a fixed number of queries."""
    rows = Round.objects.select_related("collection", "guidelines", "scale")
    return rows.prefetch_related("scale__grades", "raters__user").annotate(pair_count=F("pairs_made"))


def members_called(collection: Collection, usernames: Sequence[str]) -> list[User]:
    """Return the members with these user names, in the given order."""
    rows = Membership.objects.filter(collection=collection, user__username__in=usernames).select_related("user")
    by_name = {row.user.username: row.user for row in rows}
    strange = sorted(set(usernames) - by_name.keys())
    if strange:
        message = f"First invite these users with the role rater: {', '.join(strange)}."
        raise NotValid("Only raters and leads of the collection can rate.", {"raters": message})
    return [by_name[name] for name in dict.fromkeys(usernames)]


def serialize_round(round_: Round) -> Any:
    """Return the response body of one round."""
    return RoundBody(shown_rounds().get(pk=round_.pk)).data


class OneRound(InRound):
    """One round."""

    serializer_class = RoundBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Get a round")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        return Response(serialize_round(self.round))

    @extend_schema(summary="Change a round", request=RoundChange)
    def patch(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Rename a round, add raters or change settings.

        Scale and guidelines are fixed; create a new round to change them.
        """
        changes = self.read_body(RoundChange)
        with transaction.atomic():
            if "name" in changes:
                rounds.rename(self.round, name=changes["name"], actor=request.user)
            round_settings.change(self.round, settings_in(changes), actor=request.user)
            if changes.get("raters"):
                raters = members_called(self.round.collection, changes["raters"])
                rounds.invite(self.round, raters, actor=request.user)
        return Response(serialize_round(self.round))


class OpenRound(InRound):
    """Opening of a round."""

    serializer_class = RoundBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Open a round", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Only a draft can be opened. Raters can then start."""
        return Response(serialize_round(rounds.open_round(self.round, actor=request.user)))


class ReopenSent(Strict):
    """The reason for reopening a round."""

    reason = serializers.CharField(max_length=1000, help_text="The reason is recorded in the audit trail.")


class ReopenRound(InRound):
    """Reopening of a round."""

    serializer_class = RoundBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Reopen a round", request=ReopenSent)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Only closed rounds whose labels are in no snapshot can be reopened. Raters who could see its grades are
        removed."""
        reason = self.read_body(ReopenSent)["reason"]
        return Response(serialize_round(rounds.reopen_round(self.round, reason=reason, actor=request.user)))


class CloseRound(InRound):
    """Closing of a round."""

    serializer_class = RoundBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Close a round", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Further judgments are refused with status 410."""
        return Response(serialize_round(rounds.close_round(self.round, actor=request.user)))
