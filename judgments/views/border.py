"""What does the border do with every answer: errors in words, and headers that keep strangers' code out?"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import Resolver404, get_resolver

from judgments.core.errors import AssayError, Busy, Closed, Conflict, NotAllowed, NotFound, NotValid, TooLarge, TooMany

# The one place where an error becomes an HTTP status, for pages and the API alike.
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
    400: "That could not be used",
    403: "Your role does not cover this",
    404: "There is nothing at this address",
    409: "That collides with what is there",
    410: "This round is closed",
    413: "That is too large",
    429: "Too many tries",
    503: "The server is busy",
}
POLICY = (
    "default-src 'self'; img-src 'self' data: https:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
# Swagger's viewer sets styles from script; its script itself is a file of ours.
DOCS_POLICY = POLICY + "; style-src 'self' 'unsafe-inline'"


def status_of(error: AssayError) -> int:
    """The HTTP status of an error: that of its nearest named ancestor."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def headers_of(error: AssayError) -> dict[str, str]:
    """Return the headers that an error is answered with."""
    return {"Retry-After": str(error.retry_after)} if isinstance(error, (TooMany, Busy)) else {}


class Border:
    """Middleware: an error of ours becomes a page that says what happened, where and what to do."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == 404 and settings.DEBUG and request.resolver_match is None:
            # Django would show its own page, made for us; people who only look at the demo should see theirs.
            response = get_resolver().resolve_error_handler(404)(request, exception=Resolver404({"path": request.path}))
        policy = DOCS_POLICY if request.path.startswith("/api/docs/") else POLICY
        if not request.is_secure():
            # Pictures of documents in a network without TLS; a page that came over TLS fetches none in the clear.
            policy = policy.replace("https:", "https: http:")
        response.headers.setdefault("Content-Security-Policy", policy)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, AssayError):
            return None
        return page_of(request, error)


def page_of(request: HttpRequest, error: AssayError) -> HttpResponse:
    """Return the page that says what happened."""
    status = status_of(error)
    context = {"title": TITLES[status], "message": str(error), "status": status}
    response = render(request, "404.html" if status == 404 else "error.html", context, status=status)
    for name, value in headers_of(error).items():
        response.headers[name] = value
    return response
