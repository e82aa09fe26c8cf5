"""API of runs: upload, list, change and download them."""

from __future__ import annotations

import uuid as uuid_module
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access
from judgments.api.endpoint import InCollection
from judgments.api.import_bodies import FileSent, Reading, documented
from judgments.api.imports import Imports
from judgments.api.posted import PostedFile, number_of, scored_lines, trec_lines, whole_number_of
from judgments.api.strict import Strict
from judgments.core.errors import NotValid
from judgments.judges.families import LONGEST
from judgments.views.downloads import disposition
from pooling import run_families, run_files, run_health, runs
from pooling.models import Run


class ResultSent(serializers.Serializer):
    """One document that a system returned."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    score = serializers.FloatField()
    rank = serializers.IntegerField(required=False, help_text="Compared with the scores; these decide.")


class RunReading(Reading):
    """How to read and store a run that is sent as a list."""

    generator_family = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST, help_text=run_families.HELP
    )


class RunFileSent(RunReading, FileSent):
    """A run as a file."""


class DeclaredSent(Strict):
    """What can be changed about a stored run."""

    generator_family = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST, help_text=run_families.HELP
    )
    baseline = serializers.BooleanField(
        required=False, help_text="Whether this is the run that the others are compared with; a collection has one."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError("Send generator_family, baseline or both.")
        return attrs


class RunBody(serializers.Serializer):
    """A run and what is known about it."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    description = serializers.CharField()
    generator_family = serializers.CharField(
        help_text="Of its language model, as declared; `none` where none has a part."
    )
    baseline = serializers.BooleanField(help_text="Whether the other runs are compared with this one.")
    sha256 = serializers.CharField(help_text="Of the file as it came.")
    content_sha256 = serializers.CharField(
        help_text="Of what the run says, whatever the format and the order of its rows; empty for a run of old."
    )
    rows = serializers.IntegerField()
    queries = serializers.IntegerField()
    depth = serializers.IntegerField()
    health = serializers.JSONField(help_text="Depths, ties, queries that it leaves out.")
    created_at = serializers.DateTimeField()


@extend_schema_view(
    get=extend_schema(summary="The runs", parameters=[OpenApiParameter("name")]),
    post=documented(
        "Send a run", ResultSent, [{"query_id": "q1", "doc_id": "d1", "score": 9.1}], RunReading, RunFileSent
    ),
)
class Runs(Imports):
    """The runs of a collection. A posted list needs `?name=`."""

    kind = "runs"
    queryset = Run.objects.defer("report").order_by("name")
    serializer_class = RunBody
    reading, file_sent = RunReading, RunFileSent
    filters = {"name": "name"}
    tag = "runs"

    def as_file(self, rows: Sequence[Any], asked: dict[str, Any]) -> PostedFile:
        if not asked.get("name"):
            message = "A posted list has no file name: say what the run is called."
            raise NotValid(message, {"name": "Add ?name=bm25 to the address."})
        if not any(isinstance(row, Mapping) and row.get("rank") is not None for row in rows):
            return scored_lines("run-jsonl", rows)
        tag = "-".join(asked["name"].split())
        places: Counter[Any] = Counter()

        def rest(number: int, row: Mapping[str, Any]) -> tuple[str, str]:
            places[row["query_id"]] += 1
            rank = row.get("rank")
            told = whole_number_of(number, row, "rank") if rank is not None else places[row["query_id"]]
            return "Q0", f"{told} {number_of(number, row, 'score')!r} {tag}"

        return trec_lines("trec-run", rows, rest)


class InRun(InCollection):
    """An address below ``runs/<uuid>/``."""

    run: Run
    tag = "runs"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        rows = Run.objects.filter(collection=self.collection).select_related("collection")
        self.run = access.reach(rows, request.user, self.roles, uuid=str(kwargs["uuid"]))


class OneRun(InRun):
    """One run."""

    serializer_class = RunBody
    writes = access.STAFF

    @extend_schema(summary="One run")
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        return self.told(RunBody, self.run)

    @extend_schema(summary="Change a run's model family or make it the baseline", request=DeclaredSent)
    def patch(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Judges of the declared family are warned of. Scores and comparisons start from the baseline."""
        asked = self.sent(DeclaredSent)
        with transaction.atomic():
            if "generator_family" in asked:
                run_families.declare(self.run, family=asked["generator_family"], actor=request.user)
            if asked.get("baseline", self.run.baseline) != self.run.baseline:
                runs.set_baseline(self.collection, self.run if asked["baseline"] else None, actor=request.user)
        self.run.refresh_from_db()
        return self.told(RunBody, self.run)


class RunHealth(InRun):
    """Whether a run can be trusted."""

    @extend_schema(summary="A run's health", responses={200: dict})
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Depths, ties, ranks against scores, queries left out, what is unjudged, and how alike other runs are."""
        return Response(run_health.look(self.run).as_json())


class RunFile(InRun):
    """A run as a file."""

    @extend_schema(
        summary="Download a run",
        parameters=[OpenApiParameter("run_format", str, OpenApiParameter.PATH, enum=[*run_files.FILES])],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID, run_format: str) -> StreamingHttpResponse:
        """As TREC run, CSV or Parquet, queries in order and each one's documents as metrics read them."""
        name, body = run_files.export(self.run, run_format)
        answer = StreamingHttpResponse(body, content_type="application/octet-stream")
        answer.headers["Content-Disposition"] = disposition(name)
        return answer

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """A file comes as what it is, whatever the caller says to prefer."""
        return super().perform_content_negotiation(request, force=True)
