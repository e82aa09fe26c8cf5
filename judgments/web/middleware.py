"""Middleware: error pages, security headers, ETags of the API, and a limit on the size of request bodies.

Django reads the body of a POST before the view runs, to look for the CSRF token, and puts its files into the temporary
folder. So a view declares that it takes files, and all others accept no more than a form needs. The same holds for
users who are only raters: no collection takes files from them. Uploads in progress count toward the account's quota.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.http import ConditionalGetMiddleware
from django.urls import Resolver404, get_resolver
from django.utils.cache import patch_vary_headers

from assay.core.counted_nouns import amount
from assay.core.errors import AssayError, NotValid, TooLarge, TooMany
from judgments.models import Job, Membership, Upload, UploadSession, User
from judgments.web import access
from judgments.web.error_responses import PREFIX, headers_of, of_nul, page_of, status_and_body

# Seconds after which an account with too many waiting files may try again.
RETRY_AFTER = 60
View = TypeVar("View", bound=Callable[..., Any])
# The allowance for the other parts of a multipart body.
AROUND_A_FILE = 1 << 20
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
# Browser features that no page uses.
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "autoplay",
        "browsing-topics",
        "camera",
        "display-capture",
        "encrypted-media",
        "geolocation",
        "gyroscope",
        "hid",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "screen-wake-lock",
        "serial",
        "usb",
        "xr-spatial-tracking",
    )
)
# Swagger's viewer sets styles in a script, which is one of our own files.
DOCS_POLICY = POLICY + "; style-src 'self' 'unsafe-inline'"


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
        is_api = request.path.startswith("/api/v1/")
        if is_api or not response.has_header("ETag"):
            response.headers.setdefault("Cache-Control", "no-store")
            patch_vary_headers(
                response, ["Cookie", "Authorization"] if request.path.startswith("/api/") else ["Cookie"]
            )
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if of_nul(error):
            error = NotValid("A text contains a NUL character. Remove it.")
        return page_of(request, error) if isinstance(error, AssayError) else None


class ApiETags(ConditionalGetMiddleware):
    """Middleware that gives responses of the API an ETag, and answers 304 to a caller who has the current version."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        return super().process_response(request, response) if request.path.startswith(PREFIX) else response


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
        raise TooLarge("You are not logged in. Log in and send the request again.")
    if is_endpoint and request.content_type == "application/json":
        return
    takes_files = getattr(view, "takes_files", False)
    if takes_files and size > settings.FORM_BYTES and request.user.is_authenticated:
        takes_files = Membership.objects.filter(user=request.user, role__in=access.STAFF).exists()
    limit = settings.MAX_UPLOAD_BYTES + AROUND_A_FILE if takes_files else settings.FORM_BYTES
    if size > limit:
        megabytes = limit // (1024 * 1024)
        raise TooLarge(
            f"The upload is {size / 1024 / 1024:,.1f} MB. The limit for this address is {megabytes:,} MB. Send a "
            "smaller file."
        )
    if size > settings.FORM_BYTES and request.user.is_authenticated:
        request.while_it_lasts.enter_context(coming(request.user, size))  # type: ignore[attr-defined]


def _size(request: HttpRequest) -> int:
    """Return the declared size; Django reads no more than that, and nothing if it is missing."""
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


@contextmanager
def coming(actor: User, size: int) -> Iterator[None]:
    """Count the bytes of an upload in progress toward the account's quota."""
    with _lock:
        before = _coming[actor.pk]
        _coming[actor.pk] += size
    try:
        check_quota(actor, before)
        yield
    finally:
        with _lock:
            _coming[actor.pk] -= size
            if not _coming[actor.pk]:
                del _coming[actor.pk]


_lock = threading.Lock()
_coming: Counter[int] = Counter()


def check_quota(actor: User, others: int = 0) -> None:
    """Refuse an upload beyond the account's quota; ``others`` are the bytes of other uploads in progress."""
    waiting = Job.objects.filter(
        created_by=actor, kind__in=["read", "import"], state__in=[Job.State.QUEUED, Job.State.RUNNING]
    ).count()
    if waiting >= settings.UPLOADS_WAITING:
        waiting_text = (
            f"{amount(waiting, 'of your files is', 'of your files are')} waiting to be read. Import this one later."
        )
        raise TooMany(waiting_text, RETRY_AFTER)
    unstored = Upload.objects.filter(created_by=actor, stored_at__isnull=True).aggregate(bytes=Sum("bytes"))
    chunked = UploadSession.objects.filter(created_by=actor, state=UploadSession.State.RECEIVING)
    arriving = chunked.aggregate(bytes=Sum("bytes"))
    if (unstored["bytes"] or 0) + (arriving["bytes"] or 0) + others >= settings.UPLOAD_QUOTA_MB << 20:
        waiting_text = f"Your files that are not stored yet have reached {settings.UPLOAD_QUOTA_MB:,} MB."
        raise TooLarge(f"{waiting_text} This is the limit per account. Store or discard some of them.")
