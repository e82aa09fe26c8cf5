"""Users and their API tokens, counters of login attempts and API calls, and responses to repeated API requests."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models, transaction
from django.utils import timezone

from judgments.models.fields import Named, PublicModel, unique


class User(PublicModel, AbstractUser):
    """A user with a name and a password. Memberships decide what they may do."""

    # The creator of a collection leads it. Operators give this right; invitation links never do.
    can_create_collections = models.BooleanField(
        default=False, help_text="Whether the person may create collections, which they then lead."
    )

    # The user's own keyboard shortcuts on the station: {"action": "key"}.
    station_keys = models.JSONField(default=dict, blank=True)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the user; a new password revokes the tokens, whether set by the user, an admin or ``changepassword``."""
        fields = kwargs.get("update_fields")
        saved = fields is None or "password" in fields
        # Django sets `_password` for a new password. It stays empty when Django only updates the hash at login.
        changed = saved and (self._password is not None or not self.has_usable_password())
        if self._state.adding or not changed:
            super().save(*args, **kwargs)
            return
        with transaction.atomic():
            super().save(*args, **kwargs)
            self._revoke_tokens()

    def _revoke_tokens(self) -> None:
        """Revoke all tokens, because anyone who knew the old password may have created them."""
        from judgments.models import audit

        revoked = self.tokens.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())
        if revoked:
            sentence = f"the password change of {self} revoked {revoked} token{'' if revoked == 1 else 's'}"
            audit.record("tokens.revoke_all", sentence, actor=None, collection=None, target=self, tokens=revoked)


def in_90_days() -> datetime:
    """Return the default expiry of a token created now."""
    return timezone.now() + timedelta(days=ApiToken.USUAL_DAYS)


class ApiToken(Named, PublicModel):
    """A program's key. Only its SHA-256 is stored, so the text is shown once."""

    USUAL_DAYS, MOST_DAYS = 90, 365

    class Scope(models.TextChoices):
        READ = "read", "read everything that you can read"
        WRITE = "write", "do everything that you can do"
        RATE = "rate", "lease pairs and submit judgments"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(default=in_90_days, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at"]

    @property
    def expired(self) -> bool:
        """Whether the token has expired."""
        return self.expires_at <= timezone.now()


class LoginTries(models.Model):
    """A counter of attempts that decays with time. It is in the database so that all web processes share it."""

    # SHA-256 of what is counted: neither names nor addresses are readable here.
    key = models.CharField(max_length=64, primary_key=True)
    level = models.FloatField(default=0.0)
    at = models.DateTimeField(default=timezone.now, db_index=True)
    blocked_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.level:g}"


class IdempotentRequest(models.Model):
    """A request with an ``Idempotency-Key``: in progress without a status, otherwise with its response."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=64)  # hash of the key
    request = models.CharField(max_length=64)  # keyed hash of method, address and body
    status = models.PositiveSmallIntegerField(null=True)
    body = models.TextField(null=True)  # null: too large to store
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [unique("idempotent_request_once", "user", "key")]

    def __str__(self) -> str:
        return f"{self.key[:8]}: {self.status or 'in progress'}"


class ApiCalls(models.Model):
    """Calls of one caller in one period of the rate limit."""

    caller = models.CharField(max_length=64, primary_key=True)  # hash of the token, user or address
    period = models.BigIntegerField(db_index=True)
    calls = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.caller[:8]}: {self.calls}"
