"""How do systems' runs go in and out?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers

from judgments.api.import_bodies import documented
from judgments.api.imports import Imports
from judgments.api.posted import PostedFile, number_of, trec_lines, whole_number_of
from judgments.core.errors import NotValid
from pooling.models import Run


class ResultSent(serializers.Serializer):
    """One document that a system returned."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    score = serializers.FloatField()
    rank = serializers.IntegerField(required=False, help_text="Compared with the scores; these decide.")


class RunBody(serializers.Serializer):
    """A run and what is known about it."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    description = serializers.CharField()
    sha256 = serializers.CharField()
    rows = serializers.IntegerField()
    queries = serializers.IntegerField()
    depth = serializers.IntegerField()
    health = serializers.JSONField(help_text="Depths, ties, queries that it leaves out.")
    created_at = serializers.DateTimeField()


@extend_schema_view(
    get=extend_schema(summary="The runs", parameters=[OpenApiParameter("name")]),
    post=documented("Send a run", ResultSent, [{"query_id": "q1", "doc_id": "d1", "score": 9.1}]),
)
class Runs(Imports):
    """The runs of a collection. A posted list needs `?name=`."""

    kind = "runs"
    queryset = Run.objects.defer("report").order_by("name")
    serializer_class = RunBody
    filters = {"name": "name"}
    tag = "runs"

    def as_file(self, rows: Sequence[Any], asked: dict[str, Any]) -> PostedFile:
        if not asked.get("name"):
            message = "A posted list has no file name: say what the run is called."
            raise NotValid(message, {"name": "Add ?name=bm25 to the address."})
        tag = "-".join(asked["name"].split())
        places: Counter[Any] = Counter()

        def rest(number: int, row: Mapping[str, Any]) -> tuple[str, str]:
            places[row["query_id"]] += 1
            rank = row.get("rank")
            told = whole_number_of(number, row, "rank") if rank is not None else places[row["query_id"]]
            return "Q0", f"{told} {number_of(number, row, 'score')!r} {tag}"

        return trec_lines("trec-run", rows, rest)
