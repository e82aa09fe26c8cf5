"""API endpoints to preview, freeze, read and export snapshots."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, freeze_preview, snapshots
from judgments.aggregation import RULES
from judgments.api.endpoint import Endpoint, InCollection, Rows, rows_called
from judgments.core.errors import NotFound
from judgments.labels import EXCLUDED, SOURCES, UNRATEABLE, Consolidation
from judgments.merging import MERGES
from judgments.models import Snapshot
from judgments.views.downloads import attachment


class SnapshotBody(serializers.Serializer):
    """A frozen set of labels; its identity is `content_sha256`."""

    id = serializers.UUIDField(source="uuid")
    collection = serializers.CharField(source="collection.slug")
    name = serializers.CharField()
    content_sha256 = serializers.SerializerMethodField(
        help_text="Its identity; null while you may still have to grade a pair of the collection."
    )
    rule = serializers.CharField()
    rounds = serializers.SerializerMethodField()
    summary = serializers.SerializerMethodField(
        help_text="Labels, queries, conflicts; labels by grade, unless you may still have to grade one of their pairs."
    )
    formats = serializers.SerializerMethodField(help_text="What `/export/<format>/` knows.")
    override_reason = serializers.CharField()
    created_at = serializers.DateTimeField()

    def get_content_sha256(self, snapshot: Snapshot) -> str | None:
        known = self.context.setdefault("hashes", {})
        if snapshot.collection_id not in known:
            reader = self.context["request"].user
            known[snapshot.collection_id] = snapshots.may_read_hashes(snapshot.collection, reader)
        return snapshot.content_sha256 if known[snapshot.collection_id] else None

    def get_rounds(self, snapshot: Snapshot) -> list[uuid_module.UUID]:
        return [round_.uuid for round_ in snapshot.rounds.all()]

    def get_summary(self, snapshot: Snapshot) -> dict[str, Any]:
        left_out = {"by_grade"} if snapshots.is_withheld(snapshot, self._untold(snapshot)) else set()
        return {name: value for name, value in snapshot.summary.items() if name not in left_out}

    def _untold(self, snapshot: Snapshot) -> Any:
        """Asked once for all snapshots of a list."""
        known = self.context.setdefault("untold", {})
        if snapshot.collection_id not in known:
            reader = self.context["request"].user
            known[snapshot.collection_id] = snapshots.still_to_give(snapshot.collection, reader)
        return known[snapshot.collection_id]

    def get_formats(self, snapshot: Snapshot) -> list[str]:
        return [*snapshots.FILES, "bundle"]


class LabelChoice(serializers.Serializer):
    """Whose labels, under which rule."""

    rounds = serializers.ListField(child=serializers.UUIDField(), default=list)
    rule = serializers.CharField(
        default="median", help_text="A label rule: " + ", ".join(f"`{name}`" for name in RULES)
    )
    sources = serializers.ListField(child=serializers.ChoiceField(choices=SOURCES), default=["human"])
    merge = serializers.ChoiceField(choices=MERGES, default="newest")
    named = serializers.ListField(
        child=serializers.CharField(max_length=200),
        default=list,
        help_text="Which label sources `imported` means; all imports where empty. Labels from clicks have to be named.",
    )
    judge = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=120,
        help_text="The name of the machine judge whose grades `machine` means; they fill in where nobody has a label. "
        "`accepted` takes the lowest grades that a lead lets stand.",
    )
    unrateable = serializers.ChoiceField(
        choices=UNRATEABLE,
        default=EXCLUDED,
        help_text="A pair that nobody could judge: without a label, or with the lowest grade.",
    )

    def validate_rule(self, value: str) -> str:
        if value not in RULES:
            raise serializers.ValidationError(f"There is no label rule {value!r}. Known: {', '.join(RULES)}.")
        return value


class Freeze(LabelChoice):
    """The same, under a name."""

    name = serializers.CharField(max_length=120)
    override_reason = serializers.CharField(
        allow_null=True, allow_blank=True, default="", help_text="Needed where a round fails its gate (409)."
    )


class FreezePreviewBody(serializers.Serializer):
    """What would be frozen. What tells grades is null while you may still have to give some of them."""

    labels = serializers.IntegerField()
    ratings = serializers.IntegerField()
    conflicts = serializers.IntegerField()
    adjudicated = serializers.IntegerField()
    without_grade = serializers.IntegerField(help_text="Pairs that would have no label.")
    unrateable = serializers.IntegerField()
    unrateable_as_zero = serializers.IntegerField()
    left_open = serializers.IntegerField(help_text="Pairs with grades of which the rule makes no label.")
    stale = serializers.IntegerField(help_text="Pairs whose document changed after it was judged.")
    rated_again = serializers.IntegerField(help_text="Pairs with a label in more than one round.")
    changed = serializers.IntegerField(allow_null=True, help_text="Those that a newer round labelled otherwise.")
    gates = serializers.ListField(child=serializers.DictField(), help_text="Each round’s agreement against its gate.")
    bridges = serializers.ListField(child=serializers.DictField(), help_text="Older guidelines: what was rated again.")
    by_grade = serializers.DictField(child=serializers.IntegerField(), allow_null=True)
    rules = serializers.ListField(child=serializers.DictField(), allow_null=True, help_text="Labels under every rule.")
    doubts = serializers.ListField(child=serializers.CharField())
    needs_reason = serializers.BooleanField(help_text="Freezing asks for `override_reason`.")
    can_freeze = serializers.BooleanField()


def shown_snapshots() -> QuerySet[Snapshot]:
    """Snapshots with all that their body needs; the manifest stays in its file."""
    return Snapshot.objects.select_related("collection").prefetch_related("rounds").defer("manifest")


class Snapshots(Rows):
    """The snapshots of a collection."""

    queryset = shown_snapshots().order_by("-created_at", "-pk")
    serializer_class = SnapshotBody
    filters = {"name": "name"}
    also = (409,)
    tag = "snapshots"

    @extend_schema(summary="The snapshots", parameters=[OpenApiParameter("name")])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The newest first."""
        return self.list(request)

    @extend_schema(
        summary="Freeze labels",
        request=Freeze,
        responses={201: SnapshotBody},
        examples=[
            OpenApiExample("One round", {"name": "autumn-1", "rounds": ["<id>"], "rule": "median"}, request_only=True)
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """One label for every pair: adjudicated, else by the rule; the newest round wins."""
        asked = self.sent(Freeze)
        asked["rounds"] = rows_called(self.collection.rounds.all(), asked["rounds"], "rounds", "round")
        asked["override_reason"] = asked["override_reason"] or ""
        made = snapshots.freeze(self.collection, actor=request.user, **asked)
        return self.told(SnapshotBody, shown_snapshots().get(pk=made.pk), 201)


class Preview(InCollection):
    """What would be frozen."""

    reads = writes = access.LEADS
    serializer_class = FreezePreviewBody
    tag = "snapshots"

    @extend_schema(summary="See what would be frozen", request=LabelChoice, responses=FreezePreviewBody)
    def post(self, request: Request, slug: str) -> Response:
        """The same choice as for freezing; nothing is stored."""
        asked = self.sent(LabelChoice)
        rounds = rows_called(self.collection.rounds.all(), asked["rounds"], "rounds", "round")
        how = Consolidation(
            asked["rule"],
            tuple(asked["sources"]),
            asked["merge"],
            tuple(asked["named"]),
            asked["unrateable"],
            asked["judge"],
        )
        found = freeze_preview.look(self.collection, rounds, how)
        withheld = snapshots.withheld_by(self.collection, request.user, lambda: found.documents) is not None
        return Response(freeze_preview.as_json(found, withheld=withheld))


class OneSnapshot(Endpoint):
    """One snapshot."""

    serializer_class = SnapshotBody
    tag = "snapshots"

    @extend_schema(summary="One snapshot")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        return self.told(SnapshotBody, access.snapshot_for(request.user, uuid, self.roles))


class Export(Endpoint):
    """A snapshot as a file."""

    tag = "snapshots"

    @extend_schema(
        summary="Download labels",
        parameters=[OpenApiParameter("name", str, OpenApiParameter.PATH, enum=[*snapshots.FILES, "bundle"])],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, uuid: uuid_module.UUID, name: str) -> HttpResponse:
        """The file as it was frozen; its hash is checked on the way out."""
        snapshot = access.snapshot_for(request.user, uuid, self.roles)
        if name == "manifest":  # has an address of its own
            raise NotFound("There is no export 'manifest'. Ask for manifest/ instead.")
        return attachment(*snapshots.download(snapshot, name, reader=request.user))

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """A file comes as what it is, whatever the caller says to prefer."""
        return super().perform_content_negotiation(request, force=True)


class Manifest(Endpoint):
    """What a snapshot says about itself."""

    tag = "snapshots"

    @extend_schema(summary="The manifest", responses={200: dict})
    def get(self, request: Request, uuid: uuid_module.UUID) -> HttpResponse:
        """Hashes of all files, provenance, label rule, agreement: byte for byte as it was frozen.

        403 while you may still have to grade one of its pairs: it says how often each grade was given.
        """
        snapshot = access.snapshot_for(request.user, uuid, self.roles)
        _, body = snapshots.download(snapshot, "manifest", reader=request.user)
        return HttpResponse(body, content_type="application/json")
