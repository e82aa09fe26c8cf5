"""What the API remembers of its callers: responses to repeated requests, and calls counted for the rate limit."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from judgments.models.fields import unique


class IdempotentRequest(models.Model):
    """A request with an ``Idempotency-Key``: in progress without a status, otherwise with its response."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
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
