"""API of connectors: connect an engine, try a query and fetch a run."""

from __future__ import annotations

import uuid as uuid_module
from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.connectors import CONNECTORS
from assay.connectors.connector import DEEPEST
from assay.connectors.fetch import Plan
from assay.core.errors import NotFound
from judgments.jobs.api import Started, StartedWith, started
from judgments.web import access
from judgments.web.endpoints import InCollection, Listed, Rows, listed
from pooling.connectors import connections, fetching
from pooling.models import Connector, Fetch

SECRETS = "Secrets are stored encrypted and never returned."


class ConnectorBody(serializers.Serializer):
    """A connector with its settings, without its secret."""

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
    """Settings by name; numbers are converted to text."""

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if not isinstance(data, dict):
            raise serializers.ValidationError("Send an object whose values are strings.")
        texts = {name: str(value) if type(value) in (int, float) else value for name, value in data.items()}
        if strange := next((name for name, value in texts.items() if not isinstance(value, str)), None):
            raise serializers.ValidationError(f"The setting {strange} is not a string. Send JSON as a string too.")
        return texts


class ConnectorChanged(serializers.Serializer):
    """The fields of a connector that can be changed. An omitted secret is kept."""

    name = serializers.CharField(max_length=120)
    settings = Settings(help_text=SECRETS)
    timeout = serializers.FloatField(default=10.0, help_text="Seconds for one query.")
    concurrency = serializers.IntegerField(default=Plan().concurrency, help_text="Number of concurrent queries.")


class NewConnector(ConnectorChanged):
    """A connector to add."""

    kind = serializers.CharField(
        help_text="; ".join(f"`{name}`: {CONNECTORS[name].description}" for name in CONNECTORS)
    )

    def validate_kind(self, value: str) -> str:
        if value not in CONNECTORS:
            raise serializers.ValidationError(
                f"Unknown connector {value!r}. Known connectors: {', '.join(CONNECTORS)}."
            )
        return value


class Trial(serializers.Serializer):
    """A query to test."""

    query = serializers.CharField(max_length=500)


class Tryout(serializers.Serializer):
    """The engine's response."""

    hits = serializers.ListField(
        child=serializers.JSONField(), help_text="Documents with doc_id, score, title, text, url, image and fields."
    )


class FetchBody(serializers.Serializer):
    """One fetch of every query."""

    id = serializers.UUIDField(source="uuid")
    run_name = serializers.CharField()
    depth = serializers.IntegerField()
    asked = serializers.IntegerField(source="query_count", help_text="Number of queries.")
    answered = serializers.IntegerField(help_text="Queries with stored results.")
    failed = serializers.JSONField(help_text="The engine's error for each failed query id.")
    job = serializers.UUIDField(source="job.uuid", allow_null=True, default=None)
    run = serializers.UUIDField(source="run.uuid", allow_null=True, default=None)
    created_at = serializers.DateTimeField()


class NewFetch(serializers.Serializer):
    """The run to fetch."""

    run_name = serializers.CharField(max_length=120)
    depth = serializers.IntegerField(default=100, min_value=1, max_value=DEEPEST)


class GoOn(serializers.Serializer):
    """Options for resuming a fetch."""

    without_failed = serializers.BooleanField(
        default=False, help_text="Whether to create the run without the failed queries."
    )


@listed("List connectors", "Return the connectors sorted by name, without secrets.")
class Connectors(Rows):
    """The connectors of a collection."""

    queryset = Connector.objects.order_by("name")
    serializer_class = ConnectorBody
    filters = {"name": "name", "kind": "kind"}
    ordering = {"name": "name", "kind": "kind", "created_at": "created_at"}
    writes = access.STAFF
    also = (409, 503)
    tag = "connectors"

    @extend_schema(
        summary="Add a connector",
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
        """Omitted settings take the kind's defaults. The operator must have allowed the host."""
        fields = self.read_body(NewConnector)
        made = connections.add(self.collection, actor=request.user, given=fields.pop("settings"), **fields)
        return self.respond(ConnectorBody, made, 201)


class InConnector(InCollection):
    """Base class of endpoints below ``connectors/<uuid>/``."""

    connector: Connector
    serializer_class: type[serializers.Serializer] = ConnectorBody
    writes = access.STAFF
    tag = "connectors"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        connector = self.collection.connectors.filter(uuid=kwargs["uuid"]).first()
        if connector is None:
            raise NotFound("This collection has no such connector.")
        self.connector = connector


class OneConnector(InConnector):
    """One connector."""

    also = (409, 503)

    @extend_schema(summary="Get a connector")
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Return the settings of the connector without its secret."""
        return self.respond(ConnectorBody, self.connector)

    @extend_schema(summary="Change a connector", request=ConnectorChanged)
    def patch(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Omitted fields stay unchanged. If the engine's address changes, send the secret again."""
        row = self.connector
        fields = self.read_body(ConnectorChanged, partial=True)
        before = {"name": row.name, "timeout": row.timeout, "concurrency": row.concurrency}
        given = {**row.settings, **fields.pop("settings", {})}
        connections.change(row, actor=request.user, given=given, **{**before, **fields})
        return self.respond(ConnectorBody, row)

    @extend_schema(summary="Remove a connector", responses={204: None})
    def delete(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Delete the connector and its secret. Runs fetched from it are kept."""
        connections.remove(self.connector, actor=request.user)
        return Response(status=204)


class TryConnector(InConnector):
    """A test query."""

    serializer_class = Tryout
    also = (503,)

    @extend_schema(summary="Test a query", request=Trial, responses={200: Tryout})
    def post(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Return at most ten documents and store nothing. An error of the engine gives status 400."""
        hits = connections.attempt(self.connector, self.read_body(Trial)["query"], actor=request.user)
        return self.respond(Tryout, {"hits": [asdict(hit) for hit in hits]})


@listed("List fetches", "Return the fetches, newest first.")
class Fetches(Listed, InConnector):
    """The fetches of a connector."""

    queryset = Fetch.objects.none()
    serializer_class = FetchBody
    filters = {"run_name": "run_name"}
    ordering = {"created_at": "created_at", "run_name": "run_name"}
    also = (409,)

    def rows(self) -> Any:
        return self.connector.fetches.select_related("job", "run")

    @extend_schema(summary="Fetch a run", request=NewFetch, responses={202: StartedWith})
    def post(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Start a job that sends every query of the collection to the engine."""
        made = fetching.start(self.connector, actor=request.user, **self.read_body(NewFetch))
        return started(made.job, made.uuid)


class GoOnWithFetch(InConnector):
    """A fetch that has stopped."""

    serializer_class = Started
    also = (409,)

    @extend_schema(summary="Resume a fetch", request=GoOn, responses={202: Started})
    def post(self, request: Request, slug: str, uuid: uuid_module.UUID, fetch: uuid_module.UUID) -> Response:
        """Fetch the queries that have no results yet."""
        row = Fetch.objects.filter(connector=self.connector, uuid=fetch).first()
        if row is None:
            raise NotFound("This fetch does not exist.")
        return started(fetching.resume(row, actor=request.user, **self.read_body(GoOn)))
