"""API of a snapshot's freshness: signals, engine responses, recorded changes and refresh pools."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound
from assay.staleness.actions import ACTIONS
from evaluation.freshness import freshness, job, refresh, uploads
from judgments.jobs.api import Started, started
from judgments.members import recorded_changes
from judgments.models import Collection, Declaration, Snapshot
from judgments.snapshots import snapshots
from judgments.snapshots.snapshots import chosen_snapshot
from judgments.web import access
from judgments.web.api_lists import ListedAsArray
from judgments.web.endpoints import InCollection, call, listed

MOST_IDS = 2_000_000


class ActionBody(serializers.Serializer):
    """The action that a signal suggests."""

    name = serializers.ChoiceField(list(ACTIONS))
    title = serializers.CharField()


class SignalBody(serializers.Serializer):
    """One signal of staleness. `now` is null, with a `reason`, if it is unknown."""

    signal = serializers.CharField()
    title = serializers.CharField()
    state = serializers.CharField(help_text="fresh, warn, stale or unknown.")
    now = serializers.FloatField(allow_null=True)
    baseline = serializers.FloatField(allow_null=True)
    unit = serializers.ChoiceField(["share", "count", "days", "index"])
    warn = serializers.FloatField(allow_null=True, help_text="The threshold above which the signal warns.")
    stale = serializers.FloatField(
        allow_null=True, help_text="The threshold above which the signal suggests its action."
    )
    words = serializers.CharField()
    reason = serializers.CharField(allow_null=True)
    action = ActionBody(allow_null=True)
    detail = serializers.ListField(child=serializers.DictField())


class RunHolesBody(serializers.Serializer):
    """The unjudged documents among the first ten of a run."""

    name = serializers.CharField()
    sha256 = serializers.CharField()
    holes = serializers.IntegerField()
    returned = serializers.IntegerField()
    queries = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    p90 = serializers.FloatField(allow_null=True)
    worst = serializers.ListField(help_text="Queries with the largest unjudged shares: query id, unjudged, returned.")
    reason = serializers.CharField(allow_null=True)


class FreshnessBody(serializers.Serializer):
    """The format of `assay freshness --format json`, with the snapshot."""

    snapshot = serializers.UUIDField()
    name = serializers.CharField()
    content_sha256 = serializers.CharField(allow_null=True)
    state = serializers.CharField(help_text="fresh, warn, stale or unknown.")
    signals = SignalBody(many=True)
    runs = RunHolesBody(many=True)
    checked_at = serializers.DateTimeField(allow_null=True)


class Fed(serializers.Serializer):
    """Either an engine response or the ids in the index."""

    unrated = serializers.JSONField(required=False, help_text="A `_rank_eval` response, as the engine returned it.")
    name = serializers.CharField(required=False, max_length=120, default="", help_text="The system that responded.")
    documents = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        max_length=MOST_IDS,
        help_text="The ids of all documents in the index.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("unrated" in attrs) == ("documents" in attrs):
            raise serializers.ValidationError({"unrated": "Send either `unrated` or `documents`."})
        return attrs


class RefreshAsked(serializers.Serializer):
    """The kind of refresh pool to create."""

    action = serializers.ChoiceField([one.name for one in ACTIONS.values() if one.pools])
    seed = serializers.IntegerField(default=refresh.SEED, min_value=0, max_value=2**53)


class PoolMade(serializers.Serializer):
    """The new pool. Create a round from it as from any other pool."""

    pool = serializers.UUIDField()
    pairs = serializers.IntegerField()


class NewDeclaration(serializers.Serializer):
    """A change outside Assay that affects labels."""

    kind = serializers.ChoiceField(recorded_changes.SPOKEN)
    happened_at = serializers.DateTimeField(required=False, help_text="The time of the change; by default now.")
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)


class DeclarationBody(serializers.Serializer):
    """A recorded change. It cannot be deleted, only withdrawn."""

    id = serializers.UUIDField(source="uuid")
    kind = serializers.CharField()
    happened_at = serializers.DateTimeField()
    note = serializers.CharField()
    by = serializers.CharField(source="created_by", allow_null=True)
    created_at = serializers.DateTimeField()


WHICH = [OpenApiParameter("snapshot", uuid_module.UUID, description="The snapshot; by default the newest one.")]


def requested_snapshot(collection: Collection, request: Request) -> Snapshot:
    """Return the named snapshot, or the newest one."""
    snapshot = chosen_snapshot(collection, request.query_params.get("snapshot", ""))
    if snapshot is None:
        raise NotFound("This collection has no snapshot yet.")
    return snapshot


class Freshness(InCollection):
    """All signals of staleness of a snapshot."""

    serializer_class = FreshnessBody
    writes = access.STAFF
    tag = "freshness"

    @call(
        "Get the freshness of labels",
        FreshnessBody,
        parameters=WHICH,
        examples=[OpenApiExample("A stale list", {"state": "stale", "signals": [{"signal": "unjudged", "now": 0.34}]})],
    )
    def get(self) -> Response:
        """Cheap signals are computed on request; signals over large runs and logs come from the last check."""
        snapshot = requested_snapshot(self.collection, self.request)
        body = freshness.as_json(snapshot, freshness.look(snapshot))
        return Response(snapshots.redacted_for(self.user, self.collection, body))

    @call("Upload an engine response", DeclarationBody, Fed, status=201)
    def post(self, body: dict[str, Any]) -> Declaration:
        """The `unrated_docs` of a `_rank_eval` response count as unjudged. `documents` reveals removed documents."""
        if "documents" in body:
            return uploads.feed_index(self.collection, doc_ids=body["documents"], actor=self.user)
        return uploads.feed_unrated(self.collection, reply=body["unrated"], actor=self.user, name=body["name"])


class Check(InCollection):
    """A complete freshness check, as a job."""

    serializer_class = Started
    writes = access.STAFF
    tag = "freshness"

    @call("Check freshness", Started, status=202, parameters=WHICH)
    def post(self) -> Response:
        """Start the complete check that the server also runs regularly. Its result appears in `freshness/` and in the
        history."""
        return started(job.check_later(requested_snapshot(self.collection, self.request), actor=self.user))


class RefreshPool(InCollection):
    """The refresh pool for a signal's action."""

    serializer_class = PoolMade
    tag = "freshness"

    @call("Create a refresh pool", body=RefreshAsked, parameters=WHICH, responses={201: PoolMade, 202: Started})
    def post(self, body: dict[str, Any]) -> Response:
        """Create the pool that a signal's action suggests. For large runs a job creates it."""
        snapshot = requested_snapshot(self.collection, self.request)
        if refresh.too_large(snapshot, body["action"]):
            return started(refresh.refresh_later(snapshot, actor=self.user, **body))
        pool = refresh.refresh(snapshot, actor=self.user, **body)
        return Response({"pool": str(pool.uuid), "pairs": pool.entries.count()}, status=201)


@listed("List recorded changes", "List recorded changes that have not been withdrawn, newest first.")
class Declarations(ListedAsArray, InCollection):
    """Recorded changes outside Assay."""

    queryset = Declaration.objects.none()
    serializer_class = DeclarationBody
    filters = {"kind": "kind"}
    ordering = {"created_at": "created_at", "happened_at": "happened_at", "kind": "kind"}
    tag = "freshness"

    def rows(self) -> Any:
        return recorded_changes.standing(self.collection, *recorded_changes.SPOKEN).select_related("created_by")

    @call("Record a change", DeclarationBody, NewDeclaration, status=201)
    def post(self, body: dict[str, Any]) -> Declaration:
        """Record a new schema, new embeddings, a new category or a new language."""
        return recorded_changes.declare(self.collection, actor=self.user, **body)


class OneDeclaration(InCollection):
    """Withdrawal of a recorded change."""

    serializer_class = DeclarationBody
    also = (409,)
    tag = "freshness"

    @call("Withdraw a recorded change")
    def delete(self) -> None:
        """The change and its withdrawal both remain in the history."""
        rows = Declaration.objects.filter(collection=self.collection)
        row = access.reach(rows, self.user, access.LEADS, uuid=self.kwargs["uuid"])
        recorded_changes.withdraw(row, actor=self.user)
