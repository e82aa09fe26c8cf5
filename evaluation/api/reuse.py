"""API of reusability: how reliable a snapshot is for systems that did not contribute to its pool."""

from __future__ import annotations

import uuid as uuid_module

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation import blindness
from evaluation import reuse as reuses
from evaluation.api.scores import FreshnessSaid
from evaluation.usual_metrics import relevant_from
from evaluation.views.scores import chosen_snapshot
from judgments import snapshots
from judgments.api.endpoint import InCollection
from judgments.core.errors import NotFound, NotValid


class HurtBody(serializers.Serializer):
    """A run that is left out, with the labels as they are and as they were without it."""

    run = serializers.CharField()
    score = serializers.FloatField(allow_null=True)
    score_without = serializers.FloatField(allow_null=True)
    change = serializers.FloatField(allow_null=True)
    rank = serializers.IntegerField(allow_null=True)
    rank_without = serializers.IntegerField(allow_null=True)
    judged = serializers.FloatField(allow_null=True, help_text="Mean Judged@10.")
    judged_without = serializers.FloatField(allow_null=True)


class LeftOutBody(serializers.Serializer):
    """A run or a group of runs that is thought away from the pool."""

    name = serializers.CharField()
    contributed = serializers.IntegerField(help_text="Judged pairs that it returned within the depth of the pool.")
    unique = serializers.IntegerField(help_text="Those that no other contributor returned.")
    unique_relevant = serializers.IntegerField()
    queries = serializers.IntegerField()
    tau = serializers.FloatField(allow_null=True, help_text="Of the orders of all runs with and without it.")
    reason = serializers.CharField(allow_null=True)
    worst = serializers.FloatField(allow_null=True)
    ranks_lost = serializers.IntegerField(allow_null=True)
    runs = HurtBody(many=True)


class MissedBody(serializers.Serializer):
    """How many relevant documents the runs return that nobody judged; null with a reason where it is not known."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    level = serializers.FloatField()
    method = serializers.ChoiceField(["residual", "curve"])
    found = serializers.IntegerField()
    share_found = serializers.FloatField(allow_null=True)
    unjudged = serializers.IntegerField()
    queries = serializers.IntegerField()
    reason = serializers.CharField(allow_null=True)
    notes = serializers.ListField(child=serializers.CharField())


class DepthBody(serializers.Serializer):
    """What the contributors return down to a rank."""

    depth = serializers.IntegerField()
    pooled = serializers.IntegerField()
    judged = serializers.IntegerField()
    relevant = serializers.IntegerField()


class DiscoveryBody(serializers.Serializer):
    """The curve of relevant documents over pairs."""

    whole = serializers.IntegerField(help_text="Down to this rank at least 95 % are judged.")
    depth = serializers.IntegerField()
    steps = DepthBody(many=True)


class ReuseBody(serializers.Serializer):
    """How good the collection is for new systems."""

    snapshot = serializers.UUIDField()
    name = serializers.CharField()
    content_sha256 = serializers.CharField(allow_null=True)
    metric = serializers.CharField()
    relevant_from = serializers.FloatField()
    depth = serializers.IntegerField(allow_null=True, help_text="Down to which rank a run counts as a contributor.")
    depth_told = serializers.BooleanField(help_text="Whether that is the depth of a pool; else read off the labels.")
    contributors = serializers.ListField(child=serializers.CharField())
    left_out = LeftOutBody(many=True)
    groups = LeftOutBody(many=True)
    reason = serializers.CharField(allow_null=True)
    missed = MissedBody()
    discovery = DiscoveryBody()
    judged = serializers.DictField(child=serializers.DictField(child=serializers.FloatField(allow_null=True)))
    left_out_queries = serializers.IntegerField(help_text="Queries of which the caller may still grade documents.")
    freshness = FreshnessSaid()


class Reuse(InCollection):
    """Runs left out of the pool, what judging missed, how much of each run is judged."""

    serializer_class = ReuseBody
    tag = "scores"

    @extend_schema(
        summary="How good is the collection",
        parameters=[
            OpenApiParameter("metric", str, description="One metric; the first one that was scored when left out."),
            OpenApiParameter("snapshot", uuid_module.UUID, description="The newest when left out."),
            OpenApiParameter("together", str, many=True, description="Runs to leave out as one group, by id or name."),
            OpenApiParameter(
                "relevant",
                float,
                description="The lowest grade that counts as relevant; the scale’s own when left out.",
            ),
        ],
        responses=ReuseBody,
        examples=[
            OpenApiExample("Two runs", {"metric": "nDCG@10", "missed": {"value": 18.0, "low": 4.1, "high": 52.0}})
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The shape of `assay reuse --format json`; contributors and depth are those of the snapshot's pools."""
        asked = request.query_params
        snapshot = chosen_snapshot(self.collection, asked.get("snapshot", ""))
        if snapshot is None:
            raise NotFound("This collection has no snapshot yet.")
        withheld = blindness.withheld_queries(request.user, snapshot)
        found = reuses.look(
            snapshot,
            asked.get("metric", "") or reuses.metrics_of(snapshot)[0],
            together=reuses.names_asked(self.collection, asked.getlist("together")),
            relevant_from=_grade(asked.get("relevant", "") or str(relevant_from(snapshot))),
            withheld=withheld,
        )
        body = reuses.as_json(snapshot, found, len(withheld))
        return Response(snapshots.told_to(request.user, self.collection, body))


def _grade(text: str) -> float:
    try:
        grade = float(text)
    except ValueError:
        grade = 0.0
    if not 0 < grade < float("inf"):
        raise NotValid(f"{text} is no grade.", {"relevant": "A number above 0, such as 1."})
    return grade
