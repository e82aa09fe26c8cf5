"""API of connectors: connect an engine, try a query and fetch a run."""

from __future__ import annotations

import uuid as uuid_module
from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access
from judgments.api.endpoint import InCollection, Rows
from judgments.api.jobs import Started, StartedWith, started
from judgments.core.errors import NotFound
from pooling import connected, fetching
from pooling.connectors import CONNECTORS
from pooling.connectors.contract import DEEPEST
from pooling.connectors.fetch import Plan
from pooling.models import Connector, Fetch

SECRETS = "Secrets among them are kept encrypted and told to nobody again."


class ConnectorBody(serializers.Serializer):
    """An engine and how it is asked; never its secret."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    kind = serializers.CharField()
    settings = serializers.JSONField()
    has_secret = serializers.SerializerMethodField()
    timeout = serializers.FloatField()
    concurrency = serializers.IntegerField()
    created_at = serializers.DateTimeField()

    def get_has_secret(self, row: Connector) -> bool:
        return bool(row.sealed)


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
class Settings(serializers.Field):
    """Settings by name, each a text; a number stands for its digits."""

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if not isinstance(data, dict):
            raise serializers.ValidationError("An object of settings, each a text.")
        texts = {name: str(value) if type(value) in (int, float) else value for name, value in data.items()}
        if strange := next((name for name, value in texts.items() if not isinstance(value, str)), None):
            raise serializers.ValidationError(f"{strange} is no text; write JSON as a text too.")
        return texts


class ConnectorChanged(serializers.Serializer):
    """What can be changed about a connector; a secret that is left out stays."""

    name = serializers.CharField(max_length=120)
    settings = Settings(help_text=SECRETS)
    timeout = serializers.FloatField(default=10.0, help_text="Seconds for one query.")
    concurrency = serializers.IntegerField(default=Plan().concurrency, help_text="Queries at a time.")


class NewConnector(ConnectorChanged):
    """An engine to connect."""

    kind = serializers.CharField(
        help_text="; ".join(f"`{name}`: {CONNECTORS[name].description}" for name in CONNECTORS)
    )

    def validate_kind(self, value: str) -> str:
        if value not in CONNECTORS:
            raise serializers.ValidationError(f"There is no connector {value!r}. Known: {', '.join(CONNECTORS)}.")
        return value


class Trial(serializers.Serializer):
    """A query to try."""

    query = serializers.CharField(max_length=500)


class Tried(serializers.Serializer):
    """What the engine answered."""

    hits = serializers.ListField(
        child=serializers.JSONField(), help_text="Each with doc_id, score, title, text, url, image and fields."
    )


class FetchBody(serializers.Serializer):
    """One time that the engine is asked every query."""

    id = serializers.UUIDField(source="uuid")
    run_name = serializers.CharField()
    depth = serializers.IntegerField()
    asked = serializers.IntegerField(help_text="Queries there are to ask.")
    answered = serializers.IntegerField(help_text="Queries whose answer is kept.")
    failed = serializers.JSONField(help_text="Query to what the engine said instead.")
    job = serializers.UUIDField(source="job.uuid", allow_null=True, default=None)
    run = serializers.UUIDField(source="run.uuid", allow_null=True, default=None)
    created_at = serializers.DateTimeField()


class NewFetch(serializers.Serializer):
    """What run the engine shall give."""

    run_name = serializers.CharField(max_length=120)
    depth = serializers.IntegerField(default=100, min_value=1, max_value=DEEPEST)


class GoOn(serializers.Serializer):
    """How to go on."""

    without_failed = serializers.BooleanField(default=False, help_text="Make the run without the queries that failed.")


class Connectors(Rows):
    """The engines of a collection."""

    queryset = Connector.objects.order_by("name")
    serializer_class = ConnectorBody
    writes = access.STAFF
    also = (409, 503)
    tag = "connectors"

    @extend_schema(summary="The connectors")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """By name; without secrets."""
        return self.list(request)

    @extend_schema(
        summary="Connect an engine",
        request=NewConnector,
        responses={201: ConnectorBody},
        examples=[
            OpenApiExample(
                "Elasticsearch",
                {
                    "name": "live",
                    "kind": "elasticsearch",
                    "settings": {"address": "https://search.example.com", "index": "shop", "secret": "<key>"},
                },
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Settings that are left out take the kind's defaults. Only hosts that the operator allowed."""
        asked = self.sent(NewConnector)
        made = connected.add(self.collection, actor=request.user, given=asked.pop("settings"), **asked)
        return self.told(ConnectorBody, made, 201)


class InConnector(InCollection):
    """An address below ``connectors/<uuid>/``."""

    connector: Connector
    serializer_class: type[serializers.Serializer] = ConnectorBody
    writes = access.STAFF
    tag = "connectors"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        found = self.collection.connectors.filter(uuid=kwargs["uuid"]).first()
        if found is None:
            raise NotFound("This collection has no such connector.")
        self.connector = found


class OneConnector(InConnector):
    """One engine."""

    also = (409, 503)

    @extend_schema(summary="One connector")
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """How it is asked, without its secret."""
        return self.told(ConnectorBody, self.connector)

    @extend_schema(summary="Change a connector", request=ConnectorChanged)
    def patch(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """What is left out stays; a secret too, unless the engine's place is changed."""
        row = self.connector
        asked = self.sent(ConnectorChanged, partial=True)
        before = {"name": row.name, "timeout": row.timeout, "concurrency": row.concurrency}
        given = {**row.settings, **asked.pop("settings", {})}
        connected.change(row, actor=request.user, given=given, **{**before, **asked})
        return self.told(ConnectorBody, row)

    @extend_schema(summary="Remove a connector", responses={204: None})
    def delete(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """With its secret. Runs that were fetched from it stay."""
        connected.remove(self.connector, actor=request.user)
        return Response(status=204)


class TryConnector(InConnector):
    """A trial."""

    serializer_class = Tried
    also = (503,)

    @extend_schema(summary="Try a query", request=Trial, responses={200: Tried})
    def post(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Ten documents at most; nothing is stored. What the engine did instead of answering is a 400."""
        hits = connected.attempt(self.connector, self.sent(Trial)["query"], actor=request.user)
        return self.told(Tried, {"hits": [asdict(hit) for hit in hits]})


class Fetches(InConnector):
    """The runs that were fetched, or begun."""

    serializer_class = FetchBody
    also = (409,)

    @extend_schema(summary="What was fetched", responses={200: FetchBody(many=True)})
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """The newest first, page by page."""
        rows = self.paginate_queryset(self.connector.fetches.select_related("job", "run"))
        return self.get_paginated_response(FetchBody(rows, many=True).data)

    @extend_schema(summary="Fetch a run", request=NewFetch, responses={202: StartedWith})
    def post(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Ask the engine every query of the collection, as a job."""
        made = fetching.start(self.connector, actor=request.user, **self.sent(NewFetch))
        return started(made.job, made.uuid)


class GoOnWithFetch(InConnector):
    """A fetch that stopped."""

    serializer_class = Started
    also = (409,)

    @extend_schema(summary="Go on with a fetch", request=GoOn, responses={202: Started})
    def post(self, request: Request, slug: str, uuid: uuid_module.UUID, fetch: uuid_module.UUID) -> Response:
        """Ask what has no answer yet."""
        row = Fetch.objects.filter(connector=self.connector, uuid=fetch).first()
        if row is None:
            raise NotFound("There is no such fetch any more.")
        return started(fetching.go_on(row, actor=request.user, **self.sent(GoOn)))
