"""API of connectors: connect an engine, try a query and fetch a run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.connectors import CONNECTORS
from assay.connectors.connector import DEEPEST
from assay.connectors.fetch import Plan
from judgments.jobs.api import Started, StartedWith, started
from judgments.web import access
from judgments.web.endpoints import InCollection, Listed, Rows, call, listed
from judgments.web.serializers import Values
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

    hits = Values(help_text="Documents with doc_id, score, title, text, url, image and fields.")


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

    @call(
        "Add a connector",
        ConnectorBody,
        NewConnector,
        status=201,
        example=(
            "Elasticsearch",
            {
                "name": "live",
                "kind": "elasticsearch",
                "settings": {"address": "https://search.example.com", "index": "shop", "secret": "<key>"},
            },
        ),
    )
    def post(self, fields: dict[str, Any]) -> Any:
        """Omitted settings take the kind's defaults. The operator must have allowed the host."""
        return connections.add(self.collection, actor=self.user, given=fields.pop("settings"), **fields)


class InConnector(InCollection):
    """Base class of endpoints below ``connectors/<uuid>/``."""

    connector: Connector
    serializer_class: type[serializers.Serializer] = ConnectorBody
    writes = access.STAFF
    tag = "connectors"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.connector = self.one(self.collection.connectors.all(), "connector")


class OneConnector(InConnector):
    also = (409, 503)

    @call("Get a connector", ConnectorBody)
    def get(self) -> Any:
        """Return the settings of the connector without its secret."""
        return self.connector

    @call("Change a connector", ConnectorBody, request=ConnectorChanged)
    def patch(self) -> Any:
        """Omitted fields stay unchanged. If the engine's address changes, send the secret again."""
        row = self.connector
        fields = self.read_body(ConnectorChanged, partial=True)
        before = {"name": row.name, "timeout": row.timeout, "concurrency": row.concurrency}
        given = {**row.settings, **fields.pop("settings", {})}
        connections.change(row, actor=self.user, given=given, **{**before, **fields})
        return row

    @call("Remove a connector")
    def delete(self) -> None:
        """Delete the connector and its secret. Runs fetched from it are kept."""
        connections.remove(self.connector, actor=self.user)


class TryConnector(InConnector):
    also = (503,)

    @call("Test a query", Tryout, Trial)
    def post(self, body: dict[str, Any]) -> Any:
        """Return at most ten documents and store nothing. An error of the engine gives status 400."""
        hits = connections.attempt(self.connector, body["query"], actor=self.user)
        return {"hits": [asdict(hit) for hit in hits]}


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

    @call("Fetch a run", body=NewFetch, responses={202: StartedWith})
    def post(self, body: dict[str, Any]) -> Response:
        """Start a job that sends every query of the collection to the engine."""
        made = fetching.start(self.connector, actor=self.user, **body)
        return started(made.job, made.uuid)


class GoOnWithFetch(InConnector):
    also = (409,)

    @call("Resume a fetch", request=GoOn, responses={202: Started})
    def post(self) -> Response:
        """Fetch the queries that have no results yet."""
        row = access.existing(self.connector.fetches.filter(uuid=self.kwargs["fetch"]), "This fetch does not exist.")
        return started(fetching.resume(row, actor=self.user, **self.read_body(GoOn)))
