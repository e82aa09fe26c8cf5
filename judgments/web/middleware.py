"""Middleware and limits of requests: error pages, security headers, ETags, sizes of bodies, rates, and costly work.

Django reads the body of a POST before the view runs, to look for the CSRF token, and puts its files into the temporary
folder. So a view declares that it takes files, and all others accept no more than a form needs. The same holds for
users who are only raters: no collection takes files from them. Uploads in progress count toward the account's quota.

The API limits the calls per period and caller, which is a token, a user with a session, or an address. All processes
count together: in Redis if there is one, otherwise in the database, from which each process reserves some calls at a
time. This keeps writes rare. A caller never gets more calls than the limit, and loses only those that other processes
have reserved. Costly work of requests, such as password hashes, waits for a turn in its process.
"""

from __future__ import annotations

import functools
import hashlib
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Case, F, Sum, Value, When
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.urls import Resolver404, get_resolver
from django.utils.cache import patch_vary_headers
from rest_framework.request import Request

from assay.core.errors import AssayError, Busy, NotValid, TooLarge, TooMany
from assay.core.text_rules import amount
from judgments.models import ApiCalls, ApiToken, Job, Membership, Upload, UploadSession, User
from judgments.web import access
from judgments.web.client_address import PERIODS, address_of
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


OFF = "off"
# The part of the rate limit that a process reserves at a time.
RATE_PART = 20
_reserving = threading.Lock()


class Use(NamedTuple):
    """A caller's use of the limit: the calls left, below 0 if this one is too many, and the seconds until it resets."""

    limit: int
    left: int
    reset: int


def count_call(request: Request) -> Use | None:
    """Count this call; None if there is no limit."""
    if settings.API_RATE == OFF:
        return None
    limit, seconds = _rate()
    now = time.time()
    period = int(now // seconds)
    reset = math.ceil((period + 1) * seconds - now)
    caller = hashlib.sha256(f"{_caller(request)} in {seconds}".encode()).hexdigest()
    take = _from_redis if settings.REDIS_URL else _from_database
    return Use(limit, take(caller, period, limit, reset), reset)


def _rate() -> tuple[int, int]:
    number, _, period = settings.API_RATE.partition("/")
    return int(number), PERIODS[period.strip()[:1]]


def _caller(request: Request) -> str:
    """Return who calls. The attributes are private because reading the public ones again repeats a failed login."""
    token, user = getattr(request, "_auth", None), getattr(request, "_user", None)
    if isinstance(token, ApiToken):
        return f"token {token.pk}"
    return f"user {user.pk}" if user is not None and user.is_authenticated else f"address {address_of(request)}"


def _from_redis(caller: str, period: int, limit: int, reset: int) -> int:
    key = f"api-rate:{caller}:{period}"
    cache.add(key, 0, reset + 1)
    return limit - int(cache.incr(key))


def _from_database(caller: str, period: int, limit: int, reset: int) -> int:
    """Take a call from those that this process has reserved, or reserve more."""
    key = f"api-rate:{caller}:{period}"
    with _reserving:
        reserved, others = cache.get(key) or (0, limit)
        if reserved:
            cache.set(key, (reserved - 1, others), reset + 1)
            return int(reserved - 1 + others)
        if others <= 0:
            return -1
    block = max(1, limit // RATE_PART)
    before = _reserve(caller, period, block) - block
    granted = min(block, limit - before)
    with _reserving:
        reserved, _ = cache.get(key) or (0, limit)
        cache.set(key, (reserved + max(0, granted - 1), max(0, limit - before - block)), reset + 1)
    return limit - before - 1 if granted > 0 else -1


@transaction.atomic
def _reserve(caller: str, period: int, block: int) -> int:
    """Add the calls to the caller's counter of this period; return its new value."""
    mine = ApiCalls.objects.filter(pk=caller)
    added = Case(When(period=period, then=F("calls") + block), default=Value(block))
    if not mine.update(calls=added, period=period):
        ApiCalls.objects.bulk_create([ApiCalls(caller=caller, period=period, calls=0)], ignore_conflicts=True)
        mine.update(calls=added, period=period)
    return int(mine.values_list("calls", flat=True).get())


def check_rate(use: Use | None) -> None:
    """Refuse a call beyond the limit."""
    if use is not None and use.left < 0:
        text = f"You have sent more requests than {settings.API_RATE}. Try again in {use.reset} seconds."
        raise TooMany(text, use.reset)


def add_rate_headers(response: HttpResponseBase, use: Use | None) -> None:
    if use is not None:
        values = {"Limit": use.limit, "Remaining": max(0, use.left), "Reset": use.reset}
        for name, value in values.items():
            response.headers[f"RateLimit-{name}"] = str(value)


def forget_old_calls() -> int:
    """Delete the counters of earlier periods; return their number."""
    rows = ApiCalls.objects.all()
    if settings.API_RATE != OFF:
        rows = rows.filter(period__lt=int(time.time() // _rate()[1]) - 1)
    return int(rows.delete()[0])


class Turns:
    """A limit on concurrent work. Further callers wait for a turn and are refused after a time limit."""

    def __init__(self, at_once: int, *, waiting: int, seconds: float) -> None:
        self.at_once, self.waiting, self.seconds = at_once, waiting, seconds
        self._working = threading.BoundedSemaphore(at_once)
        self._present = threading.BoundedSemaphore(at_once + waiting)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn and hold it inside the ``with`` block."""
        with self._taken(self._present, 0.0), self._taken(self._working, self.seconds):
            yield

    @contextmanager
    def _taken(self, semaphore: threading.BoundedSemaphore, seconds: float) -> Iterator[None]:
        if not semaphore.acquire(timeout=seconds):
            raise Busy("The server is busy. Try again in 5 seconds.", 5)
        try:
            yield
        finally:
            semaphore.release()


@functools.cache
def outside_turns() -> Turns:
    """Return this process's limit on tests of engines and models; a test holds a thread until the service responds."""
    return Turns(4, waiting=4, seconds=5.0)
