"""How does a pool become a round, and which rounds are there?"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import guidelines
from judgments.api.endpoint import Rows
from judgments.api.rounds import RoundBody, ScaleBody, members_called, round_told, shown_rounds
from judgments.api.seeds import Seed
from judgments.core.errors import NotValid
from judgments.models import Collection, GuidelinesVersion, User
from pooling import pools
from pooling.models import Pool


class NewRound(serializers.Serializer):
    """A round over the pairs of a pool."""

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
    ratings_per_pair = serializers.IntegerField(default=2, min_value=1, max_value=20)
    overlap = serializers.FloatField(default=1.0, min_value=0, max_value=1)
    raters = serializers.ListField(child=serializers.CharField(), default=list, help_text="User names.")
    seed = Seed()


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
        scale, text = asked.pop("scale"), asked.pop("guidelines")
        asked["raters"] = members_called(self.collection, asked["raters"])
        grades = [(row["value"], row["label"], row["cue"]) for row in scale["grades"]] if scale else None
        # Both or none: a round that is refused leaves no version of the guidelines behind.
        with transaction.atomic():
            version = version_for(self.collection, text, actor=request.user)
            made = pools.make_round(pool, actor=request.user, grades=grades, guidelines=version, **asked)
        return Response(round_told(made), status=201)

    def _pool(self, uuid: Any) -> Pool:
        pool = self.collection.pools.filter(uuid=uuid).first()
        if pool is None:
            said = f"This collection has no pool {uuid}."
            raise NotValid(said, {"pool": said})
        return pool


def version_for(collection: Collection, text: str | None, *, actor: User) -> GuidelinesVersion:
    """The newest version when the text is its text or there is none; else the text as the next version."""
    newest = guidelines.latest(collection)
    if text is None or not text.strip():
        return newest or guidelines.add_version(collection, markdown=guidelines.DEFAULT_TEMPLATE, actor=actor)
    # As add_version keeps it.
    kept = text.replace("\r\n", "\n").strip() + "\n"
    if newest is not None and newest.sha256 == GuidelinesVersion.hash_of(kept):
        return newest
    return guidelines.add_version(collection, markdown=text, actor=actor)
