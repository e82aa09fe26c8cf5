"""API of comparisons of two runs, or of all scored runs, on a snapshot."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation import blindness, comparison, leaderboard, stored_scores
from evaluation.api.scores import FreshnessSaid, QrelsOfScores
from evaluation.comparison import named
from evaluation.models import Scoring
from judgments import snapshots
from judgments.api.endpoint import InCollection
from judgments.core.errors import NotFound, NotValid
from judgments.models import Collection, Snapshot

TRAFFIC = "traffic"


class PairBody(serializers.Serializer):
    """Run b against run a; null with a reason where something is undefined."""

    metric = serializers.CharField()
    a = serializers.CharField()
    b = serializers.CharField()
    difference = serializers.FloatField(help_text="The mean of b less that of a.")
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    p_corrected = serializers.FloatField(allow_null=True, help_text="Within all pairs of the snapshot’s runs.")
    effect = serializers.FloatField(allow_null=True)
    wins = serializers.IntegerField(help_text="Queries on which b is better.")
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    queries = serializers.IntegerField()
    detectable = serializers.FloatField(allow_null=True)
    queries_needed = serializers.IntegerField(allow_null=True, help_text="To see this difference 4 times in 5.")
    reason = serializers.CharField(required=False)


class FileBody(serializers.Serializer):
    """The file of a run."""

    path = serializers.CharField()
    sha256 = serializers.CharField()


class ComparisonBody(serializers.Serializer):
    """The shape of `assay compare --format json`, with the snapshot's id."""

    snapshot = serializers.UUIDField()
    runs = serializers.DictField(child=serializers.DictField(child=serializers.FloatField()))
    groups = serializers.DictField(help_text="By metric: runs that share a letter do not differ.")
    pairs = PairBody(many=True)
    rankings = serializers.ListField(child=serializers.DictField())
    settings = serializers.DictField()
    qrels = QrelsOfScores()
    files = serializers.DictField(child=FileBody())
    left_out = serializers.IntegerField(help_text="Queries of which documents are still the caller’s to grade.")
    freshness = FreshnessSaid()


class Compare(InCollection):
    """Two runs of a snapshot, or all of them, query by query."""

    serializer_class = ComparisonBody
    tag = "scores"

    @extend_schema(
        summary="Compare runs",
        parameters=[
            OpenApiParameter("a", str, description="The baseline, by id or name; all pairs where no run is named."),
            OpenApiParameter("b", str, description="The candidate, by id or name."),
            OpenApiParameter("metric", str, description="One that they were scored with; the first one when left out."),
            OpenApiParameter("weight", str, enum=[TRAFFIC], description="Count each query by its traffic."),
            OpenApiParameter("snapshot", uuid_module.UUID, description="The newest that was scored on when left out."),
        ],
        responses=ComparisonBody,
        examples=[OpenApiExample("One pair", {"pairs": [{"a": "bm25", "b": "neural", "p": 0.004}]})],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The numbers of `assay compare` on the snapshot's exported labels and the runs' files."""
        asked = request.query_params
        weight = asked.get("weight", "")
        if weight not in ("", TRAFFIC):
            raise NotValid(f"There is no weight called {weight}.", {"weight": f"{TRAFFIC}, or nothing."})
        metric, having, withheld = comparable(self.collection, request)
        names = asked.get("a", ""), asked.get("b", "")
        a, b = pair_named(having, *names)
        result = comparison.compare(a, b, metric, others=having, withheld=withheld, weighted=bool(weight))
        body = comparison.as_json(result, every_pair=not any(names))
        return Response(snapshots.told_to(request.user, self.collection, body))


def comparable(collection: Collection, request: Request) -> tuple[str, list[Scoring], frozenset[str]]:
    """Which metric is asked for, which runs were scored with it, which queries are kept from the caller."""
    asked = request.query_params
    snapshot = snapshot_scored(collection, asked.get("snapshot", ""))
    withheld = blindness.withheld_queries(request.user, snapshot)
    found = stored_scores.scorings_of(snapshot, left_out=withheld)
    metric = metric_named(found, asked.get("metric", ""))
    having = [row.scoring for row in leaderboard.rows(found, metric) if row.score]
    if len(having) < 2:
        said = f"Fewer than two runs were scored with {metric} on this snapshot."
        raise NotValid(said, {"metric": said})
    return metric, having, withheld


def snapshot_scored(collection: Collection, uuid: str) -> Snapshot:
    """The snapshot with this id, or the newest one, that runs were scored on."""
    rows = collection.snapshots.filter(scorings__isnull=False).distinct().order_by("-created_at", "-pk")
    found = next((row for row in rows if not uuid or str(row.uuid) == uuid), None)
    if found is None:
        raise NotFound("No such snapshot of this collection was scored on.")
    return found


def metric_named(found: Sequence[Scoring], name: str) -> str:
    """The metric of this name, or the first one; refused where no run was scored with it."""
    known = stored_scores.metrics_of(found)
    if name not in ("", *known):
        raise NotValid(f"No run was scored with {name}.", {"metric": f"One of {', '.join(known)}."})
    return name or known[0]


def pair_named(found: Sequence[Scoring], a: str, b: str) -> tuple[Scoring, Scoring]:
    """The runs that are named; the first two by name where none is."""
    if not a and not b:
        first, second, *_ = sorted(found, key=lambda one: one.run.name)
        return first, second
    first, second = named(found, a), named(found, b)
    if first is not None and second is not None and first != second:
        return first, second
    known = f"One of {', '.join(row.run.name for row in found)}."
    errors = {key: known for key, one in (("a", first), ("b", second)) if one is None}
    raise NotValid("A comparison needs two runs, by id or name.", errors or {"b": "Another run than a."})
