"""Counters of wrong passwords, by name and by address."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class LoginTries(models.Model):
    """A counter of attempts that decays with time. It is in the database so that all web processes share it."""

    # SHA-256 of what is counted: neither names nor addresses are readable here.
    key = models.CharField(max_length=64, primary_key=True)
    level = models.FloatField(default=0.0)
    at = models.DateTimeField(default=timezone.now, db_index=True)
    blocked_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.level:g}"
