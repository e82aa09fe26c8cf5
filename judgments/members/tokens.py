"""API tokens and authentication: create, revoke and check tokens, and check that a password was entered recently."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from rest_framework import authentication, permissions
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from assay.core.errors import Conflict, NotValid, Waits
from judgments.members import login_limits
from judgments.models import ApiToken, User, audit
from judgments.models.fields import Compiled, Given

KEY = "password_at"
RECENT = timedelta(minutes=10)


class LogInAgain(Waits):
    """The last login is too long ago for this action."""

    code = "log_in_again"


def note_password(request: HttpRequest) -> None:
    """Record in the session that the password was entered now."""
    request.session[KEY] = timezone.now().timestamp()


def on_login(sender: Any, request: HttpRequest, **more: Any) -> None:
    """Receive Django's ``user_logged_in``."""
    note_password(request)


def is_recent(request: HttpRequest) -> bool:
    """Return whether the password was entered within the last minutes."""
    at = request.session.get(KEY)
    return at is not None and 0 <= timezone.now().timestamp() - at <= RECENT.total_seconds()


def check_recent_login(request: HttpRequest) -> None:
    """Refuse a session whose login is too long ago."""
    if not is_recent(request):
        minutes = int(RECENT.total_seconds() // 60)
        raise LogInAgain(f"Your login is older than {minutes} minutes. Log in again, or use HTTP Basic authentication.")


PREFIX = "assay_"
# Each token has a rate limit of its own.
MOST_TOKENS = 50
# The last use is stored at most once an hour, because storing every use would be a write per request.
SEEN_EVERY = timedelta(hours=1)


@transaction.atomic
def make_token(user: User, *, name: str, scopes: list[str], days: int = ApiToken.USUAL_DAYS) -> tuple[ApiToken, str]:
    """Create a token for the user that expires after some days; only this call returns its text."""
    known = ApiToken.Scope.values
    if not name.strip():
        raise NotValid(
            "The name of the token is missing.",
            {"name": "Enter a name that states its use, for example: nightly build."},
        )
    if not scopes or not set(scopes) <= set(known):
        raise NotValid("The scopes of the token are not valid.", {"scopes": f"Choose from {', '.join(known)}."})
    if not 1 <= days <= ApiToken.MOST_DAYS:
        hint = f"Choose from 1 to {ApiToken.MOST_DAYS} days."
        raise NotValid(f"The lifetime of the token is out of range. {hint}", {"expires_in_days": hint})
    live = ApiToken.objects.filter(user=user, revoked_at=None, expires_at__gt=timezone.now())
    if live.count() >= MOST_TOKENS:
        raise Conflict(f"You have {MOST_TOKENS} tokens. Revoke one that you no longer use.")
    text = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name.strip()[:100],
        digest=digest(text),
        scopes=sorted(set(scopes)),
        expires_at=timezone.now() + timedelta(days=days),
    )
    audit.record(
        "tokens.make_token",
        f"{user} created the token {token.name}",
        actor=user,
        collection=None,
        target=token,
        scopes=token.scopes,
        expires_at=token.expires_at.isoformat(),
    )
    return token, text


@transaction.atomic
def revoke_token(token: ApiToken, *, actor: User) -> None:
    ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())
    sentence = f"{actor} revoked the token {token.name}"
    audit.record("tokens.revoke_token", sentence, actor=actor, collection=None, target=token)


def bearer(text: str) -> ApiToken | None:
    """Return the valid token with this text, or None."""
    now = timezone.now()
    rows: list[ApiToken] = LIVING(digest=digest(text), now=now)
    token = rows[0] if rows else None
    if token and (token.last_used_at is None or now - token.last_used_at > SEEN_EVERY):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


LIVING = Compiled(
    lambda: ApiToken.objects.select_related("user").filter(
        digest=Given("digest"), revoked_at__isnull=True, expires_at__gt=Given("now"), user__is_active=True
    )
)


def covers(token: Any, scope: str) -> bool:
    """Return whether the token's scopes include the required one; ``write`` includes all."""
    return scope in token.scopes or ApiToken.Scope.WRITE in token.scopes


def digest(text: str) -> str:
    """Return the SHA-256 of the token's text. It has 256 random bits, so a slow hash would add no security."""
    return hashlib.sha256(text.encode()).hexdigest()


class TokenAuthentication(authentication.BaseAuthentication):
    """``Authorization: Bearer <token>``; the first in the list, so that a missing login gives status 401."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        kind, _, text = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return None
        token = bearer(text.strip())
        if token is None:
            raise AuthenticationFailed(
                "This token is unknown, expired or revoked. Create a new token on the Tokens page."
            )
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="assay"'


class PasswordAuthentication(authentication.BasicAuthentication):
    """User name and password, with which a program gets its first token. Attempts are counted before the check."""

    www_authenticate_realm = "assay"

    def authenticate_credentials(self, userid: str, password: str, request: Request | None = None) -> Any:
        if "\0" in userid + password:  # no user has such a name, and PostgreSQL rejects the query
            raise AuthenticationFailed("Incorrect user name or password.")
        with login_limits.attempt(request, userid, login_limits.API):
            return super().authenticate_credentials(userid, password, request)


class InScope(permissions.BasePermission):
    """A logged-in caller; a token also needs the scope of the view (``read`` or ``write`` by default)."""

    message = "This token does not have the scope that this call requires. Create a token with that scope."

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user or not request.user.is_authenticated:
            return False
        if not isinstance(request.auth, ApiToken):
            return True
        default = "read" if request.method in permissions.SAFE_METHODS else "write"
        return covers(request.auth, getattr(view, "scope", None) or default)
