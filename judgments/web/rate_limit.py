"""Rate limit of the API: calls per period and caller, which is a token, a user with a session, or an address.

All processes count together: in Redis if there is one, otherwise in the database, from which each process reserves some
calls at a time. This keeps writes rare. A caller never gets more calls than the limit, and loses only those that other
processes have reserved.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Case, F, Value, When
from django.http.response import HttpResponseBase
from rest_framework.request import Request

from assay.core.errors import TooMany
from judgments.models import ApiCalls, ApiToken
from judgments.web.client_address import PERIODS, address_of

OFF = "off"
# A process reserves this part of the limit at a time.
PART = 20
_lock = threading.Lock()


class Use(NamedTuple):
    """A caller's use of the limit: the calls left, below 0 if this one is too many, and the seconds until it resets."""

    limit: int
    left: int
    reset: int


def count(request: Request) -> Use | None:
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
    with _lock:
        reserved, others = cache.get(key) or (0, limit)
        if reserved:
            cache.set(key, (reserved - 1, others), reset + 1)
            return int(reserved - 1 + others)
        if others <= 0:
            return -1
    block = max(1, limit // PART)
    before = _reserve(caller, period, block) - block
    granted = min(block, limit - before)
    with _lock:
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


def check(use: Use | None) -> None:
    """Refuse a call beyond the limit."""
    if use is not None and use.left < 0:
        text = f"You have sent more requests than {settings.API_RATE}. Try again in {use.reset} seconds."
        raise TooMany(text, use.reset)


def add_headers(response: HttpResponseBase, use: Use | None) -> None:
    if use is not None:
        values = {"Limit": use.limit, "Remaining": max(0, use.left), "Reset": use.reset}
        for name, value in values.items():
            response.headers[f"RateLimit-{name}"] = str(value)


def forget_old() -> int:
    """Delete the counters of earlier periods; return their number."""
    rows = ApiCalls.objects.all()
    if settings.API_RATE != OFF:
        rows = rows.filter(period__lt=int(time.time() // _rate()[1]) - 1)
    return int(rows.delete()[0])
