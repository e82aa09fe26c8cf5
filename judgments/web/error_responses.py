"""Responses for errors: a page for people, and ``{"error": {"code", "message", "fields"}}`` for the API."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from assay.core.errors import (
    AssayError,
    Busy,
    Changed,
    Closed,
    Conflict,
    NotAllowed,
    NotFound,
    NotValid,
    TooLarge,
    TooMany,
)

# The single mapping from errors to HTTP statuses, for pages and the API.
STATUS: dict[type[AssayError], int] = {
    NotFound: 404,
    NotAllowed: 403,
    Conflict: 409,
    Closed: 410,
    Changed: 412,
    TooLarge: 413,
    TooMany: 429,
    Busy: 503,
    NotValid: 400,
    AssayError: 400,
}
TITLES = {
    400: "Invalid request",
    403: "You don't have access",
    404: "Page not found",
    409: "Conflict",
    410: "This round is closed",
    412: "Changed in the meantime",
    413: "Too large",
    429: "Too many attempts",
    503: "The server is busy",
}
CODES = {
    400: "not_valid",
    401: "not_authenticated",
    403: "not_allowed",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    410: "closed",
    412: "changed",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many",
    500: "our_mistake",
    503: "busy",
}
# The database drivers' messages about a NUL, which PostgreSQL does not accept in text.
NUL = ("NUL (0x00)", "unsupported Unicode escape", "\\u0000 cannot be converted")
PREFIX = "/api/v1/"


def status_of(error: AssayError) -> int:
    """Return the HTTP status of an error: that of its nearest listed base class."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def headers_of(error: AssayError) -> dict[str, str]:
    """Return the headers of an error response."""
    return {"Retry-After": str(error.retry_after)} if isinstance(error, (TooMany, Busy)) else {}


def of_nul(error: Exception) -> bool:
    """Return whether the database rejected a text because of a NUL, which is an error of the client."""
    return isinstance(error, ValueError | DataError) and any(words in str(error) for words in NUL)


def page_of(request: HttpRequest, error: AssayError) -> HttpResponse:
    """Return the error page."""
    status = status_of(error)
    context = {"title": TITLES[status], "message": str(error), "status": status}
    response = render(request, "404.html" if status == 404 else "error.html", context, status=status)
    for name, value in headers_of(error).items():
        response.headers[name] = value
    return response


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Convert an error of the product or the framework to the API's error response; other errors stay 500s."""
    if of_nul(error):
        error = NotValid("A text contains a NUL character. Remove it.")
    if isinstance(error, AssayError):
        status, body = status_and_body(error)
        return Response(body, status=status, headers=headers_of(error))
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    response = exception_handler(error, context)
    if response is not None:
        response.data = shape(response.status_code, *_message_and_fields(error))
    return response


def no_such_address(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return a 404 for an unknown address: a page for people, JSON for programs."""
    if request.path.startswith(PREFIX):
        return JsonResponse(shape(404, "Endpoint not found. See /api/docs/ for all endpoints."), status=404)
    return defaults.page_not_found(request, exception)


def our_mistake(request: HttpRequest) -> HttpResponse:
    """Return a 500 for an unexpected error without its cause, which is in the server's log."""
    if request.path.startswith(PREFIX):
        return JsonResponse(shape(500, "Something went wrong. The server's log has the details."), status=500)
    return defaults.server_error(request)


def status_and_body(error: AssayError | exceptions.APIException) -> tuple[int, dict[str, Any]]:
    """Return the HTTP status and the body for an error."""
    if isinstance(error, AssayError):
        status = status_of(error)
        body = shape(status, str(error), getattr(error, "fields", {}))
        if code := getattr(type(error), "code", ""):  # of the class: unreadable input has codes of its own
            body["error"]["code"] = code
        return status, body
    return error.status_code, shape(error.status_code, *_message_and_fields(error))


def shape(status: int, message: str, fields: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the JSON body of an error."""
    return {"error": {"code": CODES.get(status, "error"), "message": message, "fields": fields or {}}}


def _message_and_fields(error: Exception) -> tuple[str, dict[str, str]]:
    detail = getattr(error, "detail", str(error))
    if isinstance(error, exceptions.ValidationError):
        if isinstance(detail, dict):
            return "Some fields are not valid.", {name: _flat(value) for name, value in detail.items()}
        return _flat(detail), {}
    return str(detail), {}


def _flat(value: Any) -> str:
    """Flatten DRF's nested messages to one message per field."""
    if isinstance(value, dict):
        return " ".join(f"{name}: {_flat(part)}" for name, part in value.items())
    if isinstance(value, list):
        return " ".join(_flat(part) for part in value if part)
    return str(value)
