"""API of strata: add a part of the traffic to a collection, and review proposals for its queries."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotValid
from judgments.jobs.api import Started, started
from judgments.models import Stratum
from judgments.queries import groups, narratives
from judgments.queries.api import queries_called
from judgments.queries.drafting import DRAFTERS
from judgments.web import access
from judgments.web.api_lists import ListedAsArray
from judgments.web.endpoints import InCollection, Rows, call, listed
from judgments.web.serializers import Texts
from pooling.logs import query_logs, traffic
from pooling.logs.api import Draw
from pooling.queries.group_proposals import Proposal, proposals
from pooling.queries.titles import first_titles
from pooling.strata import strata


class StratumBody(serializers.Serializer):
    """A part of the traffic."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    share = serializers.FloatField(help_text="Share of the whole traffic; the shares of all strata sum to 1.")
    part_of = serializers.CharField(allow_null=True, help_text="The stratum that previously included its traffic.")
    filters = serializers.JSONField()


class NewStratum(Draw):
    """A stratum to add, with its draw. Tiers are cut within the stratum."""

    name = serializers.CharField(max_length=100)
    log = serializers.UUIDField(
        required=False, allow_null=True, help_text="The log to draw from; without a log, all listed queries are added."
    )
    share = serializers.FloatField(
        required=False,
        allow_null=True,
        help_text="Its share of the whole traffic; by default computed from the log if possible.",
    )
    part_of = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        help_text="By default derived from the log; empty for new traffic.",
    )
    first = serializers.CharField(required=False, max_length=100, help_text="Stratum name for the existing queries.")
    words = serializers.ListField(child=serializers.CharField(max_length=200), required=False)
    queries = serializers.ListField(child=serializers.CharField(max_length=2048), required=False)
    language = serializers.CharField(
        required=False,
        max_length=40,
        help_text="Queries whose searches are mostly in this language; the log must have a language column.",
    )


class StratumJoined(serializers.Serializer):
    """The new stratum, and the ids of its new and existing queries."""

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
    reasons = Texts(help_text="The reason for each query; empty for the first.")

    def get_queries(self, proposal: Any) -> list[str]:
        return [query.query_id for query in proposal.queries]

    def get_texts(self, proposal: Any) -> list[str]:
        return [query.text for query in proposal.queries]


class Refusal(serializers.Serializer):
    """Queries of a proposed group that have different needs."""

    queries = serializers.ListField(child=serializers.CharField(max_length=500), min_length=2)


class DraftRequest(serializers.Serializer):
    """The queries for which to draft narratives."""

    queries = serializers.ListField(
        child=serializers.CharField(max_length=500),
        required=False,
        help_text="Query ids; by default all queries without a narrative.",
    )
    drafter = serializers.ChoiceField(choices=list(DRAFTERS), default="template")


class Drafted(serializers.Serializer):
    """The number of drafts. Raters see a draft only after a person has confirmed it."""

    drafted = serializers.IntegerField()


@listed("List strata", "The list is empty if the collection represents a single traffic.")
class Strata(Rows):
    """The parts of the traffic that the collection represents."""

    queryset = Stratum.objects.select_related("part_of").order_by("pk")
    serializer_class = StratumBody
    filters = {"name": "name"}
    ordering = {"name": "name", "share": "share"}
    also = (409,)
    tag = "strata"

    @call(
        "Add a stratum",
        body=NewStratum,
        responses={201: StratumJoined, 202: Started},
        example=("Shoes", {"name": "shoes", "log": "8c5e...", "words": ["shoes"], "head": 20}),
    )
    def post(self, options: dict[str, Any]) -> Response:
        """Existing queries keep their ids, tiers, weights and probabilities."""
        uuid = options.pop("log", None)
        if uuid is None:
            return self._listed(self.request, options)
        rows = self.collection.query_logs.filter(uuid=uuid)
        log = access.existing(rows, "This collection has no such query log.")
        sizes = {tier: options.pop(tier) for tier in query_logs.DEFAULT_SIZES if tier in options}
        options["sizes"] = dict.fromkeys(query_logs.DEFAULT_SIZES, 0) | sizes if sizes else None
        if traffic.is_large(log):
            return started(strata.add_later(log, actor=self.user, **options))
        return self.respond(StratumJoined, strata.add_stratum(log, actor=self.user, **options), 201)

    def _listed(self, request: Request, options: dict[str, Any]) -> Response:
        if not options.get("queries") or options.get("share") is None:
            missing = "share" if options.get("queries") else "queries"
            raise NotValid("Name a log, or list the queries with their share.", {missing: "Required without a log."})
        names = ("name", "share", "queries", "first")
        chosen = {name: options[name] for name in names if name in options} | {"part_of": options.get("part_of") or ""}
        return self.respond(StratumJoined, strata.add_list(self.collection, actor=request.user, **chosen), 201)


@listed(
    "List proposed query groups",
    "Return the proposed groups, most searches first. To accept a group, send its queries to `query-groups/`.",
)
class Proposals(ListedAsArray, InCollection):
    """Queries that may be spellings of one need."""

    serializer_class = ProposalBody
    ordering = {"name": "name"}
    tag = "query groups"

    def rows(self) -> list[Proposal]:
        return proposals(self.collection)

    @call("Reject a proposed group", body=Refusal)
    def post(self, body: dict[str, Any]) -> None:
        """Record that these queries express different needs; they will not be proposed together again."""
        queries = queries_called(self.collection, body["queries"])
        groups.refuse(self.collection, queries, actor=self.user)


class Drafts(InCollection):
    tag = "queries"

    @call("Draft narratives", body=DraftRequest, responses=Drafted)
    def post(self, options: dict[str, Any]) -> Response:
        """Draft narratives for queries that have neither a narrative nor a draft."""
        number = narratives.draft_missing(
            self.collection,
            actor=self.user,
            titles=lambda rows: first_titles(self.collection, rows),
            drafter=options["drafter"],
            queries=queries_called(self.collection, options.get("queries", [])),
        )
        return Response({"drafted": number})
