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

from judgments import growing, round_settings, rounds
from judgments.api.endpoint import InRound
from judgments.api.round_settings import SettingsBody, settings_in
from judgments.api.strict import Strict
from judgments.core.errors import NotValid
from judgments.models import Collection, Membership, Round, User
from judgments.models.document import DocumentKind


class GradeBody(Strict):
    """One value of a scale, with what stands on its button."""

    value = serializers.IntegerField()
    label = serializers.CharField(max_length=40)
    cue = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class ScaleBody(Strict):
    """The grades that can be given, and from which on a document counts as relevant."""

    grades = GradeBody(many=True)
    relevant_from = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The lowest grade that counts where a metric knows only yes and no; null: all but the lowest.",
    )


class ScaleOfRound(serializers.Serializer):
    """The scale of a round, lowest grade first."""

    grades = GradeBody(many=True, source="grades.all")
    relevant_from = serializers.IntegerField(help_text="The lowest grade that counts where only yes and no are known.")


class RoundBody(serializers.Serializer):
    """A round as leads and engineers see it."""

    id = serializers.UUIDField(source="uuid")
    collection = serializers.CharField(source="collection.slug")
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=Round.State.choices)
    kind = serializers.ChoiceField(choices=DocumentKind.choices, help_text="What raters grade.")
    dimension = serializers.CharField(help_text="What is graded about answers; empty in a round of documents.")
    scale = ScaleOfRound()
    guidelines_version = serializers.IntegerField(source="guidelines.number")
    ratings_per_pair = serializers.IntegerField()
    overlap = serializers.FloatField(help_text="Share of the pairs that get all their ratings; the others get one.")
    settings = serializers.SerializerMethodField(help_text="All that can be set; PATCH takes the same names.")
    seed = serializers.IntegerField()
    pairs = serializers.IntegerField(source="pair_count")
    most_pairs = serializers.IntegerField(
        allow_null=True,
        help_text="Pairs at most, where more are chosen while the round is open; null where they are fixed.",
    )
    more_may_come = serializers.BooleanField(source="growing", help_text="Whether pairs are still being chosen.")
    refill = serializers.SerializerMethodField(help_text="How far the choosing is; null where the pairs are fixed.")
    raters = serializers.SerializerMethodField(help_text="User names.")
    created_at = serializers.DateTimeField()
    opened_at = serializers.DateTimeField(allow_null=True)
    closed_at = serializers.DateTimeField(allow_null=True)

    def get_settings(self, round_: Round) -> dict[str, Any]:
        return round_settings.RoundSettings.of(round_).as_dict()

    def get_refill(self, round_: Round) -> dict[str, Any] | None:
        return growing.told(round_)

    def get_raters(self, round_: Round) -> list[str]:
        return sorted(asked.user.username for asked in round_.raters.all() if asked.left_at is None)


class RoundChange(SettingsBody):
    """What may change in a round; its pairs, scale, guidelines, seed and ratings per pair may not."""

    FIXED = dict.fromkeys(
        ("collection", "guidelines", "guidelines_version", "most_pairs", "pairs", "pool", "refill", "scale", "seed"),
        "This is fixed when a round is made: make a new round.",
    )
    name = serializers.CharField(max_length=120, required=False)
    raters = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="User names to ask as well; nobody is taken out."
    )


def shown_rounds() -> QuerySet[Round]:
    """Rounds with all that their body needs, in a fixed number of queries."""
    rows = Round.objects.select_related("collection", "guidelines", "scale")
    return rows.prefetch_related("scale__grades", "raters__user").annotate(pair_count=F("pairs_made"))


def members_called(collection: Collection, usernames: Sequence[str]) -> list[User]:
    """The members with these user names, in the order given.

    Raises
    ------
    NotValid
        A name that no member has; whether it exists elsewhere is not said.
    """
    rows = Membership.objects.filter(collection=collection, user__username__in=usernames).select_related("user")
    found = {row.user.username: row.user for row in rows}
    strange = sorted(set(usernames) - found.keys())
    if strange:
        said = f"Add these as members with the role rater first: {', '.join(strange)}."
        raise NotValid("Only raters and leads of the collection can rate.", {"raters": said})
    return [found[name] for name in dict.fromkeys(usernames)]


def round_told(round_: Round) -> Any:
    """The body of one round."""
    return RoundBody(shown_rounds().get(pk=round_.pk)).data


class OneRound(InRound):
    """One round."""

    serializer_class = RoundBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="One round")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        return Response(round_told(self.round))

    @extend_schema(summary="Rename a round, ask more raters, change its settings", request=RoundChange)
    def patch(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """A round has one scale and one guidelines version; to change either, make a new round.

        A draft may change all settings but `ratings_per_pair` and `overlap`; an open round keeps what raters had to
        pass (`pass_mark`, `pass_within`) as well; of a closed one only `gate_coefficient` and `gate_threshold` change.
        """
        changes = self.sent(RoundChange)
        with transaction.atomic():
            if "name" in changes:
                rounds.rename(self.round, name=changes["name"], actor=request.user)
            round_settings.change(self.round, settings_in(changes), actor=request.user)
            if changes.get("raters"):
                asked = members_called(self.round.collection, changes["raters"])
                rounds.invite(self.round, asked, actor=request.user)
        return Response(round_told(self.round))


class OpenRound(InRound):
    """Let the raters in."""

    serializer_class = RoundBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Open a round", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """A draft is opened once; a closed round stays closed."""
        return Response(round_told(rounds.open_round(self.round, actor=request.user)))


class ReopenSent(Strict):
    """Why a round is reopened."""

    reason = serializers.CharField(max_length=1000, help_text="Kept in the audit trail.")


class ReopenRound(InRound):
    """Take answers again."""

    serializer_class = RoundBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Reopen a round", request=ReopenSent)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Only a closed round whose labels are in no snapshot. Raters who could read its grades leave it."""
        reason = self.sent(ReopenSent)["reason"]
        return Response(round_told(rounds.reopen_round(self.round, reason=reason, actor=request.user)))


class CloseRound(InRound):
    """Take no more answers."""

    serializer_class = RoundBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Close a round", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """From now on answers are refused with 410."""
        return Response(round_told(rounds.close_round(self.round, actor=request.user)))
