"""Users and the API tokens of their programs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models, transaction
from django.utils import timezone

from judgments.models.fields import PublicModel


class User(PublicModel, AbstractUser):
    """A person with a name and a password; what they may do is said by memberships."""

    # Whoever creates a collection leads it. Operators give this right; invitation links never do.
    can_create_collections = models.BooleanField(
        default=False, help_text="Whether the person may create collections, which they then lead."
    )

    # Which key does what on the station, where it is not the usual one: {"act": "key"}.
    station_keys = models.JSONField(default=dict, blank=True)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save; another password revokes the tokens, whoever sets it: the person, the admin or ``changepassword``."""
        fields = kwargs.get("update_fields")
        saved = fields is None or "password" in fields
        # `_password` is Django's mark of a new password. A hash that is only made anew, at log-in, leaves it empty.
        changed = saved and (self._password is not None or not self.has_usable_password())
        if self._state.adding or not changed:
            super().save(*args, **kwargs)
            return
        from judgments import tokens

        with transaction.atomic():
            super().save(*args, **kwargs)
            tokens.revoke_all(self)


def in_90_days() -> datetime:
    """Return when a token that is made now expires, if nobody says otherwise."""
    return timezone.now() + timedelta(days=ApiToken.USUAL_DAYS)


class ApiToken(PublicModel):
    """A program's key. Only its SHA-256 is stored: the text is shown once, when it is made."""

    USUAL_DAYS, MOST_DAYS = 90, 365

    class Scope(models.TextChoices):
        READ = "read", "read what you may read"
        WRITE = "write", "everything that you may do"
        RATE = "rate", "be handed pairs and send judgments"

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

    def __str__(self) -> str:
        return self.name

    @property
    def expired(self) -> bool:
        """Whether it opens nothing any more because of its age."""
        return self.expires_at <= timezone.now()
