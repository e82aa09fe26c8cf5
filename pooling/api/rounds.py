"""API of rounds: make a round from a pool, list rounds and control the choice of further pairs."""

from __future__ import annotations

import uuid as uuid_module
from functools import partial
from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import guidelines
from judgments.api.endpoint import InRound, Rows
from judgments.api.round_settings import SettingsBody, settings_in
from judgments.api.rounds import RoundBody, ScaleBody, members_called, round_told, shown_rounds
from judgments.api.seeds import Seed
from judgments.api.strict import Strict
from judgments.core.errors import NotFound, NotValid
from judgments.models import Collection, GuidelinesVersion, User
from judgments.round_settings import RoundSettings
from pooling import pools, refill
from pooling.models import Pool, Refill


class Plan(Strict):
    """How pairs are chosen while the round is open, for a pool whose strategy learns."""

    most_pairs = serializers.IntegerField(min_value=2, max_value=10_000_000, help_text="The budget: pairs in all.")
    pairs_per_query = serializers.IntegerField(default=None, allow_null=True, min_value=1, max_value=100_000)
    batch = serializers.IntegerField(
        default=refill.BATCH,
        min_value=1,
        max_value=refill.LARGEST_BATCH,
        help_text="Pairs of a query that are chosen at a time; raters have two such batches ahead.",
    )
    residual = serializers.IntegerField(
        default=0, min_value=0, max_value=1_000, help_text="Random pairs per query, drawn when choosing ends."
    )


class RefillBody(serializers.Serializer):
    """How far the choosing is."""

    state = serializers.ChoiceField(
        choices=("waiting", "choosing", "ahead", "stopped", "complete"),
        help_text="It waits for the round to open; chooses; has enough ahead; failed or was cancelled; has ended.",
    )
    reason = serializers.CharField()
    strategy = serializers.CharField()
    batch = serializers.IntegerField()
    pairs_per_query = serializers.IntegerField(allow_null=True)
    residual = serializers.IntegerField()
    most_pairs = serializers.IntegerField()
    pairs = serializers.IntegerField()
    judged = serializers.IntegerField(help_text="Pairs that have all their ratings: these teach.")
    steps = serializers.IntegerField(help_text="How often the strategy was asked.")
    job = serializers.UUIDField(allow_null=True)


class RefillAct(serializers.Serializer):
    """What a lead may do about it."""

    act = serializers.ChoiceField(choices=("go-on", "stop"))


class NewRound(SettingsBody):
    """A round over the pairs of a pool."""

    FIXED = {"most_pairs": "This belongs into `refill`: a round without it has the pool's pairs and no others."}
    name = serializers.CharField(max_length=120)
    pool = serializers.UUIDField()
    scale = ScaleBody(required=False, allow_null=True, default=None, help_text="Null for 0-3 with the usual names.")
    guidelines = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        default=None,
        trim_whitespace=False,
        help_text="Markdown. A text that differs from the newest version becomes the next one; null takes the newest.",
    )
    raters = serializers.ListField(child=serializers.CharField(), default=list, help_text="User names.")
    seed = Seed()
    refill = Plan(required=False, allow_null=True, default=None, help_text="Null for the pool's pairs alone.")


class Rounds(Rows):
    """The rounds of a collection."""

    queryset = shown_rounds().order_by("-created_at", "-pk")
    serializer_class = RoundBody
    filters = {"state": "state", "name": "name"}
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="The rounds", parameters=[OpenApiParameter("state"), OpenApiParameter("name")])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The newest first."""
        return self.list(request)

    @extend_schema(
        summary="Make a round",
        request=NewRound,
        responses={201: RoundBody},
        examples=[
            OpenApiExample(
                "Two ratings a pair",
                {
                    "name": "Round 1",
                    "pool": "<id>",
                    "scale": None,
                    "guidelines": "# How to grade\n...",
                    "ratings_per_pair": 2,
                    "overlap": 1.0,
                    "raters": ["rater1", "rater2"],
                    "seed": 1,
                },
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """A draft, until it is opened. Its pairs, scale and guidelines never change."""
        asked = self.sent(NewRound)
        pool = self._pool(asked.pop("pool"))
        scale, text, plan = asked.pop("scale"), asked.pop("guidelines"), asked.pop("refill")
        asked["raters"] = members_called(self.collection, asked["raters"])
        chosen = settings_in(asked)
        asked = {name: value for name, value in asked.items() if name not in chosen}
        asked["settings"] = RoundSettings(**chosen)
        if scale:
            asked["grades"] = [(row["value"], row["label"], row["cue"]) for row in scale["grades"]]
            asked["relevant_from"] = scale["relevant_from"]
        # Both or none: a round that is refused leaves no version of the guidelines behind.
        with transaction.atomic():
            version = version_for(self.collection, text, actor=request.user)
            make = partial(refill.begin, **plan) if plan else pools.make_round
            made = make(pool, actor=request.user, guidelines=version, **asked)
        return Response(round_told(made), status=201)

    def _pool(self, uuid: Any) -> Pool:
        pool = self.collection.pools.filter(uuid=uuid).first()
        if pool is None:
            said = f"This collection has no pool {uuid}."
            raise NotValid(said, {"pool": said})
        return pool


class RefillOfRound(InRound):
    """How an open round goes on choosing its pairs."""

    serializer_class = RefillBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="How far the choosing of pairs is")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """404 for a round whose pairs are fixed."""
        self._row()
        return Response(refill.told(self.round))

    @extend_schema(summary="Go on choosing, or choose no more", request=RefillAct)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """`go-on` after a failure or a cancelled job; `stop` leaves the round open with the pairs that it has."""
        verb = refill.ACTS[self.sent(RefillAct)["act"]]
        verb(self._row(), actor=request.user)
        return Response(refill.told(self.round))

    def _row(self) -> Refill:
        row = Refill.objects.filter(round=self.round).first()
        if row is None:
            raise NotFound(f"The pairs of {self.round} are fixed: nothing is chosen while it is open.")
        return row


def version_for(collection: Collection, text: str | None, *, actor: User) -> GuidelinesVersion:
    """The newest version when the text is its text or there is none; else the text as the next version."""
    newest = guidelines.latest(collection)
    if text is None or not text.strip():
        return newest or guidelines.add_version(collection, markdown=guidelines.DEFAULT_TEMPLATE, actor=actor)
    if newest is not None and newest.sha256 == GuidelinesVersion.hash_of(guidelines.kept(text)):
        return newest
    return guidelines.add_version(collection, markdown=text, actor=actor)
