"""Middleware for every response: error pages and security headers."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import Resolver404, get_resolver
from django.utils.cache import patch_vary_headers

from assay.core.errors import AssayError, Busy, Closed, Conflict, NotAllowed, NotFound, NotValid, TooLarge, TooMany

# The single mapping from errors to HTTP statuses, for pages and the API.
STATUS: dict[type[AssayError], int] = {
    NotFound: 404,
    NotAllowed: 403,
    Conflict: 409,
    Closed: 410,
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
    413: "Too large",
    429: "Too many attempts",
    503: "The server is busy",
}
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
# Browser features that no page uses.
FEATURES = """
accelerometer autoplay browsing-topics camera display-capture encrypted-media geolocation gyroscope hid magnetometer
microphone midi payment screen-wake-lock serial usb xr-spatial-tracking
"""
PERMISSIONS = ", ".join(f"{feature}=()" for feature in FEATURES.split())
# The database drivers' messages about a NUL, which PostgreSQL does not accept in text.
NUL = ("NUL (0x00)", "unsupported Unicode escape", "\\u0000 cannot be converted")
# Swagger's viewer sets styles in a script, which is one of our own files.
DOCS_POLICY = POLICY + "; style-src 'self' 'unsafe-inline'"


def status_of(error: AssayError) -> int:
    """Return the HTTP status of an error: that of its nearest listed base class."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def headers_of(error: AssayError) -> dict[str, str]:
    """Return the headers of an error response."""
    return {"Retry-After": str(error.retry_after)} if isinstance(error, (TooMany, Busy)) else {}


class Border:
    """Middleware that turns the product's errors into pages that say what happened and what to do."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == 404 and settings.DEBUG and request.resolver_match is None:
            # Django would show its debug page for developers; visitors of the demo should see the normal page.
            response = get_resolver().resolve_error_handler(404)(request, exception=Resolver404({"path": request.path}))
        policy = DOCS_POLICY if request.path.startswith("/api/docs/") else POLICY
        if settings.REMOTE_IMAGES:
            # Pictures of documents may come from networks without TLS; a page that came over TLS loads none without it.
            policy = policy.replace("data:", "data: https:" if request.is_secure() else "data: https: http:")
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        # No browser or proxy may store a user's page for someone else.
        if not response.has_header("ETag"):
            response.headers.setdefault("Cache-Control", "no-store")
            patch_vary_headers(
                response, ["Cookie", "Authorization"] if request.path.startswith("/api/") else ["Cookie"]
            )
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if of_nul(error):
            error = NotValid("A text contains a NUL character. Remove it.")
        return page_of(request, error) if isinstance(error, AssayError) else None


def of_nul(error: Exception) -> bool:
    """Return whether the database rejected a text because of a NUL, which is an error of the client."""
    return isinstance(error, ValueError | DataError) and any(words in str(error) for words in NUL)


def page_of(request: HttpRequest, error: AssayError) -> HttpResponse:
    status = status_of(error)
    context = {"title": TITLES[status], "message": str(error), "status": status}
    response = render(request, "404.html" if status == 404 else "error.html", context, status=status)
    for name, value in headers_of(error).items():
        response.headers[name] = value
    return response
