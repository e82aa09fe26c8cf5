"""API of a snapshot's freshness: signals, engine responses, recorded changes and refresh pools."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation import feeding, freshness, freshness_job, refreshing
from evaluation.staleness.actions import ACTIONS
from evaluation.views.scores import chosen_snapshot
from judgments import access, declarations, snapshots
from judgments.api.endpoint import InCollection
from judgments.api.jobs import Started, started
from judgments.core.errors import NotFound
from judgments.models import Collection, Declaration, Snapshot

MOST_IDS = 2_000_000


class ActionBody(serializers.Serializer):
    """What a signal asks for."""

    name = serializers.ChoiceField(list(ACTIONS))
    title = serializers.CharField()


class SignalBody(serializers.Serializer):
    """One sign of staleness; `now` is null where it is not known, with the `reason`."""

    signal = serializers.CharField()
    title = serializers.CharField()
    state = serializers.CharField(help_text="fresh, warn, stale or unknown.")
    now = serializers.FloatField(allow_null=True)
    baseline = serializers.FloatField(allow_null=True)
    unit = serializers.ChoiceField(["share", "count", "days", "index"])
    warn = serializers.FloatField(allow_null=True, help_text="Above this it warns.")
    stale = serializers.FloatField(allow_null=True, help_text="Above this it asks for its action.")
    words = serializers.CharField()
    reason = serializers.CharField(allow_null=True)
    action = ActionBody(allow_null=True)
    detail = serializers.ListField(child=serializers.DictField())


class RunHolesBody(serializers.Serializer):
    """What a run returns among its first ten that nobody judged."""

    name = serializers.CharField()
    sha256 = serializers.CharField()
    holes = serializers.IntegerField()
    returned = serializers.IntegerField()
    queries = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    p90 = serializers.FloatField(allow_null=True)
    worst = serializers.ListField(help_text="Queries with the largest shares: id, unjudged, returned.")
    reason = serializers.CharField(allow_null=True)


class FreshnessBody(serializers.Serializer):
    """The shape of `assay freshness --format json`, with the snapshot."""

    snapshot = serializers.UUIDField()
    name = serializers.CharField()
    content_sha256 = serializers.CharField(allow_null=True)
    state = serializers.CharField(help_text="fresh, warn, stale or unknown.")
    signals = SignalBody(many=True)
    runs = RunHolesBody(many=True)
    checked_at = serializers.DateTimeField(allow_null=True)


class Fed(serializers.Serializer):
    """One of the two: an engine's reply, or the ids that it holds."""

    unrated = serializers.JSONField(required=False, help_text="A reply of _rank_eval, as the engine gave it.")
    name = serializers.CharField(required=False, max_length=120, default="", help_text="Of the system that answered.")
    documents = serializers.ListField(
        child=serializers.CharField(), required=False, max_length=MOST_IDS, help_text="Every id in the index."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("unrated" in attrs) == ("documents" in attrs):
            raise serializers.ValidationError({"unrated": "Send unrated or documents, one of them."})
        return attrs


class RefreshAsked(serializers.Serializer):
    """Which pool to make."""

    action = serializers.ChoiceField([one.name for one in ACTIONS.values() if one.pools])
    seed = serializers.IntegerField(default=refreshing.SEED, min_value=0, max_value=2**53)


class PoolMade(serializers.Serializer):
    """The pool; a round is made of it as of any other."""

    pool = serializers.UUIDField()
    pairs = serializers.IntegerField()


class NewDeclaration(serializers.Serializer):
    """What happened."""

    kind = serializers.ChoiceField(declarations.SPOKEN)
    happened_at = serializers.DateTimeField(required=False, help_text="Now when left out.")
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)


class DeclarationBody(serializers.Serializer):
    """One statement, on record for good."""

    id = serializers.UUIDField(source="uuid")
    kind = serializers.CharField()
    happened_at = serializers.DateTimeField()
    note = serializers.CharField()
    by = serializers.CharField(source="created_by", allow_null=True)
    created_at = serializers.DateTimeField()


WHICH = [OpenApiParameter("snapshot", uuid_module.UUID, description="The newest when left out.")]


def asked_for(collection: Collection, request: Request) -> Snapshot:
    """The snapshot that is named, or the newest."""
    snapshot = chosen_snapshot(collection, request.query_params.get("snapshot", ""))
    if snapshot is None:
        raise NotFound("This collection has no snapshot yet.")
    return snapshot


class Freshness(InCollection):
    """Every signal of staleness of a snapshot."""

    serializer_class = FreshnessBody
    writes = access.STAFF
    tag = "freshness"

    @extend_schema(
        summary="How fresh labels are",
        parameters=WHICH,
        responses=FreshnessBody,
        examples=[OpenApiExample("A stale list", {"state": "stale", "signals": [{"signal": "unjudged", "now": 0.34}]})],
    )
    def get(self, request: Request, slug: str) -> Response:
        """What is cheap is read as it is now; large runs and logs are those of the last check."""
        snapshot = asked_for(self.collection, request)
        body = freshness.as_json(snapshot, freshness.look(snapshot))
        return Response(snapshots.told_to(request.user, self.collection, body))

    @extend_schema(summary="Hand in what an engine says", request=Fed, responses={201: DeclarationBody})
    def post(self, request: Request, slug: str) -> Response:
        """`unrated_docs` of a `_rank_eval` reply count as holes from now on; `documents` tells what is gone."""
        told = self.sent(Fed)
        if "unrated" in told:
            how = {"reply": told["unrated"], "name": told["name"]}
            row = feeding.feed_unrated(self.collection, actor=request.user, **how)
        else:
            row = feeding.feed_index(self.collection, doc_ids=told["documents"], actor=request.user)
        return self.told(DeclarationBody, row, 201)


class Check(InCollection):
    """Reading everything, as a job."""

    serializer_class = Started
    writes = access.STAFF
    tag = "freshness"

    @extend_schema(summary="Check freshness", parameters=WHICH, request=None, responses={202: Started})
    def post(self, request: Request, slug: str) -> Response:
        """What the server does every month by itself. Its result stands in `freshness/` and in the history."""
        return started(freshness_job.check_later(asked_for(self.collection, request), actor=request.user))


class RefreshPool(InCollection):
    """The next pool, from a signal's action."""

    serializer_class = PoolMade
    tag = "freshness"

    @extend_schema(
        summary="Make the pool that a signal asks for",
        parameters=WHICH,
        request=RefreshAsked,
        responses={201: PoolMade, 202: Started},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Actions are those of the signals. Over large runs it is a job."""
        told = self.sent(RefreshAsked)
        snapshot = asked_for(self.collection, request)
        if refreshing.too_large(snapshot, told["action"]):
            return started(refreshing.refresh_later(snapshot, actor=request.user, **told))
        pool = refreshing.refresh(snapshot, actor=request.user, **told)
        return Response({"pool": str(pool.uuid), "pairs": pool.entries.count()}, status=201)


class Declarations(InCollection):
    """What was declared of the world outside."""

    serializer_class = DeclarationBody
    tag = "freshness"

    @extend_schema(summary="What was declared", responses=DeclarationBody(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Those that stand, the newest first."""
        rows = declarations.standing(self.collection, *declarations.SPOKEN).select_related("created_by")
        return Response(DeclarationBody(rows, many=True).data)

    @extend_schema(summary="Declare a change", request=NewDeclaration, responses={201: DeclarationBody})
    def post(self, request: Request, slug: str) -> Response:
        """A new schema, other embeddings, a category or a language that came."""
        row = declarations.declare(self.collection, actor=request.user, **self.sent(NewDeclaration))
        return self.told(DeclarationBody, row, 201)


class OneDeclaration(InCollection):
    """Taking one back."""

    serializer_class = DeclarationBody
    also = (409,)
    tag = "freshness"

    @extend_schema(summary="Take a declaration back", responses={204: None})
    def delete(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Both rows stay on record."""
        rows = Declaration.objects.filter(collection=self.collection)
        row = access.reach(rows, request.user, access.LEADS, uuid=uuid)
        declarations.withdraw(row, actor=request.user)
        return Response(status=204)
