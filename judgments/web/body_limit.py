"""Limit on the size of request bodies, checked before a body is read.

Django reads the body of a POST before the view runs, to look for the CSRF token, and puts its files into the
temporary folder. So a view declares that it takes files, and all others accept no more than a form needs. The same
holds for users who are only raters: no collection takes files from them. Uploads in progress count toward the
account's quota.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from assay.core.errors import TooLarge, TooMany
from judgments.models import Membership
from judgments.web import access
from judgments.web.api_errors import status_and_body
from judgments.web.middleware import headers_of, page_of
from judgments.web.upload_quota import coming

View = TypeVar("View", bound=Callable[..., Any])
# The allowance for the other parts of a multipart body.
AROUND_A_FILE = 1 << 20


def takes_files(view: View) -> View:
    """Let logged-in users send files to the view."""
    view.takes_files = True  # type: ignore[attr-defined]
    return view


class Bodies:
    """Middleware that rejects an oversized body with 413 without reading it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with ExitStack() as request.while_it_lasts:  # type: ignore[attr-defined]
            return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        endpoint = getattr(view, "cls", None)
        try:
            _check(request, endpoint or view, endpoint is not None)
        except (TooLarge, TooMany) as error:
            if endpoint is None:
                return page_of(request, error)
            status, body = status_and_body(error)
            return JsonResponse(body, status=status, headers=headers_of(error))
        return None


def _check(request: HttpRequest, view: Any, is_endpoint: bool) -> None:
    size = _size(request)
    if size <= settings.STRANGERS_BODY_BYTES:
        return
    # An endpoint reads nothing before authentication, and JSON only up to its own limit.
    if not request.user.is_authenticated and not (is_endpoint and "Authorization" in request.headers):
        raise TooLarge("You are not logged in. Log in and send it again.")
    if is_endpoint and request.content_type == "application/json":
        return
    takes_files = getattr(view, "takes_files", False)
    if takes_files and size > settings.FORM_BYTES and request.user.is_authenticated:
        takes_files = Membership.objects.filter(user=request.user, role__in=access.STAFF).exists()
    limit = settings.MAX_UPLOAD_BYTES + AROUND_A_FILE if takes_files else settings.FORM_BYTES
    if size > limit:
        megabytes = limit // (1024 * 1024)
        raise TooLarge(f"The upload is {size / 1024 / 1024:,.1f} MB. The limit for this address is {megabytes:,} MB.")
    if size > settings.FORM_BYTES and request.user.is_authenticated:
        request.while_it_lasts.enter_context(coming(request.user, size))  # type: ignore[attr-defined]


def _size(request: HttpRequest) -> int:
    """Return the declared size; Django reads no more than that, and nothing if it is missing."""
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
