"""Idempotency keys: a POST that is sent again with the same ``Idempotency-Key`` gets the response of the first one.

The first request stores its key before it runs, so that a concurrent one with the same key is refused, and its response
after it has succeeded. A failed request forgets its key, because it created nothing. If the server dies in between, the
key can be used again after ``ABANDONED``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import HttpResponse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import Conflict, NotValid, TooMany
from judgments.models import IdempotentRequest

HEADER, REPLAYED = "Idempotency-Key", "Idempotent-Replayed"
LIFETIME = timedelta(hours=24)
# No request runs longer: gunicorn ends its process after 300 seconds without progress.
ABANDONED = timedelta(minutes=10)
LONGEST_KEY = 255
MOST_KEYS = 10_000
LARGEST_RESPONSE = 1 << 16
# Maximum rows per run, so that other requests do not wait for the database.
AT_ONCE = 5_000
RETRY_AFTER = 600


class KeyReused(Conflict):
    """The key belongs to another request."""

    code = "idempotency_key_reused"


class InProgress(Conflict):
    """The first request with the key has not finished."""

    code = "idempotency_key_in_progress"


class NotStored(Conflict):
    """The first request with the key succeeded, but its response is too large to store."""

    code = "idempotency_response_not_stored"


def respond_once(view: Any, handler: Callable[..., Response], *args: Any, **kwargs: Any) -> Any:
    """Return the stored response of an earlier request with this key, or run the handler and store its response."""
    request: Request = view.request
    key = request.headers[HEADER]
    if view.returns_secret:
        message = f"The response contains a secret, which is not stored. Send the request without {HEADER}."
        raise NotValid(message, HEADER)
    if not 1 <= len(key) <= LONGEST_KEY or not key.isprintable():
        raise NotValid(f"The {HEADER} must have 1 to {LONGEST_KEY} printable characters, such as a UUID.", HEADER)
    hashed_key = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    row, is_new = _row(request, hashed_key, _hash_of(request))
    if not is_new:
        return _replay(row)
    try:
        response = handler(*args, **kwargs)
    except BaseException:
        row.delete()
        raise
    if response.status_code >= 400:
        row.delete()
        return response
    has_data = isinstance(response, Response) and response.data is not None
    content = view.renderer_classes[0]().render(response.data) if has_data else b""
    row.status, row.body = response.status_code, content.decode() if len(content) <= LARGEST_RESPONSE else None
    row.save(update_fields=["status", "body"])
    return response


def _row(request: Request, key: str, hashed: str) -> tuple[IdempotentRequest, bool]:
    """Return the caller's row of this key, and whether it is new."""
    mine = IdempotentRequest.objects.filter(user_id=request.user.pk)
    now = timezone.now()
    over = Q(created_at__lt=now - LIFETIME) | Q(status=None, created_at__lt=now - ABANDONED)
    mine.filter(over, key=key).delete()
    if (row := mine.filter(key=key).first()) is None:
        if mine.count() >= MOST_KEYS:
            raise TooMany(f"You have {MOST_KEYS:,} stored idempotency keys. Each expires after 24 hours.", RETRY_AFTER)
        try:
            with transaction.atomic():
                fields = {"user_id": request.user.pk, "key": key, "request": hashed, "created_at": now}
                return IdempotentRequest.objects.create(**fields), True
        except IntegrityError:
            row = mine.get(key=key)
    if row.request != hashed:
        raise KeyReused(f"This {HEADER} belongs to another request. Use a new key for each request.", HEADER)
    return row, False


def _replay(row: IdempotentRequest) -> HttpResponse:
    if row.status is None:
        raise InProgress("The first request with this key is still running. Send the request again in a few seconds.")
    if row.body is None:
        raise NotStored("The first request with this key succeeded. Its response is too large to be sent again.")
    response = HttpResponse(row.body, status=row.status, content_type="application/json", headers={REPLAYED: "true"})
    if not row.body:
        del response.headers["Content-Type"]
    return response


def _hash_of(request: Request) -> str:
    """Return the hash of the request; with a secret key, because a body may contain a password."""
    parts = [str(request.method).encode(), request.get_full_path().encode("utf-8", "surrogatepass")]
    if request._request.content_type.startswith("multipart/"):
        for name, values in request.data.lists():  # the boundary differs each time
            for value in values:
                parts += [name.encode("utf-8", "surrogatepass"), _content_hash(value)]
    else:
        parts.append(request._request.body)
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return salted_hmac("judgments.web.idempotency", digest, algorithm="sha256").hexdigest()


def _content_hash(value: Any) -> bytes:
    if not isinstance(value, UploadedFile):
        return hashlib.sha256(str(value).encode("utf-8", "surrogatepass")).digest()
    hashed = hashlib.sha256(str(value.name).encode("utf-8", "surrogatepass"))
    for chunk in value.chunks():
        hashed.update(chunk)
    value.seek(0)
    return hashed.digest()


def forget_expired() -> int:
    """Delete expired keys with their responses; return their number."""
    expired = IdempotentRequest.objects.filter(created_at__lt=timezone.now() - LIFETIME)
    some = list(expired.order_by().values_list("pk", flat=True)[:AT_ONCE])
    removed, _ = IdempotentRequest.objects.filter(pk__in=some).delete()
    return int(removed)
