"""API of rounds: create a round from a pool, list rounds and control the choice of additional pairs."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db import transaction
from rest_framework import serializers
from rest_framework.response import Response

from assay.core.errors import NotValid
from judgments.guidelines import guidelines
from judgments.models import Collection, GuidelinesVersion, User
from judgments.rounds.api import (
    RoundBody,
    ScaleBody,
    SettingsBody,
    members_called,
    serialize_round,
    settings_in,
    shown_rounds,
)
from judgments.rounds.settings import RoundSettings
from judgments.web import access
from judgments.web.endpoints import InRound, Rows, call, listed
from judgments.web.serializers import Seed, Strict, Texts
from pooling.models import Pool, Refill
from pooling.pools import pools, refill


class Plan(Strict):
    """How pairs are chosen while the round is open, for a pool with an adaptive strategy."""

    most_pairs = serializers.IntegerField(min_value=2, max_value=10_000_000, help_text="Maximum pairs in total.")
    pairs_per_query = serializers.IntegerField(default=None, allow_null=True, min_value=1, max_value=100_000)
    batch = serializers.IntegerField(
        default=refill.BATCH,
        min_value=1,
        max_value=refill.LARGEST_BATCH,
        help_text="Number of pairs chosen at a time for a query; Assay keeps two such batches ready for raters.",
    )
    residual = serializers.IntegerField(
        default=0, min_value=0, max_value=1_000, help_text="Random pairs per query, drawn when pair selection ends."
    )


class RefillBody(serializers.Serializer):
    """The state of pair selection."""

    state = serializers.ChoiceField(
        choices=("waiting", "choosing", "ahead", "stopped", "complete"),
        help_text="Whether pair selection waits for the round to open, is in progress, is far enough ahead, failed or "
        "was canceled, or has ended.",
    )
    reason = serializers.CharField()
    strategy = serializers.CharField()
    batch = serializers.IntegerField()
    pairs_per_query = serializers.IntegerField(allow_null=True)
    residual = serializers.IntegerField()
    most_pairs = serializers.IntegerField()
    pairs = serializers.IntegerField()
    judged = serializers.IntegerField(help_text="Pairs with all their ratings, from which the strategy learns.")
    steps = serializers.IntegerField(help_text="Number of runs of the strategy.")
    job = serializers.UUIDField(allow_null=True)


class RefillAct(serializers.Serializer):
    """A lead's action on pair selection."""

    act = serializers.ChoiceField(choices=("go-on", "stop"))


class NewRound(SettingsBody):
    """A round over the pairs of a pool."""

    FIXED = {"most_pairs": "Send this field inside `refill`. A round without `refill` has only the pool's pairs."}
    name = serializers.CharField(max_length=120)
    pool = serializers.UUIDField()
    scale = ScaleBody(allow_null=True, default=None, help_text="The scale; null for 0-3 with the default labels.")
    guidelines = serializers.CharField(
        allow_null=True,
        allow_blank=True,
        default=None,
        trim_whitespace=False,
        help_text="Markdown. A text that differs from the newest version becomes a new version; null uses the newest "
        "version.",
    )
    raters = Texts(default=list, help_text="User names of the raters.")
    seed = Seed()
    refill = Plan(
        allow_null=True,
        default=None,
        help_text="How to choose additional pairs; null for a round with the pool's pairs only.",
    )


@listed("List rounds", "Return the rounds, newest first.")
class Rounds(Rows):
    """The rounds of a collection."""

    queryset = shown_rounds().order_by("-created_at", "-pk")
    serializer_class = RoundBody
    filters = {"state": "state", "name": "name"}
    ordering = {"created_at": "created_at", "name": "name", "state": "state"}
    also = (409,)
    tag = "rounds"

    @call(
        "Create a round",
        body=NewRound,
        responses={201: RoundBody},
        example=(
            "Two ratings per pair",
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
        ),
    )
    def post(self, options: dict[str, Any]) -> Response:
        """The round is a draft until it is opened. Its pairs, scale and guidelines never change after it is created."""
        pool = self._pool(options.pop("pool"))
        scale, text, plan = options.pop("scale"), options.pop("guidelines"), options.pop("refill")
        options["raters"] = members_called(self.collection, options["raters"])
        chosen = settings_in(options)
        options = {name: value for name, value in options.items() if name not in chosen}
        options["settings"] = RoundSettings(**chosen)
        if scale:
            options["grades"] = [(row["value"], row["label"], row["cue"]) for row in scale["grades"]]
            options["relevant_from"] = scale["relevant_from"]
        # In one transaction, so that a rejected round leaves no new version of the guidelines.
        with transaction.atomic():
            version = version_for(self.collection, text, actor=self.user)
            make = partial(refill.begin, **plan) if plan else pools.make_round
            made = make(pool, actor=self.user, guidelines=version, **options)
        return Response(serialize_round(made), status=201)

    def _pool(self, uuid: Any) -> Pool:
        pool = self.collection.pools.filter(uuid=uuid).first()
        if pool is None:
            raise NotValid(f"This collection has no pool {uuid}.", "pool")
        return pool


class RefillOfRound(InRound):
    also = (409,)
    tag = "rounds"

    @call("Get the state of pair selection", responses=RefillBody)
    def get(self) -> Response:
        """The status is 404 for a round with fixed pairs."""
        self._row()
        return Response(refill.status(self.round))

    @call("Resume or stop pair selection", body=RefillAct, responses=RefillBody)
    def post(self, body: dict[str, Any]) -> Response:
        """`go-on` resumes after a failure or cancellation. `stop` ends pair selection and leaves the round open with
        its current pairs."""
        verb = refill.ACTS[body["act"]]
        verb(self._row(), actor=self.user)
        return Response(refill.status(self.round))

    def _row(self) -> Refill:
        rows = Refill.objects.filter(round=self.round)
        return access.existing(rows, f"The pairs of {self.round} are fixed. Assay adds no pairs while it is open.")


def version_for(collection: Collection, text: str | None, *, actor: User) -> GuidelinesVersion:
    """Return the newest version if its text is the same or no text is given; otherwise save the text as a new
    version."""
    newest = guidelines.latest(collection)
    if text is None or not text.strip():
        return newest or guidelines.add_version(collection, markdown=guidelines.DEFAULT_TEMPLATE, actor=actor)
    if newest is not None and newest.sha256 == GuidelinesVersion.hash_of(guidelines.normalize(text)):
        return newest
    return guidelines.add_version(collection, markdown=text, actor=actor)
