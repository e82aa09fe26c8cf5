"""API of decisions: list and start them, read their state, and download the trace."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema_field
from rest_framework import serializers
from rest_framework.response import Response

from assay.core.errors import NotAllowed
from assay.sequential import METHODS
from evaluation.decisions import decisions, findings, list_preferences, live
from evaluation.models import Decision, ListJudge
from evaluation.models.decision import VERDICTS
from judgments.rating.api import DocumentShown, QueryShown
from judgments.rounds.api import members_called
from judgments.web import access
from judgments.web.downloads import attachment
from judgments.web.endpoints import AnyAccept, InCollection, Rows, call, listed, rows_called
from judgments.web.serializers import Strict

HIDDEN = "You may still grade pairs of this decision. You can read it after you finish rating or the round closes."
USUAL = decisions.Settings()


class PreferencesBody(serializers.Serializer):
    """Preferences of people who compared whole lists. The mean ranges from -1 (the baseline) to 1 (the candidate)."""

    people = serializers.IntegerField()
    queries = serializers.IntegerField()
    candidate = serializers.IntegerField()
    same = serializers.IntegerField()
    baseline = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class CandidateBody(serializers.Serializer):
    """The verdict on a candidate with its numbers at that moment, or now if undecided; null while you rate."""

    run = serializers.UUIDField(source="run.uuid")
    name = serializers.CharField(source="run.name")
    verdict = serializers.ChoiceField(choices=VERDICTS, allow_null=True)
    reason = serializers.CharField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    queries = serializers.IntegerField(allow_null=True)
    judgments = serializers.IntegerField(allow_null=True)
    expected_more = serializers.IntegerField(allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    preferences = PreferencesBody(allow_null=True)


class DecisionBody(serializers.Serializer):
    """A decision between a baseline and candidates."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    round = serializers.UUIDField(source="round.uuid", allow_null=True, default=None)
    baseline = serializers.UUIDField(source="baseline.uuid")
    metric = serializers.CharField()
    depth = serializers.IntegerField()
    delta = serializers.FloatField()
    alpha = serializers.FloatField()
    method = serializers.CharField()
    planned = serializers.IntegerField(allow_null=True)
    skips_same_rank = serializers.BooleanField()
    closes = serializers.BooleanField()
    seed = serializers.IntegerField()
    queries = serializers.SerializerMethodField(help_text="The number of queries in the plan.")
    identical = serializers.IntegerField(help_text="Queries that need no judging, because their lists are identical.")
    created_at = serializers.DateTimeField()
    candidates = serializers.SerializerMethodField()

    def get_queries(self, row: Decision) -> int:
        return len(row.order)

    @extend_schema_field(CandidateBody(many=True))
    def get_candidates(self, row: Decision) -> list[dict[str, Any]]:
        seen = findings.visible(self.context["request"].user, row)
        bodies = []
        for one in row.candidates.select_related("run"):
            numbers: dict[str, Any] = {}
            if seen:
                numbers = one.result or live.standing(row, one.run).outcome.to_dict()
            preferences = list_preferences.summary(row, one) if seen else None
            names = ("verdict", "reason", "difference", "low", "high", "queries", "judgments", "expected_more")
            bodies.append(
                {
                    "run": str(one.run.uuid),
                    "name": one.run.name,
                    **{name: numbers.get(name) for name in names},
                    "decided_at": one.decided_at.isoformat() if seen and one.decided_at else None,
                    "preferences": preferences and asdict(preferences),
                }
            )
        return bodies


class NewDecision(Strict):
    """The systems, people and settings of a decision."""

    name = serializers.CharField(max_length=120)
    baseline = serializers.UUIDField()
    candidates = serializers.ListField(
        child=serializers.UUIDField(), allow_empty=False, max_length=decisions.MOST_CANDIDATES
    )
    query_ids = serializers.ListField(
        child=serializers.CharField(max_length=512),
        required=False,
        allow_null=True,
        default=None,
        max_length=decisions.MOST_QUERIES,
        help_text="The queries to compare on; by default all that a system answers.",
    )
    raters = serializers.ListField(
        child=serializers.CharField(max_length=150), allow_empty=False, help_text="User names of members who rate."
    )
    metric = serializers.CharField(max_length=100, default=USUAL.metric)
    delta = serializers.FloatField(min_value=0.001, max_value=0.5, default=USUAL.delta)
    alpha = serializers.FloatField(min_value=0.001, max_value=0.4, default=USUAL.alpha)
    method = serializers.ChoiceField(choices=list(METHODS), default=USUAL.method)
    skips_same_rank = serializers.BooleanField(default=USUAL.skips_same_rank)
    closes = serializers.BooleanField(default=USUAL.closes)
    weighted = serializers.BooleanField(default=USUAL.weighted)
    ratings_per_pair = serializers.IntegerField(min_value=1, max_value=5, default=USUAL.ratings_per_pair)
    overlap = serializers.FloatField(min_value=0, max_value=1, default=USUAL.overlap)
    seed = serializers.IntegerField(min_value=0, max_value=2**53 - 1, default=USUAL.seed)


@listed("List decisions", "Return the decisions, newest first.")
class Decisions(Rows):
    """The decisions of a collection."""

    queryset = Decision.objects.select_related("round", "baseline", "collection")
    serializer_class = DecisionBody
    ordering = {"created_at": "created_at", "name": "round__name"}
    also = (409,)
    tag = "decisions"

    @call(
        "Start a decision",
        DecisionBody,
        NewDecision,
        status=201,
        example=("Two runs", {"name": "neural", "baseline": "<id>", "candidates": ["<id>"], "raters": ["ada"]}),
    )
    def post(self, body: dict[str, Any]) -> Decision:
        """Open a round whose queries are judged whole and in random order, until there is a verdict."""
        runs = self.collection.runs.active()
        (baseline,) = rows_called(runs, [body.pop("baseline")], "baseline", "run")
        candidates = rows_called(runs, body.pop("candidates"), "candidates", "run")
        raters = members_called(self.collection, body.pop("raters"))
        name, query_ids = body.pop("name"), body.pop("query_ids")
        made, _ = decisions.start(
            baseline,
            candidates,
            actor=self.user,
            name=name,
            settings=decisions.Settings(**body),
            query_ids=query_ids,
            raters=raters,
        )
        return made


class InDecision(InCollection):
    tag = "decisions"

    def decision(self) -> Decision:
        return decisions.decision_for(self.collection, self.kwargs["uuid"])


class OneDecision(InDecision):
    serializer_class = DecisionBody

    @call("Get a decision", DecisionBody)
    def get(self) -> Decision:
        """Return the verdicts that the judgments allow now; a verdict remains once it is reached."""
        row = self.decision()
        if findings.visible(self.user, row):
            decisions.look(row)
        return row


class PreferenceSent(Strict):
    """Which of the two lists is better."""

    query = serializers.CharField(max_length=512)
    comparison = serializers.UUIDField(help_text="From the response with the lists.")
    side = serializers.ChoiceField(choices=("left", "right", "same"))


class ListsBody(serializers.Serializer):
    """Two lists without the systems' names."""

    query = QueryShown()
    comparison = serializers.UUIDField(source="candidate.run.uuid", help_text="Send it with the preference.")
    left = DocumentShown(many=True)
    right = DocumentShown(many=True)
    done = serializers.IntegerField()
    planned = serializers.IntegerField()


class OfJudge(InDecision):
    """Base of the calls that compare whole lists."""

    reads = writes = access.EVERYBODY
    also = (409,)

    def judge(self) -> ListJudge:
        return list_preferences.join(self.decision(), self.user)


class NextLists(OfJudge):
    @call("Get the next two lists", responses={200: ListsBody, 204: None}, request=None)
    def post(self) -> Response:
        """Return the next query with its two lists, blind and on random sides, or 204 at the end. The caller
        can no longer rate documents of these queries."""
        shown = list_preferences.next_lists(self.judge())
        return self.respond(ListsBody, shown) if shown else Response(status=204)


class Preferences(OfJudge):
    @call("Prefer one of two lists", body=PreferenceSent)
    def post(self, body: dict[str, Any]) -> Response:
        """Record which list is better; a later preference for the same lists replaces it."""
        judge = self.judge()
        query = access.existing(
            self.collection.queries.filter(query_id=body["query"]), "This collection has no such query."
        )
        candidates = judge.decision.candidates.filter(run__uuid=body["comparison"])
        candidate = access.existing(candidates, "This decision has no such comparison.")
        list_preferences.prefer(judge, candidate, query, side=body["side"])
        return Response(status=204)

    @call("Undo the last preference")
    def delete(self) -> Response:
        list_preferences.undo(self.judge())
        return Response(status=204)


class Trace(AnyAccept, InDecision):
    """The state after each judged query."""

    @call(
        "Download the trace of a decision",
        responses={(200, "application/x-ndjson"): OpenApiResponse(description="One JSON line a candidate and query.")},
    )
    def get(self) -> HttpResponse:
        """Return the lines of `assay decide --trace` for each candidate, with its name."""
        row = self.decision()
        if not findings.visible(self.user, row):
            raise NotAllowed(HIDDEN)
        lines = []
        for one in row.candidates.select_related("run"):
            for step in live.standing(row, one.run).outcome.to_rows():
                lines.append(json.dumps({"candidate": one.run.name, **step}, ensure_ascii=False) + "\n")
        return attachment("trace.jsonl", "".join(lines))
