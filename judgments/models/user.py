"""Who is at the keyboard, and which programs act for them?"""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models

from judgments.models.fields import PublicModel


class User(PublicModel, AbstractUser):
    """A person with a name and a password; what they may do is said by memberships."""

    # Whoever creates a collection leads it. Operators give this right; invitation links never do.
    can_create_collections = models.BooleanField(
        default=False, help_text="Whether the person may create collections, which they then lead."
    )

    # Which key does what on the station, where it is not the usual one: {"act": "key"}.
    station_keys = models.JSONField(default=dict, blank=True)


class ApiToken(PublicModel):
    """A program's key. Only its SHA-256 is stored: the text is shown once, when it is made."""

    class Scope(models.TextChoices):
        READ = "read", "read what you may read"
        WRITE = "write", "everything that you may do"
        RATE = "rate", "be handed pairs and send judgments"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name
