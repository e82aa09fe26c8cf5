"""API endpoints to preview, freeze, read and export snapshots."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.aggregation import RULES
from assay.core.errors import NotFound, NotValid
from judgments.imports.api import ChunksSent, FileSent, Imports, Reading, Stored
from judgments.imports.posted_lists import PostedFile
from judgments.jobs.api import Started
from judgments.labels import grade_visibility
from judgments.models import Snapshot
from judgments.snapshots import freeze_preview, snapshots
from judgments.snapshots.final_labels import EXCLUDED, SOURCES, UNRATEABLE, Consolidation
from judgments.snapshots.merging import MERGES
from judgments.web import access
from judgments.web.downloads import resumable
from judgments.web.endpoints import (
    AnyAccept,
    Endpoint,
    ErrorResponse,
    InCollection,
    Rows,
    call,
    file_responses,
    listed,
    rows_called,
)
from judgments.web.serializers import Texts


class SnapshotBody(serializers.Serializer):
    """A frozen set of labels, identified by `content_sha256`."""

    id = serializers.UUIDField(source="uuid")
    collection = serializers.CharField(source="collection.slug")
    name = serializers.CharField()
    content_sha256 = serializers.SerializerMethodField(
        help_text="The hash that identifies the snapshot; null while you may still grade a pair of the collection."
    )
    rule = serializers.CharField()
    rounds = serializers.SerializerMethodField()
    summary = serializers.SerializerMethodField(
        help_text="Numbers of labels, queries and conflicts. The numbers of labels by grade are left out while you may "
        "still grade one of their pairs."
    )
    formats = serializers.SerializerMethodField(help_text="The available formats for `/export/<format>/`.")
    override_reason = serializers.CharField()
    created_at = serializers.DateTimeField()

    def get_content_sha256(self, snapshot: Snapshot) -> str | None:
        readable = self._for_reader("hashes", snapshot, grade_visibility.may_read_hashes)
        return snapshot.content_sha256 if readable else None

    def _for_reader(self, name: str, snapshot: Snapshot, compute: Callable[..., Any]) -> Any:
        """Compute the visibility once for all snapshots of a list."""
        known = self.context.setdefault(name, {})
        if snapshot.collection_id not in known:
            known[snapshot.collection_id] = compute(self.context["request"].user, snapshot.collection)
        return known[snapshot.collection_id]

    def get_rounds(self, snapshot: Snapshot) -> list[uuid_module.UUID]:
        return [round_.uuid for round_ in snapshot.rounds.all()]

    def get_summary(self, snapshot: Snapshot) -> dict[str, Any]:
        reader, hidden = self.context["request"].user, self._for_reader("keys", snapshot, grade_visibility.hidden_keys)
        left_out = {"by_grade"} if snapshots.withheld_queries(reader, snapshot, hidden) else set()
        return {name: value for name, value in snapshot.summary.items() if name not in left_out}

    def get_formats(self, snapshot: Snapshot) -> list[str]:
        return snapshots.formats()


class LabelChoice(serializers.Serializer):
    """The rounds, sources and rule of the labels."""

    rounds = serializers.ListField(child=serializers.UUIDField(), default=list)
    rule = serializers.CharField(
        default="median", help_text="The label rule: " + ", ".join(f"`{name}`" for name in RULES)
    )
    sources = serializers.ListField(child=serializers.ChoiceField(choices=SOURCES), default=["human"])
    merge = serializers.ChoiceField(choices=MERGES, default="newest")
    named = serializers.ListField(
        child=serializers.CharField(max_length=200),
        default=list,
        help_text="Label sources for `imported`; an empty list means all imports. Labels from clicks must be listed.",
    )
    judge = serializers.CharField(
        allow_blank=True,
        default="",
        max_length=120,
        help_text="Name of the machine judge for `machine`; its grades fill in for pairs without a label. `accepted` "
        "uses only the lowest grades that a lead accepts automatically.",
    )
    unrateable = serializers.ChoiceField(
        choices=UNRATEABLE,
        default=EXCLUDED,
        help_text="Whether pairs that raters could not judge get no label or the lowest grade.",
    )

    def validate_rule(self, value: str) -> str:
        if value not in RULES:
            raise serializers.ValidationError(f"Unknown label rule {value!r}. Label rules: {', '.join(RULES)}.")
        return value


class Freeze(LabelChoice):
    """The choice of labels, with a name for the snapshot."""

    name = serializers.CharField(max_length=120)
    override_reason = serializers.CharField(
        allow_null=True, allow_blank=True, default="", help_text="Required if a round fails its gate (409)."
    )


class FreezePreviewBody(serializers.Serializer):
    """A preview of a snapshot. Values that reveal grades are null while you may still give some of these grades."""

    labels = serializers.IntegerField()
    ratings = serializers.IntegerField()
    conflicts = serializers.IntegerField()
    adjudicated = serializers.IntegerField()
    without_grade = serializers.IntegerField(help_text="Pairs that would get no label.")
    unrateable = serializers.IntegerField()
    unrateable_as_zero = serializers.IntegerField()
    left_open = serializers.IntegerField(help_text="Pairs with grades for which the rule gives no label.")
    stale = serializers.IntegerField(help_text="Pairs whose document changed after judging.")
    rated_again = serializers.IntegerField(help_text="Pairs that have a label in more than one round.")
    changed = serializers.IntegerField(allow_null=True, help_text="Pairs that a newer round labeled differently.")
    gates = serializers.ListField(child=serializers.DictField(), help_text="Each round’s agreement and gate.")
    bridges = serializers.ListField(
        child=serializers.DictField(), help_text="The overlaps that raters judged again under newer guidelines."
    )
    by_grade = serializers.DictField(child=serializers.IntegerField(), allow_null=True)
    rules = serializers.ListField(
        child=serializers.DictField(), allow_null=True, help_text="The labels under each rule."
    )
    doubts = Texts()
    needs_reason = serializers.BooleanField(help_text="Whether freezing requires `override_reason`.")
    can_freeze = serializers.BooleanField()


def shown_snapshots() -> QuerySet[Snapshot]:
    """Return snapshots with the related rows that their serializer needs; the manifest stays in its file."""
    return Snapshot.objects.select_related("collection").prefetch_related("rounds").defer("manifest")


@listed(
    "List snapshots",
    "Return the snapshots, newest first.",
    OpenApiParameter("labels", enum=["documents"], description="Leave out labels of answers of RAG systems."),
)
class Snapshots(Rows):
    queryset = shown_snapshots().order_by("-created_at", "-pk")
    serializer_class = SnapshotBody
    filters = {"name": "name"}
    ordering = {"created_at": "created_at", "name": "name"}
    also = (409,)
    tag = "snapshots"

    def rows(self) -> QuerySet[Snapshot]:
        rows = super().rows()
        documents = self.request.query_params.get("labels") == "documents"
        return rows.filter(pk__in=Snapshot.of_documents.values("pk")) if documents else rows

    @call(
        "Create a snapshot",
        SnapshotBody,
        Freeze,
        status=201,
        example=("One round", {"name": "autumn-1", "rounds": ["<id>"], "rule": "median"}),
    )
    def post(self, body: dict[str, Any]) -> Snapshot:
        """Every pair gets one label: the lead's resolution, or else the grade by the label rule."""
        body["rounds"] = rows_called(self.collection.rounds.all(), body["rounds"], "rounds", "round")
        body["override_reason"] = body["override_reason"] or ""
        made = snapshots.freeze(self.collection, actor=self.user, **body)
        return shown_snapshots().get(pk=made.pk)


@extend_schema_view(
    get=extend_schema(summary="List imported snapshots"),
    post=extend_schema(
        summary="Import a snapshot",
        description="Post the zip of `/export/bundle/`. The new snapshot has the same hash and the same files. Files "
        "that differ from the manifest or the hash are refused.",
        parameters=[Reading],
        request={"multipart/form-data": FileSent, "application/json": ChunksSent},
        responses={201: Stored, 202: Started},
    ),
)
class Bundles(Imports):
    """Snapshots that were imported from bundles."""

    kind = "bundles"
    filters = {"name": "name"}
    ordering = {"created_at": "created_at", "name": "name"}
    queryset = shown_snapshots().filter(manifest__has_key="imported").order_by("-created_at", "-pk")
    serializer_class = SnapshotBody
    tag = "snapshots"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        raise NotValid("A bundle is a zip archive. Send it as a file (multipart/form-data).", "file")


class Preview(InCollection):
    reads = writes = access.LEADS
    tag = "snapshots"

    @call("Preview a snapshot", FreezePreviewBody, LabelChoice)
    def post(self, body: dict[str, Any]) -> Response:
        """Send the same choice as for freezing. Nothing is stored."""
        rounds = rows_called(self.collection.rounds.all(), body.pop("rounds"), "rounds", "round")
        preview = freeze_preview.look(self.collection, rounds, Consolidation(**body))
        labeled = grade_visibility.hiding_round(self.user, self.collection, lambda: preview.settled.documents)
        return Response(freeze_preview.as_json(preview, withheld=labeled is not None))


class OfSnapshot(Endpoint):
    """Base of addresses below ``snapshots/<uuid>/``."""

    tag = "snapshots"
    snapshot: Snapshot

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.snapshot = access.snapshot_for(request.user, kwargs["uuid"], self.roles)


class OneSnapshot(OfSnapshot):
    """One snapshot."""

    @call("Get a snapshot", SnapshotBody)
    def get(self) -> Snapshot:
        return self.snapshot


class Export(AnyAccept, OfSnapshot):
    @call(
        "Download labels",
        parameters=[OpenApiParameter("name", str, OpenApiParameter.PATH, enum=snapshots.EXPORTS)],
        responses={**file_responses("txt", "json", "csv", "tsv", "xlsx", "zip"), 409: ErrorResponse},
    )
    def get(self) -> HttpResponseBase:
        """Return the frozen file after checking its hash, or its ratings in the format of another tool, which may not
        store all of them. `Range` with `If-Range` continues an interrupted download.
        """
        if self.kwargs["name"] == "manifest":  # the manifest has its own URL
            raise NotFound("The manifest is not an export format. Use manifest/ instead.")
        name, body = snapshots.download(self.snapshot, self.kwargs["name"], reader=self.user)
        return resumable(self.request, name, lambda: iter([body]), f"{self.snapshot.uuid}-{self.kwargs['name']}")


class Manifest(OfSnapshot):
    @call("Get the manifest", responses={200: dict})
    def get(self) -> HttpResponse:
        """Return the frozen file with hashes of all files, provenance, label rule and agreement."""
        _, body = snapshots.download(self.snapshot, "manifest", reader=self.user)
        return HttpResponse(body, content_type="application/json")
