"""Limits on uploads: the size of request bodies, checked before a body is read, and the quota of waiting files."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse, JsonResponse

from assay.core.counted_nouns import amount
from assay.core.errors import TooLarge, TooMany
from judgments.models import Job, Membership, Upload, User
from judgments.web import access
from judgments.web.errors import headers_of, page_of, status_and_body

# Seconds after which an account with too many waiting files may try again.
RETRY_AFTER = 60


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
    if (unstored["bytes"] or 0) + others >= settings.UPLOAD_QUOTA_MB << 20:
        waiting_text = f"Your previewed files that are not stored yet have reached {settings.UPLOAD_QUOTA_MB:,} MB."
        raise TooLarge(f"{waiting_text} This is the limit per account. Store or discard some of them.")


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
