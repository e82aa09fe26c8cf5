"""Limits on guessing passwords and codes, and the log of logins. No limit locks anyone out permanently.

Every attempt for a name is counted before the password is checked, under a lock, so that concurrent attempts gain
nothing. An address counts only wrong passwords, because many people in an office may log in at once. Its counter is
checked again after the password, under the same lock, so that concurrent attempts beyond the limit get no answer, right
or wrong. After some wrong attempts the next one has to wait, each time twice as long. Three counters work
independently.

The counter of a name at one address slows down an attacker who guesses a password, but not the owner of the name at
another address. The counter of an address slows down an attacker who tries one password on many names. A customer of a
provider has many IPv6 addresses (a /48 contains 65,536 networks), so these are also counted together, with more
attempts allowed. The counter of a name at all addresses makes them wait a few seconds per attempt.

An address with an earlier successful login under this name does not wait for the last two counters.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from assay.core.errors import Busy, TooMany
from assay.core.text_rules import amount
from judgments.models import LoginTries, User, audit
from judgments.web.client_address import PERIODS, address_of
from judgments.web.middleware import Turns

LOG_IN, API, OLD_PASSWORD, TOKENS = "login page", "API", "password page", "token page"


def record_login_attempt(name: str, address: str, by: str, *, right: bool) -> None:
    """Record a login attempt. An unknown name is left out, because it may be a password."""
    user = User.objects.filter(username=name).first() if "\0" not in name else None
    who = str(user) if user else "an unknown name"
    verb, sentence = ("log_in", "Correct password for") if right else ("log_in_failed", "Wrong password for")
    audit.record(
        f"accounts.{verb}",
        f"{sentence} {who} from {address or 'an unknown address'} ({by})",
        actor=user if right else None,
        collection=None,
        target=user,
        address=address,
        by=by,
    )


def record_logout(user: User, address: str) -> None:
    """Record that a user logged out."""
    sentence = f"{user} logged out from {address or 'an unknown address'}"
    audit.record("accounts.log_out", sentence, actor=user, collection=None, target=user, address=address)


def record_password_change(user: User, *, actor: Any) -> None:
    """Record that the password of an account changed."""
    whose = "their password" if actor == user else f"the password of {user}"
    audit.record("accounts.change_password", f"{actor} changed {whose}", actor=actor, collection=None, target=user)


# Addresses of successful logins are forgotten after the first period, unused counters after the second.
KNOWN, OLD = timedelta(days=90), timedelta(days=7)
HIGHEST = 100_000.0
# The prefix lengths of IPv6 networks that one customer can have, and the factor for their common limit.
SITE_PREFIX, SITE_FACTOR = 48, 10


@dataclass(frozen=True)
class Limit:
    """A limit on attempts: the number without a wait, the rate at which the count falls, and the growth of the wait."""

    free: float
    per_second: float
    first: float = 1.0
    longest: float = 900.0

    def wait(self, level: float) -> float:
        """Return the seconds until the next attempt, at this count."""
        over = round(level) - self.free  # only whole attempts count: the part by which a count has fallen is no attempt
        return 0.0 if over < 0 else min(self.first * 2.0 ** min(over, 30.0), self.longest)


NAME_FROM_ADDRESS = Limit(free=10, per_second=1 / 600)
NAME = Limit(free=100, per_second=1 / 60, longest=10.0)
INVITATION = Limit(free=20, per_second=1 / 60, first=30.0)


@contextmanager
def attempt(request: Any, name: str, by: str) -> Iterator[None]:
    """Count an attempt to log in; one that ends without an exception was correct and is not counted."""
    typed, name, address = name, name.strip().casefold()[:150], address_of(request)
    pair = key_of("pair", name, address)
    known_key = key_of("known", name, address)
    known = LoginTries.objects.filter(pk=known_key, at__gt=timezone.now() - KNOWN).exists()
    names = {} if known else {key_of("name", name): NAME}
    addresses = {} if known else _address_limits(address)
    own = {pair: NAME_FROM_ADDRESS, **names}
    reserve(own, also=addresses)
    try:
        try:
            yield
        except Busy:
            raise
        except Exception:
            reserve(addresses)
            record_login_attempt(typed, address, by, right=False)
            raise
        with transaction.atomic():
            _locked({}, [*own, *addresses])  # lock all of them in the usual order, before some are locked again below
            reserve({}, also=addresses)
            refund(names)
            LoginTries.objects.filter(pk=pair).delete()
            LoginTries.objects.update_or_create(pk=known_key, defaults={"at": timezone.now()})
            record_login_attempt(typed, address, by, right=True)
    except (Busy, TooMany):
        refund(own)  # the attempt revealed nothing about the password
        raise


@transaction.atomic
def reserve(limits: Mapping[str, Limit], *, also: Collection[str] = ()) -> None:
    """Count one attempt on each counter, or on none; ``also`` lists counters that are only checked."""
    now = timezone.now()
    rows = _locked(limits, also)
    blocked = max((row.blocked_until for row in rows if row.blocked_until), default=now)
    if blocked > now:
        wait = math.ceil((blocked - now).total_seconds())
        when = amount(wait, "second") if wait < 60 else amount(math.ceil(wait / 60), "minute")
        raise TooMany(f"Too many attempts. Try again in {when}.", wait)
    for row in rows:
        if row.key in limits:
            _move(row, limits[row.key], 1.0, now)


@transaction.atomic
def refund(limits: Mapping[str, Limit]) -> None:
    """Undo one counted attempt, because it was correct. Other attempts stay counted."""
    now = timezone.now()
    for row in _locked(limits):
        _move(row, limits[row.key], -1.0, now)


def key_of(*what: str) -> str:
    """Return the key of a counter."""
    return hashlib.sha256("\0".join(what).encode("utf-8", "surrogatepass")).hexdigest()


def _locked(limits: Mapping[str, Limit], also: Collection[str] = ()) -> list[LoginTries]:
    """Return the counters, locked. Missing counters in ``limits`` are created."""
    # Always in the same order, so that two requests never wait for each other.
    rows = LoginTries.objects.select_for_update().filter(pk__in=[*limits, *also]).order_by("pk")
    existing = list(rows)
    if {row.key for row in existing}.issuperset(limits):
        return existing
    now = timezone.now()
    # Continued guessing creates no new counters, so this cleanup is cheap.
    LoginTries.objects.filter(Q(at__lt=now - KNOWN) | Q(at__lt=now - OLD, level__gt=0)).delete()
    LoginTries.objects.bulk_create([LoginTries(key=key, at=now) for key in sorted(limits)], ignore_conflicts=True)
    return list(rows.all())


def _move(row: LoginTries, limit: Limit, by: float, now: datetime) -> None:
    passed = max(0.0, (now - row.at).total_seconds())
    row.level = min(HIGHEST, max(0.0, row.level - passed * limit.per_second) + by)
    row.level, row.at = max(0.0, row.level), now
    if by > 0:
        wait = limit.wait(row.level)
        row.blocked_until = now + timedelta(seconds=wait) if wait else None
    elif round(row.level) < limit.free:
        row.blocked_until = None
    row.save(update_fields=["level", "at", "blocked_until"])


def _address_limits(address: str) -> dict[str, Limit]:
    """Return the counters of an address with their limits; an IPv6 address also counts for its networks."""
    number, _, period = settings.LOGIN_RATE.partition("/")
    free, per_second = float(number), float(number) / PERIODS[period.strip()[:1]]
    limits = {key_of("address", address): Limit(free, per_second)}
    if ":" in address and "/" in address:
        site = ipaddress.ip_network(address).supernet(new_prefix=SITE_PREFIX)
        limits[key_of("site", str(site))] = Limit(SITE_FACTOR * free, SITE_FACTOR * per_second)
    return limits


@cache
def password_turns() -> Turns:
    """Return this process's limit on hashes of passwords; one takes 100 MB on purpose, and anyone can request it."""
    return Turns(settings.PASSWORD_HASHES, waiting=20, seconds=10.0)


class Argon2InTurn(Argon2PasswordHasher):
    """Django's Argon2 hasher with a limit on concurrent hashes per process (``PASSWORD_HASHES``)."""

    def encode(self, *args: Any) -> str:
        with password_turns().turn():
            return super().encode(*args)

    def verify(self, *args: Any) -> bool:
        with password_turns().turn():
            return super().verify(*args)
