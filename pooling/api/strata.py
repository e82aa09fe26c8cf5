"""API of strata: add a part of the traffic to a collection, and review proposals for its queries."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import narratives, query_groups
from judgments.api.endpoint import InCollection, Rows
from judgments.api.jobs import Started, started
from judgments.api.query_groups import queries_called
from judgments.core.errors import NotFound, NotValid
from judgments.drafting import DRAFTERS
from judgments.models import Stratum
from pooling import log_traffic, query_logs, strata
from pooling.api.query_logs import Draw
from pooling.proposals import proposals
from pooling.titles import first_titles


class StratumBody(serializers.Serializer):
    """A part of the traffic."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    share = serializers.FloatField(help_text="Of the whole traffic; those of all strata sum to 1.")
    part_of = serializers.CharField(allow_null=True, help_text="The stratum whose traffic held it before.")
    filters = serializers.JSONField()


class NewStratum(Draw):
    """What joins, and how it is drawn; a tier is cut inside the stratum."""

    name = serializers.CharField(max_length=100)
    log = serializers.UUIDField(required=False, allow_null=True, help_text="Without one the listed queries all join.")
    share = serializers.FloatField(required=False, allow_null=True, help_text="Counted where the log tells it.")
    part_of = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, help_text="By default worked out; empty for new traffic."
    )
    first = serializers.CharField(required=False, max_length=100, help_text="What the queries so far are called.")
    words = serializers.ListField(child=serializers.CharField(max_length=200), required=False)
    queries = serializers.ListField(child=serializers.CharField(max_length=2048), required=False)
    language = serializers.CharField(
        required=False, max_length=40, help_text="Queries most of whose searches are in it, where the log tells."
    )


class StratumJoined(serializers.Serializer):
    """The stratum, and the ids of its queries: new ones, and those that were here already."""

    stratum = StratumBody()
    new = serializers.SerializerMethodField()
    there = serializers.SerializerMethodField()

    def get_new(self, joined: strata.Joined) -> list[str]:
        return [query.query_id for query in joined.new]

    def get_there(self, joined: strata.Joined) -> list[str]:
        return [query.query_id for query in joined.there]


class ProposalBody(serializers.Serializer):
    """Queries that may be spellings of one need."""

    queries = serializers.SerializerMethodField(help_text="Ids, the most frequent first.")
    texts = serializers.SerializerMethodField()
    reasons = serializers.ListField(child=serializers.CharField(), help_text="For each why; nothing for the first.")

    def get_queries(self, proposal: Any) -> list[str]:
        return [query.query_id for query in proposal.queries]

    def get_texts(self, proposal: Any) -> list[str]:
        return [query.text for query in proposal.queries]


class Refusal(serializers.Serializer):
    """Queries that were proposed as a group and are several needs."""

    queries = serializers.ListField(child=serializers.CharField(max_length=500), min_length=2)


class DraftAsked(serializers.Serializer):
    """For which queries a narrative is drafted."""

    queries = serializers.ListField(
        child=serializers.CharField(max_length=500), required=False, help_text="All that have none, by default."
    )
    drafter = serializers.ChoiceField(choices=list(DRAFTERS), default="template")


class Drafted(serializers.Serializer):
    """How many were drafted; raters see none of them before a person confirms it."""

    drafted = serializers.IntegerField()


class Strata(Rows):
    """The parts of the traffic that a collection stands for."""

    queryset = Stratum.objects.select_related("part_of").order_by("pk")
    serializer_class = StratumBody
    filters = {"name": "name"}
    also = (409,)
    tag = "strata"

    @extend_schema(summary="The strata")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """None in a collection that stands for one traffic."""
        return self.list(request)

    @extend_schema(
        summary="Add a stratum",
        request=NewStratum,
        responses={201: StratumJoined, 202: Started},
        examples=[
            OpenApiExample(
                "Shoes", {"name": "shoes", "log": "8c5e...", "words": ["shoes"], "head": 20}, request_only=True
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Queries that are here keep ids, tiers, weights and probabilities."""
        asked = self.sent(NewStratum)
        uuid = asked.pop("log", None)
        if uuid is None:
            return self._listed(request, asked)
        log = self.collection.query_logs.filter(uuid=uuid).first()
        if log is None:
            raise NotFound("This collection has no such query log.")
        sizes = {tier: asked.pop(tier) for tier in query_logs.DEFAULT_SIZES if tier in asked}
        asked["sizes"] = dict.fromkeys(query_logs.DEFAULT_SIZES, 0) | sizes if sizes else None
        if log_traffic.is_large(log):
            return started(strata.add_later(log, actor=request.user, **asked))
        return self.told(StratumJoined, strata.add_stratum(log, actor=request.user, **asked), 201)

    def _listed(self, request: Request, asked: dict[str, Any]) -> Response:
        if not asked.get("queries") or asked.get("share") is None:
            missing = "share" if asked.get("queries") else "queries"
            raise NotValid("Name a log, or list the queries and their share.", {missing: "Needed without a log."})
        names = ("name", "share", "queries", "first")
        told = {name: asked[name] for name in names if name in asked} | {"part_of": asked.get("part_of") or ""}
        return self.told(StratumJoined, strata.add_list(self.collection, actor=request.user, **told), 201)


class Proposals(InCollection):
    """Which queries may be spellings of one need."""

    serializer_class = ProposalBody
    tag = "query groups"

    @extend_schema(summary="Proposed query groups", responses=ProposalBody(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The group with the most searches first; accept one by sending its queries to `query-groups/`."""
        return Response(ProposalBody(proposals(self.collection), many=True).data)

    @extend_schema(summary="Refuse a proposed group", request=Refusal, responses={204: None})
    def post(self, request: Request, slug: str) -> Response:
        """These queries are several needs; they are not proposed together again."""
        queries = queries_called(self.collection, self.sent(Refusal)["queries"])
        query_groups.refuse(self.collection, queries, actor=request.user)
        return Response(status=204)


class Drafts(InCollection):
    """Narratives for a person to complete."""

    serializer_class = Drafted
    tag = "queries"

    @extend_schema(summary="Draft narratives", request=DraftAsked, responses=Drafted)
    def post(self, request: Request, slug: str) -> Response:
        """For queries that have neither a narrative nor a draft."""
        asked = self.sent(DraftAsked)
        number = narratives.draft_missing(
            self.collection,
            actor=request.user,
            titles=lambda rows: first_titles(self.collection, rows),
            drafter=asked["drafter"],
            queries=queries_called(self.collection, asked.get("queries", [])),
        )
        return Response({"drafted": number})
