"""API of reusability: how reliable a snapshot is for systems that did not contribute to its pool."""

from __future__ import annotations

import uuid as uuid_module

from drf_spectacular.utils import OpenApiExample, OpenApiParameter
from rest_framework import serializers
from rest_framework.response import Response

from assay.core.errors import NotValid
from evaluation.freshness.api import requested_snapshot
from evaluation.reuse import reuse as reusability
from evaluation.scoring.api import FreshnessSaid
from evaluation.scoring.scoring import relevant_from
from judgments.snapshots import snapshots
from judgments.web.endpoints import InCollection, call


class HurtBody(serializers.Serializer):
    """A left-out run, scored with all labels and without the labels that only it contributed."""

    run = serializers.CharField()
    score = serializers.FloatField(allow_null=True)
    score_without = serializers.FloatField(allow_null=True)
    change = serializers.FloatField(allow_null=True)
    rank = serializers.IntegerField(allow_null=True)
    rank_without = serializers.IntegerField(allow_null=True)
    judged = serializers.FloatField(allow_null=True, help_text="The run's mean Judged@10.")
    judged_without = serializers.FloatField(allow_null=True)


class LeftOutBody(serializers.Serializer):
    """A run, or a group of runs, left out of the pool."""

    name = serializers.CharField()
    contributed = serializers.IntegerField(
        help_text="Number of judged pairs that the run returned within the pool depth."
    )
    unique = serializers.IntegerField(help_text="Number of judged pairs that no other contributing run returned.")
    unique_relevant = serializers.IntegerField()
    queries = serializers.IntegerField()
    tau = serializers.FloatField(
        allow_null=True, help_text="Kendall's tau-b of the rankings of all runs with and without these labels."
    )
    reason = serializers.CharField(allow_null=True)
    worst = serializers.FloatField(allow_null=True)
    ranks_lost = serializers.IntegerField(allow_null=True)
    runs = HurtBody(many=True)


class MissedBody(serializers.Serializer):
    """Estimated number of relevant documents that the runs return without a label; null with a reason if unknown."""

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
    """The contributors' documents down to a rank."""

    depth = serializers.IntegerField()
    pooled = serializers.IntegerField()
    judged = serializers.IntegerField()
    relevant = serializers.IntegerField()


class DiscoveryBody(serializers.Serializer):
    """The discovery curve: relevant documents by number of judged pairs."""

    whole = serializers.IntegerField(help_text="At least 95% of the documents down to this rank are judged.")
    depth = serializers.IntegerField()
    steps = DepthBody(many=True)


class ReuseBody(serializers.Serializer):
    """How reliable the collection is for new systems."""

    snapshot = serializers.UUIDField()
    name = serializers.CharField()
    content_sha256 = serializers.CharField(allow_null=True)
    metric = serializers.CharField()
    relevant_from = serializers.FloatField()
    depth = serializers.IntegerField(allow_null=True, help_text="The rank down to which a run counts as a contributor.")
    depth_told = serializers.BooleanField(
        help_text="Whether the depth comes from a pool; otherwise it is inferred from the labels."
    )
    contributors = serializers.ListField(child=serializers.CharField())
    left_out = LeftOutBody(many=True)
    groups = LeftOutBody(many=True)
    reason = serializers.CharField(allow_null=True)
    missed = MissedBody()
    discovery = DiscoveryBody()
    judged = serializers.DictField(child=serializers.DictField(child=serializers.FloatField(allow_null=True)))
    left_out_queries = serializers.IntegerField(
        help_text="Queries left out because the caller may still grade their documents."
    )
    freshness = FreshnessSaid()


class Reuse(InCollection):
    """Leave-one-run-out scores, missed relevant documents, and judged shares of each run."""

    serializer_class = ReuseBody
    tag = "scores"

    @call(
        "Get the reusability of a snapshot",
        ReuseBody,
        parameters=[
            OpenApiParameter("metric", str, description="One metric; by default the first metric with scores."),
            OpenApiParameter("snapshot", uuid_module.UUID, description="The snapshot; by default the newest one."),
            OpenApiParameter("together", str, many=True, description="Runs to leave out as one group, by id or name."),
            OpenApiParameter(
                "relevant",
                float,
                description="The lowest grade that counts as relevant; by default the scale’s.",
            ),
        ],
        examples=[
            OpenApiExample("Two runs", {"metric": "nDCG@10", "missed": {"value": 18.0, "low": 4.1, "high": 52.0}})
        ],
    )
    def get(self) -> Response:
        """Return the report of `assay reuse --format json`. Contributors and depth come from the snapshot's pools."""
        params = self.request.query_params
        snapshot = requested_snapshot(self.collection, self.request)
        withheld = snapshots.withheld_queries(self.user, snapshot)
        result = reusability.look(
            snapshot,
            params.get("metric", "") or reusability.metrics_of(snapshot)[0],
            together=reusability.requested_names(self.collection, params.getlist("together")),
            relevant_from=_grade(params.get("relevant", "") or str(relevant_from(snapshot))),
            withheld=withheld,
        )
        body = reusability.as_json(snapshot, result, len(withheld))
        return Response(snapshots.redacted_for(self.user, self.collection, body))


def _grade(text: str) -> float:
    try:
        grade = float(text)
    except ValueError:
        grade = 0.0
    if not 0 < grade < float("inf"):
        raise NotValid(f"{text!r} is not a grade.", {"relevant": "Enter a number above 0, such as 1."})
    return grade
