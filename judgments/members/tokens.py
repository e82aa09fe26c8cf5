"""API tokens: create, revoke and check them."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from assay.core.errors import NotValid
from judgments.models import ApiToken, User, audit
from judgments.models.fields import Compiled, Given

PREFIX = "assay_"
# The last use is stored at most once an hour, because storing every use would be a write per request.
SEEN_EVERY = timedelta(hours=1)


@transaction.atomic
def make_token(user: User, *, name: str, scopes: list[str], days: int = ApiToken.USUAL_DAYS) -> tuple[ApiToken, str]:
    """Create a token for the user that expires after some days; only this call returns its text."""
    known = ApiToken.Scope.values
    if not name.strip():
        raise NotValid(
            "The name of the token is missing.", {"name": "Enter a name for its use, for example: nightly build."}
        )
    if not scopes or not set(scopes) <= set(known):
        raise NotValid("The scopes of the token are not valid.", {"scopes": f"Choose from {', '.join(known)}."})
    if not 1 <= days <= ApiToken.MOST_DAYS:
        hint = f"Choose from 1 to {ApiToken.MOST_DAYS} days."
        raise NotValid(f"The lifetime of the token is not valid. {hint}", {"expires_in_days": hint})
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
    """Revoke a token."""
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
