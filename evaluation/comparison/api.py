"""API of comparisons of two runs, or of all scored runs, on a snapshot, and of decision-critical pairs."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence

from drf_spectacular.utils import OpenApiExample, OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound, NotValid
from evaluation.comparison import comparison, decision_critical
from evaluation.comparison.comparison import named
from evaluation.models import Scoring
from evaluation.scoring import leaderboard, stored_scores
from evaluation.scoring.api import FreshnessSaid, QrelsOfScores
from judgments.models import Collection, Snapshot
from judgments.snapshots import snapshots
from judgments.web.endpoints import InCollection, call

TRAFFIC = "traffic"
SCORED = OpenApiParameter(
    "snapshot", uuid_module.UUID, description="The snapshot; by default the newest one with scores."
)


class PairBody(serializers.Serializer):
    """Run b compared with run a. Undefined values are null, with a reason."""

    metric = serializers.CharField()
    a = serializers.CharField()
    b = serializers.CharField()
    difference = serializers.FloatField(help_text="Mean of b minus mean of a.")
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    p_corrected = serializers.FloatField(
        allow_null=True, help_text="P-value corrected for all pairs of the snapshot’s runs."
    )
    effect = serializers.FloatField(allow_null=True)
    wins = serializers.IntegerField(help_text="Number of queries on which b is better.")
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    queries = serializers.IntegerField()
    detectable = serializers.FloatField(allow_null=True)
    queries_needed = serializers.IntegerField(
        allow_null=True, help_text="Number of queries needed to detect this difference with 80% power."
    )
    reason = serializers.CharField(required=False)


class FileBody(serializers.Serializer):
    """The downloaded file of a run."""

    path = serializers.CharField()
    sha256 = serializers.CharField()


class ComparisonBody(serializers.Serializer):
    """The format of `assay compare --format json`, with the snapshot's id."""

    snapshot = serializers.UUIDField()
    runs = serializers.DictField(child=serializers.DictField(child=serializers.FloatField()))
    groups = serializers.DictField(
        help_text="Letters by metric; runs that share a letter are not significantly different."
    )
    pairs = PairBody(many=True)
    rankings = serializers.ListField(child=serializers.DictField())
    settings = serializers.DictField()
    qrels = QrelsOfScores()
    files = serializers.DictField(child=FileBody())
    left_out = serializers.IntegerField(
        help_text="Queries left out because the caller may still grade their documents."
    )
    freshness = FreshnessSaid()


class Compare(InCollection):
    """Query-by-query comparison of two runs of a snapshot, or of all of them."""

    serializer_class = ComparisonBody
    tag = "scores"

    @call(
        "Compare runs",
        ComparisonBody,
        parameters=[
            OpenApiParameter(
                "a", str, description="The baseline, by id or name. If no run is named, all pairs of runs are compared."
            ),
            OpenApiParameter("b", str, description="The candidate, by id or name."),
            OpenApiParameter(
                "metric", str, description="A metric that the runs have scores for; by default the first."
            ),
            OpenApiParameter("weight", str, enum=[TRAFFIC], description="Whether to weight each query by its traffic."),
            SCORED,
        ],
        examples=[OpenApiExample("One pair", {"pairs": [{"a": "bm25", "b": "neural", "p": 0.004}]})],
    )
    def get(self) -> Response:
        """Return the report of `assay compare` for the snapshot's exported labels and the runs' files."""
        params = self.request.query_params
        weight = params.get("weight", "")
        if weight not in ("", TRAFFIC):
            raise NotValid(f"Unknown weight {weight!r}.", {"weight": f"Use {TRAFFIC} or leave it out."})
        metric, having, withheld = comparable(self.collection, self.request)
        names = params.get("a", ""), params.get("b", "")
        a, b = pair_named(having, *names)
        result = comparison.compare(a, b, metric, others=having, withheld=withheld, weighted=bool(weight))
        body = comparison.as_json(result, every_pair=not any(names))
        return Response(snapshots.redacted_for(self.user, self.collection, body))


def comparable(collection: Collection, request: Request) -> tuple[str, list[Scoring], frozenset[str]]:
    """Return the requested metric, the runs with scores for it, and the queries hidden from the caller."""
    params = request.query_params
    snapshot = snapshot_scored(collection, params.get("snapshot", ""))
    withheld = snapshots.withheld_queries(request.user, snapshot)
    scorings = stored_scores.scorings_of(snapshot, left_out=withheld)
    metric = metric_named(scorings, params.get("metric", ""))
    having = [row.scoring for row in leaderboard.rows(scorings, metric) if row.score]
    if len(having) < 2:
        message = f"Fewer than two runs have scores for {metric} on this snapshot. Score the runs first."
        raise NotValid(message, "metric")
    return metric, having, withheld


def snapshot_scored(collection: Collection, uuid: str) -> Snapshot:
    """Return the snapshot with this id, or the newest one with scores."""
    rows = collection.snapshots.filter(scorings__isnull=False).distinct().order_by("-created_at", "-pk")
    snapshot = next((row for row in rows if not uuid or str(row.uuid) == uuid), None)
    if snapshot is None:
        raise NotFound("This collection has no such snapshot with scores.")
    return snapshot


def metric_named(scorings: Sequence[Scoring], name: str) -> str:
    """Return the metric with this name, or the first metric."""
    known = stored_scores.metrics_of(scorings)
    if name not in ("", *known):
        raise NotValid(f"No run has scores for {name}.", {"metric": f"One of {', '.join(known)}."})
    return name or known[0]


def pair_named(scorings: Sequence[Scoring], a: str, b: str) -> tuple[Scoring, Scoring]:
    """Return the named runs, or the first two by name."""
    if not a and not b:
        first, second, *_ = sorted(scorings, key=lambda one: one.run.name)
        return first, second
    first, second = named(scorings, a), named(scorings, b)
    if first is not None and second is not None and first != second:
        return first, second
    known = f"One of {', '.join(row.run.name for row in scorings)}."
    errors = {key: known for key, one in (("a", first), ("b", second)) if one is None}
    raise NotValid("A comparison needs two runs, by id or name.", errors or {"b": "Name a run other than `a`."})


class TurningPairBody(serializers.Serializer):
    """An unjudged pair that could help reverse the comparison. Grade and ranks are null while the caller may still
    grade it."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    grade = serializers.FloatField(allow_null=True, help_text="The grade that would help to reverse the comparison.")
    rank_a = serializers.IntegerField(allow_null=True)
    rank_b = serializers.IntegerField(allow_null=True)
    state = serializers.ChoiceField([decision_critical.OPEN, decision_critical.GRADED, decision_critical.YOURS])


class TurningBody(serializers.Serializer):
    """The judgments that could reverse the comparison."""

    metric = serializers.CharField()
    a = serializers.CharField()
    b = serializers.CharField()
    difference = serializers.FloatField(help_text="Mean of b minus mean of a, with equal weights for all queries.")
    winner = serializers.CharField(allow_null=True)
    turns = serializers.BooleanField(
        allow_null=True,
        help_text="Whether the pairs could reverse the comparison; null if unknown or if the means are equal.",
    )
    exact = serializers.BooleanField(help_text="Whether no smaller set of pairs could reverse the comparison.")
    at_least = serializers.IntegerField(allow_null=True)
    difference_after = serializers.FloatField(allow_null=True)
    most = serializers.FloatField(help_text="The largest possible change of the difference from unjudged pairs.")
    unjudged = serializers.IntegerField()
    queries = serializers.IntegerField()
    reason = serializers.CharField(allow_null=True)
    number = serializers.IntegerField()
    hours = serializers.FloatField()
    seconds = serializers.FloatField(help_text="Seconds per judgment at the collection’s own pace.")
    sentence = serializers.CharField()
    pairs = TurningPairBody(many=True)
    freshness = FreshnessSaid()


class Turning(InCollection):
    """The fewest unjudged pairs that could reverse the comparison."""

    serializer_class = TurningBody
    tag = "scores"

    @call(
        "List decision-critical pairs",
        TurningBody,
        parameters=[
            OpenApiParameter("a", str, description="The baseline, by id or name; by default the first run."),
            OpenApiParameter("b", str, description="The candidate, by id or name; by default the second run."),
            OpenApiParameter(
                "metric", str, description="A metric that both runs have scores for; by default the first."
            ),
            SCORED,
        ],
        examples=[OpenApiExample("Twelve pairs", {"winner": "bm25", "turns": True, "number": 12, "exact": True})],
    )
    def get(self) -> Response:
        """Return the report of `assay compare --turning` for the exported labels."""
        params = self.request.query_params
        metric, having, withheld = comparable(self.collection, self.request)
        a, b = pair_named(having, params.get("a", ""), params.get("b", ""))
        result = decision_critical.turn(a, b, metric, withheld=withheld)
        pairs = decision_critical.visible_pairs(self.user, self.collection, result)
        return Response(decision_critical.as_json(result, pairs, a.snapshot))
