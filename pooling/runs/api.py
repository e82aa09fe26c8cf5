"""API of runs: upload, list, change and download them."""

from __future__ import annotations

import hashlib
import uuid as uuid_module
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotValid
from assay.llm.judges.model_families import LONGEST
from judgments.imports.api import FileSent, Imports, Reading, documented
from judgments.imports.posted_lists import PostedFile, number_of, scored_lines, trec_lines, whole_number_of
from judgments.web import access
from judgments.web.downloads import resumable
from judgments.web.endpoints import AnyAccept, InCollection, file_responses
from judgments.web.serializers import Strict
from pooling.models import Run
from pooling.runs import downloads, runs
from pooling.runs import health as run_health
from pooling.runs import runs as model_families


class ResultInput(serializers.Serializer):
    """One document that a system returned."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    score = serializers.FloatField()
    rank = serializers.IntegerField(required=False, help_text="Checked against the scores, which determine the order.")


class RunReading(Reading):
    """How to read and store a run posted as a list."""

    generator_family = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST, help_text=model_families.HELP
    )


class RunFileInput(RunReading, FileSent):
    """A run as a file."""


class RunChange(Strict):
    """The fields of a stored run that can be changed."""

    generator_family = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST, help_text=model_families.HELP
    )
    baseline = serializers.BooleanField(
        required=False, help_text="Whether other runs are compared with this one; a collection has one baseline."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError("Send `generator_family`, `baseline`, or both.")
        return attrs


class RunBody(serializers.Serializer):
    """A run and its statistics."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    description = serializers.CharField()
    generator_family = serializers.CharField(
        help_text="The declared family of its language model; `none` if it uses none."
    )
    baseline = serializers.BooleanField(help_text="Whether other runs are compared with this one.")
    sha256 = serializers.CharField(help_text="Hash of the uploaded file.")
    content_sha256 = serializers.CharField(
        help_text="Hash of the content, independent of the format and the order of rows; empty for an older run."
    )
    rows = serializers.IntegerField()
    queries = serializers.IntegerField()
    depth = serializers.IntegerField()
    health = serializers.JSONField(help_text="Depths, ties, missing queries.")
    created_at = serializers.DateTimeField()


@extend_schema_view(
    get=extend_schema(summary="List runs"),
    post=documented(
        "Upload a run", ResultInput, [{"query_id": "q1", "doc_id": "d1", "score": 9.1}], RunReading, RunFileInput
    ),
)
class Runs(Imports):
    """The runs of a collection. A posted list needs `?name=`."""

    kind = "runs"
    queryset = Run.objects.defer("report").order_by("name")
    serializer_class = RunBody
    reading, file_serializer = RunReading, RunFileInput
    filters = {"name": "name"}
    ordering = {"name": "name", "created_at": "created_at"}
    tag = "runs"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        if not options.get("name"):
            message = "A posted list has no file name. Give the run a name."
            raise NotValid(message, {"name": "Add ?name=bm25 to the URL."})
        if not any(isinstance(row, Mapping) and row.get("rank") is not None for row in rows):
            return scored_lines("run-jsonl", rows)
        tag = "-".join(options["name"].split())
        places: Counter[Any] = Counter()

        def rest(number: int, row: Mapping[str, Any]) -> tuple[str, str]:
            places[row["query_id"]] += 1
            rank = row.get("rank")
            rank_text = whole_number_of(number, row, "rank") if rank is not None else places[row["query_id"]]
            return "Q0", f"{rank_text} {number_of(number, row, 'score')!r} {tag}"

        return trec_lines("trec-run", rows, rest)


class InRun(InCollection):
    """Base class of endpoints below ``runs/<uuid>/``."""

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

    @extend_schema(summary="Get a run")
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        return self.respond(RunBody, self.run)

    @extend_schema(summary="Change a run's model family or make it the baseline", request=RunChange)
    def patch(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Judges of the declared family get a warning. Scores and comparisons use the baseline as their reference."""
        fields = self.read_body(RunChange)
        with transaction.atomic():
            if "generator_family" in fields:
                model_families.declare(self.run, family=fields["generator_family"], actor=request.user)
            if fields.get("baseline", self.run.baseline) != self.run.baseline:
                runs.set_baseline(self.collection, self.run if fields["baseline"] else None, actor=request.user)
        self.run.refresh_from_db()
        return self.respond(RunBody, self.run)


class RunHealth(InRun):
    """The health of a run."""

    @extend_schema(summary="Get a run's health", responses={200: dict})
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Return depths, ties, ranks that contradict scores, missing queries, unjudged documents, and the similarity to
        other runs."""
        return Response(run_health.check(self.run).as_json())


class RunFile(AnyAccept, InRun):
    """A run as a file."""

    @extend_schema(
        summary="Download a run",
        parameters=[OpenApiParameter("run_format", str, OpenApiParameter.PATH, enum=[*downloads.FILES])],
        responses=file_responses("run", "csv"),
    )
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID, run_format: str) -> HttpResponseBase:
        """Return the run as TREC run, CSV or Parquet. Queries keep their order; documents are in the order that metrics
        use. `Range` with `If-Range` continues an interrupted download."""
        name = downloads.filename(self.run, run_format)
        # A TREC file contains the run's name.
        version = f"{self.run.uuid}-{run_format}-{hashlib.sha256(self.run.name.encode()).hexdigest()[:12]}"
        return resumable(request, name, lambda: downloads.export(self.run, run_format)[1], version)
