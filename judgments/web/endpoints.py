"""Base classes of all API endpoints: schema, permissions, the collection or round in the address, bodies and lists."""

from __future__ import annotations

import copy
import gc
import hashlib
import uuid as uuid_module
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache, partial, wraps
from typing import Any, TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from django.utils.cache import set_response_etag
from django.utils.http import parse_etags
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_bearer_security_scheme_object
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.generics import GenericAPIView
from rest_framework.metadata import SimpleMetadata
from rest_framework.parsers import JSONParser
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import Changed, NotValid, TooLarge
from judgments.models import Collection, Round
from judgments.models.fields import Archivable, PublicModel
from judgments.web import access, idempotency, middleware
from judgments.web.api_lists import ArrayPages, Listed, wants_archived
from judgments.web.downloads import CONTENT_TYPES

# Errors that any call can return; a view lists its further ones (409, 410, 413, 503) in `also`.
ALWAYS = {
    "401": "Authentication is required.",
    "403": "The role or the token's scopes do not permit this.",
    "429": "Too many requests or attempts. `Retry-After` gives the number of seconds to wait.",
}
RATE_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
SPECIAL_HEADERS = {"304": ("ETag",), "429": ("Retry-After",), "503": ("Retry-After",)}
ERROR_TEXTS = {
    "400": "The request is invalid; `fields` has one message per field.",
    "404": "Not found, or you are not a member of the collection.",
    "409": "Conflicts with the current state.",
    "410": "The round is closed.",
    "412": "The object changed after the version of `If-Match`.",
    "413": "The body exceeds the server's limit.",
    "503": "Too many concurrent requests. `Retry-After` gives the number of seconds to wait.",
}


class ErrorBody(serializers.Serializer):
    """An error."""

    code = serializers.CharField(help_text="A code for programs, such as `not_valid`.")
    message = serializers.CharField(help_text="A complete sentence for people.")
    fields = serializers.DictField(child=serializers.CharField(), help_text="Messages by field.")


class ErrorResponse(serializers.Serializer):
    """The body of every error."""

    error = ErrorBody()


class BearerScheme(OpenApiAuthenticationExtension):
    """``Authorization: Bearer <token>``."""

    target_class = "judgments.members.tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return build_bearer_security_scheme_object("Authorization", "Bearer")


class PasswordScheme(OpenApiAuthenticationExtension):
    """Basic authentication, only to create tokens."""

    target_class = "judgments.members.tokens.PasswordAuthentication"
    name = "password"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "basic"}


def _header(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, description=description)


class EndpointSchema(AutoSchema):
    """Schema that adds the possible errors to each operation and groups operations by topic."""

    def get_tags(self) -> list[str]:
        named = getattr(self.view, "tag", "")
        return [named] if named else super().get_tags()

    def get_override_parameters(self) -> list[Any]:
        """Return the headers of conditional and repeated requests, and what a list reads itself besides its filters."""
        own = list(self.view.parameters) if self.method == "GET" and isinstance(self.view, Listed) else []
        if self.method == "GET":
            return [*own, _header("If-None-Match", "The ETag of your copy; 304 if it is current.")]
        if self._can_match():
            return [_header("If-Match", "The ETag of the version to change; 412 if it is outdated.")]
        if self.method == "POST" and not self.view.returns_secret:
            text = (
                "A unique text, such as a UUID. Within 24 hours, the same request with the same key gets the response "
            )
            return [_header(idempotency.HEADER, f"{text}of the first one.")]
        return []

    def _can_match(self) -> bool:
        return self.method in CHANGING and hasattr(self.view, "get")

    def get_paginated_name(self, serializer_name: str) -> str:
        is_array = isinstance(self._get_paginator(), ArrayPages)
        return f"{serializer_name}Array" if is_array else super().get_paginated_name(serializer_name)

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        queried = any(parameter["in"] == "query" for parameter in self._get_parameters())
        paged = self.method == "GET" and self._is_list_view()
        statuses = [*(["404"] if "{" in self.path or paged else [])]
        statuses += ["400"] if self.method in ("POST", "PATCH") or queried else []
        statuses += [str(status) for status in getattr(self.view, "also", ())] if self.method != "GET" else []
        statuses += ["409"] if self.method == "POST" and not self.view.returns_secret else []
        statuses += ["412"] if self._can_match() else []
        for status in dict.fromkeys([*ALWAYS, *statuses]):
            description = (ERROR_TEXTS | ALWAYS)[status]
            reference = self.resolve_serializer(ErrorResponse, "response").ref
            error = {"description": description, "content": {"application/json": {"schema": reference}}}
            bodies.setdefault(status, error)
        if self.method == "GET":
            bodies["304"] = {"description": "Your copy is current."}
        for status, body in bodies.items():
            names = [*(RATE_HEADERS if status[0] == "2" or status == "429" else ()), *SPECIAL_HEADERS.get(status, ())]
            names += ["ETag"] if self.method == "GET" and status == "200" else []
            names += [idempotency.REPLAYED] if self.method == "POST" and status[0] == "2" else []
            if names:
                body["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        return bodies


def allow_null_once(result: Any, **more: Any) -> Any:
    """Make the schema of a nullable value of any type match null once: drf-spectacular offers null and anything."""
    if isinstance(result, dict):
        if result.get("oneOf") == [{}, {"type": "null"}]:
            del result["oneOf"]
        for value in result.values():
            allow_null_once(value)
    elif isinstance(result, list):
        for value in result:
            allow_null_once(value)
    return result


Row = TypeVar("Row", bound=PublicModel)


# Parsed JSON can take thirty times the size of its text, so only one large body is parsed at a time.
LARGE_BODY = 1 << 20


@cache
def large_bodies() -> middleware.Turns:
    """Return the semaphore for large bodies in this process."""
    return middleware.Turns(1, waiting=4, seconds=10.0)


class Json(JSONParser):
    """JSON parser that rejects deeply nested bodies as a client error."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().parse(*args, **kwargs)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None


class JsonAnswer(JSONRenderer):
    """JSON renderer that falls back to ASCII for unpaired surrogates, which UTF-8 cannot encode."""

    def render(self, *args: Any, **kwargs: Any) -> bytes:
        try:
            return super().render(*args, **kwargs)
        except UnicodeEncodeError:
            self.ensure_ascii = True
            return super().render(*args, **kwargs)


class Described(SimpleMetadata):
    """OPTIONS metadata: a description of the address. The schema describes the fields of bodies."""

    def determine_actions(self, request: Request, view: Any) -> dict[str, Any]:
        """Leave out the fields: computing them would check permissions again and read choices from the database."""
        return {}


class Endpoint(GenericAPIView):
    """Base class of API endpoints."""

    schema = EndpointSchema()
    parser_classes = [Json]
    renderer_classes = [JsonAnswer]
    metadata_class = Described
    reads: tuple[str, ...] = access.STAFF
    writes: tuple[str, ...] = access.LEADS
    also: tuple[int, ...] = ()
    tag = ""
    # Whether a POST returns a secret, which must not be stored for a repeated request.
    returns_secret = False
    use: middleware.Use | None = None

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        with ExitStack() as self.held:
            return super().dispatch(request, *args, **kwargs)

    def perform_authentication(self, request: Request) -> None:
        """Count the call for its caller, also if the login fails."""
        try:
            super().perform_authentication(request)
        finally:
            if not getattr(request._request, "reads_etag", False):  # not a reading of the ETag before a change
                self.use = middleware.count_call(request)
        middleware.check_rate(self.use)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        middleware.add_rate_headers(answer, self.use)
        return answer

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self._guard(request)
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        # Compare the media type without its parameters, which the caller chooses and the parser ignores.
        if request._request.content_type.startswith("multipart/") or size <= LARGE_BODY:
            return
        if size > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // (1024 * 1024)
            raise TooLarge(f"The JSON body is larger than {limit} MB. Send a file (multipart) instead.")
        self.held.enter_context(large_bodies().turn())
        self.held.callback(self._give_back)

    def _guard(self, request: Request) -> None:
        """Replace the method that answers by one that first checks what the request's headers ask for."""
        method = str(request.method)
        if method in CHANGING and "If-Match" in request.headers:
            guarded = partial(check_unchanged, self, getattr(self, method.lower()))
            setattr(self, method.lower(), guarded)
        if method == "POST" and idempotency.HEADER in request.headers:
            self.post = partial(idempotency.respond_once, self, self.post)

    def _give_back(self) -> None:
        """Release a large body now; otherwise it stays in memory until the next garbage collection."""
        parsed = not isinstance(self.request._full_data, bytes)
        self.request._data = self.request._full_data = None
        # The objects of parsed JSON may be part of cycles. A full collection takes longer than storing a chunk.
        if parsed:
            gc.collect()

    @property
    def user(self) -> Any:
        return self.request.user

    @property
    def roles(self) -> tuple[str, ...]:
        return self.reads if self.request.method in SAFE_METHODS else self.writes

    def read_body(self, serializer: type[serializers.Serializer], *, partial: bool = False) -> dict[str, Any]:
        """Return the body, validated by a serializer."""
        checked = serializer(data=self.request.data, partial=partial, context=self.get_serializer_context())
        checked.is_valid(raise_exception=True)
        return dict(checked.validated_data)

    def respond(self, serializer: type[serializers.Serializer], row: Any, status: int = 200) -> Response:
        return Response(serializer(row, context=self.get_serializer_context()).data, status=status)


def call(
    summary: str,
    reply: type[serializers.Serializer] | None = None,
    body: type[serializers.Serializer] | None = None,
    *,
    status: int = 200,
    example: tuple[str, dict[str, Any]] | None = None,
    **schema: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for the method of an endpoint, which describes it in the OpenAPI document.

    The method gets the validated ``body``, if there is one, and returns a response, or what ``reply`` serializes.
    Without ``reply`` the status is 204. A method that checks something first reads its body itself and names its
    serializer as ``request``.
    """
    schema = {"request": body, "responses": {status: reply} if reply else {204: None}, **schema}
    if example:
        schema["examples"] = [OpenApiExample(*example, request_only=True)]

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @extend_schema(summary=summary, **schema)
        @wraps(method)
        def respond(self: Endpoint, request: Request, *args: Any, **kwargs: Any) -> Any:
            row = method(self, self.read_body(body)) if body else method(self)
            if isinstance(row, HttpResponseBase):
                return row
            return self.respond(reply, row, status) if reply else Response(status=204)

        return respond

    return decorate


class InCollection(Endpoint):
    """Base of addresses below ``collections/<slug>/``; access to the collection is checked first."""

    collection: Collection

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.collection = access.collection_for(request.user, kwargs["slug"], self.roles)

    def one(self, rows: QuerySet[Row], noun: str) -> Row:
        """Return the row of the collection with the id in the address."""
        return access.existing(rows.filter(uuid=self.kwargs["uuid"]), f"This collection has no such {noun}.")


def listed(summary: str, description: str, *parameters: OpenApiParameter) -> Callable[[type], type]:
    """Return a class decorator for a list: its description, and the parameters that it reads besides its filters."""

    def decorate(view: type) -> type:
        view.parameters = parameters  # type: ignore[attr-defined]
        return extend_schema_view(get=extend_schema(summary=summary, description=description))(view)

    return decorate


def file_responses(*extensions: str) -> dict[Any, Any]:
    """Return the OpenAPI responses of a download that can be continued, with the content types of its files."""
    kinds = [CONTENT_TYPES.get(name, "application/octet-stream").partition(";")[0] for name in extensions]
    kinds.sort(key=lambda kind: kind.startswith("text/"))  # some generators of clients read only the first one
    types = {kind: OpenApiTypes.STR if kind.startswith("text/") else OpenApiTypes.BINARY for kind in kinds}
    files = {(status, kind): type_ for status in (200, 206) for kind, type_ in types.items()}
    return {**files, 416: OpenApiResponse(description="The file ends before the requested range.")}


class AnyAccept:
    """Mixin of endpoints that return a file whatever the Accept header says."""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        return super().perform_content_negotiation(request, force=True)  # type: ignore[misc]


class Rows(Listed, InCollection):
    """Paginated list of the rows of one kind in a collection."""

    def rows(self) -> QuerySet[Any]:
        rows = super().rows()
        if issubclass(rows.model, Archivable):
            rows = rows.filter(archived_at__isnull=not wants_archived(self.request))
        return rows.filter(collection=self.collection)


def rows_called(rows: QuerySet[Row], uuids: Sequence[uuid_module.UUID], field: str, noun: str) -> list[Row]:
    """Return the collection's rows with these ids, in the order given."""
    by_uuid = {row.uuid: row for row in rows.filter(uuid__in=uuids)}
    strange = [str(uuid) for uuid in uuids if uuid not in by_uuid]
    if strange:
        raise NotValid(f"This collection has no {noun} with the ids {', '.join(strange)}.", field)
    return [by_uuid[uuid] for uuid in dict.fromkeys(uuids)]


class InRound(Endpoint):
    """Base of addresses below ``rounds/<uuid>/``; ``related`` lists the relations to read with the round."""

    round: Round
    related: tuple[str, ...] = access.AROUND_ROUND

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.round = access.round_for(request.user, kwargs["uuid"], self.roles, self.related)


CHANGING = ("PATCH", "PUT", "DELETE")


def check_unchanged(view: Any, handler: Callable[..., Response], *args: Any, **kwargs: Any) -> Response:
    """Call the handler of a change only if the object still has the ETag of ``If-Match``."""
    with transaction.atomic():
        _lock(view.request.path)
        wanted = parse_etags(view.request.headers["If-Match"])
        if (current := _current_etag(view.request, type(view), view.kwargs)) is None:
            raise Changed("This address has no ETag. Send the request without If-Match.")
        if wanted != ["*"] and current not in wanted:
            raise Changed("The object changed after you read it. Read it again, and send the change with its new ETag.")
        return handler(*args, **kwargs)


def _lock(path: str) -> None:
    """Let concurrent changes with ``If-Match`` wait for each other; on SQLite the transaction does that already."""
    if connection.vendor == "postgresql":
        key = int.from_bytes(hashlib.sha256(path.encode()).digest()[:8], signed=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])


def _current_etag(request: Request, view: Any, kwargs: dict[str, Any]) -> str | None:
    """Return the ETag that the caller would now get from this address."""
    again: Any = copy.copy(request._request)
    again.method = "GET"
    again.META = {**request.META, "REQUEST_METHOD": "GET", "CONTENT_LENGTH": "0", "QUERY_STRING": ""}
    again.reads_etag = True  # not counted for the rate limit
    again._force_auth_user, again._force_auth_token = request.user, request.auth
    response: HttpResponseBase = view.as_view()(again, **kwargs)
    if response.status_code != 200 or response.streaming:
        return None
    rendered: Any = response
    if isinstance(rendered, Response):
        rendered.render()
    return str(set_response_etag(rendered).headers["ETag"])
