"""API endpoints to upload documents, queries, runs, logs and labels, as a file or as a list.

Both forms are processed like an upload on the pages: they are read and compared with the collection, then stored
completely or not at all.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from typing import IO, Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import Count
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import AssayError, NotValid, TooLarge, UnreadableInput
from judgments.hooks import IMPORT_KINDS
from judgments.imports import ingestion, upload_sessions
from judgments.imports.imported_rounds import IMPORTED
from judgments.imports.posted_lists import PostedFile, json_lines, labels, table
from judgments.jobs.api import Started, started
from judgments.labels import grade_visibility
from judgments.models import ApiToken, Document, Job, LabelSource, Query, Round, Upload
from judgments.queries import narratives
from judgments.web.endpoints import InCollection, Json, Rows, call
from judgments.web.error_responses import shape
from judgments.web.middleware import check_quota, coming

MOST_PROBLEMS = 100
SCALE = re.compile(r"(\d{1,3}):(\d{1,3})")


class Reading(serializers.Serializer):
    """How to read and store an upload, as form fields with a file or as query parameters."""

    name = serializers.CharField(
        required=False, max_length=200, help_text="Name of the run, query log or label source."
    )
    description = serializers.CharField(
        required=False, allow_blank=True, max_length=300, help_text="Description of the run."
    )
    accept_errors = serializers.BooleanField(
        default=False, help_text="Store the valid rows even if other rows cannot be read."
    )
    columns = serializers.CharField(required=False, help_text="Column mapping, such as `count=searches,query=term`.")
    delimiter = serializers.CharField(required=False, max_length=1, trim_whitespace=False)
    grades = serializers.CharField(
        required=False, help_text="The grade scale, such as `0:3`; grades outside it are errors."
    )
    conflicts = serializers.ChoiceField(
        required=False, choices=["first", "last", "min", "max"], help_text="Which of two contradictory rows to use."
    )
    repeated = serializers.ChoiceField(
        required=False,
        choices=["sum", "max", "first"],
        help_text="How to combine the counts of a query that appears twice.",
    )
    header = serializers.BooleanField(default=None, allow_null=True)
    snapshot = serializers.CharField(
        required=False,
        max_length=200,
        help_text="The snapshot of Quepid, or the search configuration of OpenSearch, if the file has several.",
    )
    sheet = serializers.CharField(
        required=False, max_length=31, help_text="The sheet of a workbook; by default the first one with the columns."
    )
    encoding = serializers.ChoiceField(required=False, choices=["utf-8", "latin-1"])

    def validate_columns(self, value: str) -> dict[str, str]:
        parts = [part.partition("=") for part in value.split(",")]
        if not all(ours.strip() and theirs.strip() for ours, _, theirs in parts):
            raise serializers.ValidationError("Write FIELD=COLUMN for each column, such as count=searches,query=term.")
        return {ours.strip(): theirs.strip() for ours, _, theirs in parts}

    def validate_grades(self, value: str) -> list[int]:
        match = SCALE.fullmatch(value.strip())
        if not match or int(match[1]) >= int(match[2]):
            raise serializers.ValidationError("Write the lowest and the highest grade, such as 0:3.")
        return list(range(int(match[1]), int(match[2]) + 1))


class FileSent(Reading):
    """A file in any format of its kind, optionally compressed with gzip."""

    file = serializers.FileField(
        allow_empty_file=True,
        error_messages={
            "required": "Send a file (multipart/form-data), or a JSON list.",
            "invalid": "This is not a file. Send one as multipart/form-data.",
        },
    )
    format = serializers.CharField(
        required=False, allow_blank=True, help_text="The format; detected from the content by default."
    )


class ChunksSent(serializers.Serializer):
    """A file that was sent in chunks; the fields of `Reading` are sent beside these."""

    upload = serializers.UUIDField(help_text="The id of the upload, from `uploads/`.")
    format = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="The format; detected from the content by default."
    )


class Problem(serializers.Serializer):
    """One line with an issue."""

    line = serializers.IntegerField(allow_null=True)
    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning"])
    raw = serializers.CharField()
    what = serializers.CharField()
    done = serializers.CharField()
    fix = serializers.CharField()


class ReportBody(serializers.Serializer):
    """Results of reading a file. Every row is counted once."""

    file = serializers.CharField()
    format = serializers.CharField()
    sha256 = serializers.CharField()
    bins = serializers.DictField(child=serializers.IntegerField())
    errors = serializers.IntegerField()
    warnings = serializers.IntegerField()
    problems = Problem(many=True, help_text=f"The first {MOST_PROBLEMS} issues.")


class Stored(serializers.Serializer):
    """The stored rows."""

    rows = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="Number of rows left out because their errors were accepted.")
    new = serializers.IntegerField(required=False)
    changed = serializers.IntegerField(required=False)
    id = serializers.UUIDField(required=False, help_text="Id of the run, query log or label source.")
    name = serializers.CharField(required=False)
    report = ReportBody()


def documented(
    summary: str,
    row: type[serializers.Serializer],
    example: Any,
    reading: type[Reading] = Reading,
    file_serializer: type[FileSent] = FileSent,
) -> Any:
    """Return the OpenAPI description of the POST method of one kind."""
    return extend_schema(
        summary=summary,
        description="A file (multipart), or JSON: an object with the rows or the id of an upload, or only the list of "
        "the rows. If one row cannot be read, nothing is stored.",
        parameters=[reading],
        request={"multipart/form-data": file_serializer, "application/json": _json_body(row, reading)},
        responses={201: Stored, 202: Started},
        examples=[OpenApiExample("A list", {"rows": example}, request_only=True, media_type="application/json")],
    )


def _json_body(row: type[serializers.Serializer], reading: type[Reading]) -> type[serializers.Serializer]:
    """Return the serializer that describes a JSON body of one kind: the options of reading, with rows or an upload.

    The list alone is accepted too, but a schema with both makes some generators of clients write code that fails.
    """
    upload = serializers.UUIDField(required=False, help_text="The id of an upload from `uploads/`, in place of rows.")
    fields = {"rows": row(many=True, required=False), "upload": upload, "__doc__": "Rows to import, or an upload."}
    return type(f"{row.__name__}Rows", (reading,), fields)


class Given(NamedTuple):
    """An import, as a file or as a list."""

    file: IO[bytes]
    filename: str
    format: str
    options: dict[str, Any]


class Imports(Rows):
    """One kind of file: GET lists its rows, POST takes a file or a list."""

    kind = ""
    reading: type[Reading] = Reading
    file_serializer: type[FileSent] = FileSent
    parser_classes = [Json, MultiPartParser]
    takes_files = True
    also = (409, 413, 429)

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        return IMPORT_KINDS[self.kind].roles

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        """Convert the posted list to a file of a format of this kind."""
        raise NotImplementedError

    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if isinstance(request.auth, ApiToken):
            size = int(request.META.get("CONTENT_LENGTH") or 0)
            self.held.enter_context(coming(request.user, size))
        else:
            check_quota(request.user)  # the upload quota is checked before the file is read
        if isinstance(request.data, dict) and "upload" in request.data:
            return self._of_chunks(dict(request.data.items()))
        return self._import(self._given(request))

    def _import(self, given: Given) -> Response:
        request = self.request
        try:
            upload = self._receive(given)
        except UnreadableInput as error:
            raise NotValid(str(error), "file") from error
        try:
            return self._store(upload, given.options)
        except UnreadableInput as error:
            ingestion.throw_away(upload, actor=request.user)
            return refused(str(error), upload)
        except AssayError:
            ingestion.throw_away(upload, actor=request.user)
            raise

    def _of_chunks(self, body: dict[str, Any]) -> Response:
        """Import a file that was sent in chunks; a repeated call gets the same response."""
        content = checked(ChunksSent, body)
        session = upload_sessions.session_for(self.request.user, self.collection, content["upload"])
        if session.kind != self.kind:
            raise NotValid(f"This upload is of the kind {session.kind}. Post it to the address of its kind.", "upload")
        if session.outcome is not None:
            return Response(session.outcome["body"], status=session.outcome["status"])
        options = checked(self.reading, {**self.request.query_params.dict(), **body})
        with upload_sessions.importing(session) as file:
            try:
                response = self._import(Given(file, session.filename, content.get("format", ""), options))
            except ingestion.NothingNew:
                response = Response({"rows": 0, "left_out": 0, "already": True})
        if response.status_code < 400:
            upload_sessions.finish(session, status=response.status_code, body=dict(response.data))
        else:
            upload_sessions.release(session)
        return response

    def _given(self, request: Request) -> Given:
        beside = request.query_params.dict()
        if isinstance(request.data, list):
            return self._of_list(request.data, checked(self.reading, beside))
        body = dict(request.data.items()) if isinstance(request.data, dict) else {}
        if isinstance(body.get("rows"), list):
            return self._of_list(body["rows"], checked(self.reading, {**beside, **body}))
        options = checked(self.file_serializer, {**beside, **body})
        file = options.pop("file")
        if file.size > settings.MAX_UPLOAD_BYTES:
            limit = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
            raise TooLarge(f"{file.name} is larger than {limit:,} MB, the limit of this server. Split the file.")
        return Given(file, file.name, options.pop("format", ""), options)

    def _of_list(self, rows: Sequence[Any], options: dict[str, Any]) -> Given:
        """A posted list as a file. Its name depends on its content, because sources are named after their files."""
        format, content = self.as_file(rows, options)
        filename = f"posted-{self.kind}-{hashlib.sha256(content).hexdigest()[:8]}"
        return Given(io.BytesIO(content), filename, format, options)

    def _receive(self, given: Given) -> Upload:
        options = {name: value for name, value in given.options.items() if value is not None}
        return ingestion.take_in(
            self.collection,
            kind=self.kind,
            file=given.file,
            filename=given.filename,
            actor=self.request.user,
            format=given.format,
            options={name: value for name, value in options.items() if name not in self._not_for_the_reader},
        )

    @property
    def _not_for_the_reader(self) -> set[str]:
        return {"name", "description", "accept_errors", *IMPORT_KINDS[self.kind].asks}

    def _store(self, upload: Upload, body: dict[str, Any]) -> Response:
        # As a page sends them, because a job stores a large file and its parameters are JSON.
        options = {
            name: str(value) if isinstance(value := body[name], UUID) else value
            for name in IMPORT_KINDS[self.kind].asks
            if body.get(name)
        }
        accept, actor = body["accept_errors"], self.request.user
        store = ingestion.store_soon if upload.report else ingestion.store_later
        stored = store(upload, actor=actor, accept_errors=accept, options=options)
        if isinstance(stored, Job):
            return started(stored)
        return Response({**stored, "report": report_of(upload)}, status=201)


def checked(serializer: type[serializers.Serializer], given: dict[str, Any]) -> dict[str, Any]:
    """Return the valid fields of a body."""
    fields = serializer(data=given)
    fields.is_valid(raise_exception=True)
    return dict(fields.validated_data)


def refused(message: str, upload: Upload) -> Response:
    """Return status 400 for a file with errors that were not accepted; nothing is stored."""
    body = shape(400, message, {"file": message})
    body["error"]["report"] = report_of(upload)
    return Response(body, status=400)


def report_of(upload: Upload) -> dict[str, Any]:
    """Convert the report to its API format."""
    report = upload.report
    names = list(Problem().fields)
    return {
        "file": upload.filename,
        "format": upload.format,
        "sha256": upload.sha256,
        "bins": report["bins"],
        "errors": report["error_count"],
        "warnings": report["warning_count"],
        "problems": [{name: problem[name] for name in names} for problem in report["problems"][:MOST_PROBLEMS]],
    }


class DocumentSent(serializers.Serializer):
    """A document. Other keys are stored in `fields`."""

    doc_id = serializers.CharField(help_text="The collection's own id. The keys `id` and `_id` are accepted too.")
    title = serializers.CharField(required=False)
    text = serializers.CharField(required=False)
    url = serializers.CharField(required=False)
    image = serializers.CharField(required=False)
    fields = serializers.DictField(required=False)


class DocumentBody(serializers.Serializer):
    """A stored document."""

    id = serializers.UUIDField(source="uuid")
    doc_id = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    url = serializers.CharField()
    image = serializers.CharField()
    fields = serializers.DictField()
    content_sha256 = serializers.CharField()
    stub = serializers.BooleanField(help_text="Whether only the id is known, from a run or a label.")
    changed_at = serializers.DateTimeField()


@extend_schema_view(
    get=extend_schema(summary="List documents"),
    post=documented(
        "Upload documents", DocumentSent, [{"doc_id": "d1", "title": "Fell jacket", "text": "Three layers, taped."}]
    ),
)
class Documents(Imports):
    """The documents of a collection."""

    kind = "documents"
    queryset = Document.objects.order_by("doc_id")
    serializer_class = DocumentBody
    filters = {"doc_id": "doc_id"}
    ordering = {"doc_id": "doc_id", "title": "title"}
    tag = "documents"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        return json_lines("documents-jsonl", rows)


NUMERIC = ("frequency", "clients", "probability", "weight")


class QuerySent(serializers.Serializer):
    """A query. Only its text is required."""

    query = serializers.CharField(max_length=2048)
    query_id = serializers.CharField(
        required=False, help_text="Send an id in all rows or in none. Rows without ids are numbered q001, q002, ..."
    )
    narrative = serializers.CharField(required=False, help_text="The need behind the query, shown to raters.")
    group = serializers.CharField(required=False)
    tier = serializers.ChoiceField(required=False, choices=Query.Tier.choices)
    frequency = serializers.IntegerField(required=False, allow_null=True)
    clients = serializers.IntegerField(required=False, allow_null=True)
    probability = serializers.FloatField(required=False, allow_null=True)
    weight = serializers.FloatField(required=False, allow_null=True)


class QueryBody(serializers.Serializer):
    """A stored query."""

    id = serializers.UUIDField(source="uuid")
    query_id = serializers.CharField()
    query = serializers.CharField(source="text")
    narrative = serializers.CharField()
    group = serializers.CharField()
    tier = serializers.CharField(help_text="`head`, `torso`, `tail` or empty.")
    frequency = serializers.IntegerField(allow_null=True)
    clients = serializers.IntegerField(allow_null=True)
    probability = serializers.FloatField(allow_null=True)
    weight = serializers.FloatField(allow_null=True)
    stratum = serializers.CharField(allow_null=True, help_text="Null if the collection has no strata.")
    draft = serializers.CharField(help_text="A narrative that has not been confirmed yet; raters do not see it.")
    drafted_by = serializers.CharField()


class QueryChange(serializers.Serializer):
    """The narrative of a query: exactly one of the three fields."""

    narrative = serializers.CharField(required=False, allow_blank=True, max_length=narratives.LONGEST)
    draft = serializers.CharField(required=False, allow_blank=True, max_length=narratives.LONGEST)
    confirm = serializers.BooleanField(required=False, help_text="Whether to make the draft the narrative.")


class QueriesReading(Reading):
    """How to read and store a posted list of queries."""

    redact = serializers.BooleanField(required=False, help_text="Remove possible personal data from new queries (W59).")


class QueriesFileSent(QueriesReading, FileSent):
    """Queries as a file."""


@extend_schema_view(
    get=extend_schema(summary="List queries"),
    post=documented(
        "Upload queries",
        QuerySent,
        [{"query_id": "q1", "query": "rain jacket", "narrative": "For a wet week."}],
        QueriesReading,
        QueriesFileSent,
    ),
)
class Queries(Imports):
    """The queries of a collection."""

    kind = "queries"
    reading, file_serializer = QueriesReading, QueriesFileSent
    queryset = Query.objects.select_related("stratum").order_by("query_id")
    serializer_class = QueryBody
    filters = {"query_id": "query_id", "tier": "tier", "group": "group", "stratum": "stratum__name"}
    ordering = {"query_id": "query_id", "query": "text", "frequency": "frequency", "weight": "weight", "tier": "tier"}
    tag = "queries"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        return table("queries-csv", rows, numeric=NUMERIC)


class OneQuery(InCollection):
    also = (409,)
    tag = "queries"

    @call("Get a query", QueryBody)
    def get(self) -> Any:
        """Return the query with its narrative or draft."""
        return self._query()

    @call(
        "Change the narrative of a query",
        QueryBody,
        request=QueryChange,
        example=("A need", {"narrative": "A jacket for a wet week of hiking."}),
    )
    def patch(self) -> Any:
        """A narrative cannot change while an open round contains the query; the status is then 409. A draft can always
        change."""
        query, change = self._query(), self.read_body(QueryChange)
        if len(change) != 1 or change.get("confirm") is False:
            raise NotValid("Send exactly one of narrative, draft and confirm.", "narrative")
        if "draft" in change:
            query = narratives.save_draft(query, text=change["draft"], actor=self.user)
        elif "narrative" in change:
            query = narratives.write(query, text=change["narrative"], actor=self.user)
        else:
            query = narratives.confirm(query, actor=self.user)
        return query

    def _query(self) -> Query:
        rows = Query.of_any_kind.filter(collection=self.collection).select_related("stratum")
        return self.one(rows, "query")


class RatingSent(serializers.Serializer):
    """One rating of a judgment list."""

    doc_id = serializers.CharField()
    rating = serializers.IntegerField(allow_null=True)


class LabelsSent(serializers.Serializer):
    """One query of a judgment list. Flat rows of query_id, doc_id and grade are accepted too."""

    query_id = serializers.CharField()
    query = serializers.CharField()
    ratings = RatingSent(many=True)


class SourceBody(serializers.Serializer):
    """One import of labels."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=LabelSource.Kind.choices)
    labels = serializers.IntegerField(source="label_count")
    sha256 = serializers.SerializerMethodField(help_text="Null while you may still grade a pair.")
    created_at = serializers.DateTimeField()

    def get_sha256(self, source: LabelSource) -> str | None:
        if "hashes" not in self.context:
            shown = grade_visibility.may_read_hashes(self.context["request"].user, source.collection)
            self.context["hashes"] = shown
        return source.sha256 if self.context["hashes"] else None


@extend_schema_view(
    get=extend_schema(summary="List label sources"),
    post=documented(
        "Upload labels",
        LabelsSent,
        [{"query_id": "q1", "query": "rain jacket", "ratings": [{"doc_id": "d1", "rating": 3}]}],
    ),
)
class LabelSources(Imports):
    """The label sources of a collection."""

    kind = "qrels"
    queryset = (
        LabelSource.objects.select_related("collection")
        .annotate(label_count=Count("labels"))
        .order_by("-created_at", "-pk")
    )
    serializer_class = SourceBody
    filters = {"name": "name"}
    ordering = {"created_at": "created_at", "name": "name"}
    tag = "labels"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        return labels(rows)


class JudgmentSent(serializers.Serializer):
    """One judgment of one rater."""

    query_id = serializers.CharField()
    query = serializers.CharField(required=False)
    doc_id = serializers.CharField()
    rater = serializers.CharField()
    grade = serializers.IntegerField(allow_null=True)


class ImportedRoundBody(serializers.Serializer):
    """A closed round of imported judgments."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    pairs = serializers.IntegerField(source="pairs_made")
    judgments = serializers.IntegerField(source="slots_made")
    created_at = serializers.DateTimeField()


@extend_schema_view(
    get=extend_schema(summary="List imported rounds"),
    post=documented(
        "Upload judgments with their raters",
        JudgmentSent,
        [{"query_id": "q1", "query": "rain jacket", "doc_id": "d1", "rater": "r01", "grade": 3}],
    ),
)
class ImportedRounds(Imports):
    """Imported judgments. Each file becomes a closed round whose raters cannot log in."""

    kind = "judgments"
    queryset = Round.objects.filter(provenance__has_key=IMPORTED).order_by("-created_at", "-pk")
    serializer_class = ImportedRoundBody
    filters = {"name": "name"}
    ordering = {"created_at": "created_at", "name": "name"}
    tag = "labels"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        return table("ratings-csv", rows, numeric=("grade",))
