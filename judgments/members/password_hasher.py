"""Password hasher that limits the memory for concurrent hashes.

One Argon2 hash takes 100 MB on purpose. Without a limit, anyone who can reach the login page could use up the memory.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher

from judgments.web.concurrency_limit import Turns

WAITING, SECONDS = 20, 10.0


@cache
def turns() -> Turns:
    """Return the semaphore of this process."""
    return Turns(settings.PASSWORD_HASHES, waiting=WAITING, seconds=SECONDS)


class Argon2InTurn(Argon2PasswordHasher):
    """Django's Argon2 hasher with a limit on concurrent hashes per process (``PASSWORD_HASHES``)."""

    def encode(self, *args: Any) -> str:
        with turns().turn():
            return super().encode(*args)

    def verify(self, *args: Any) -> bool:
        with turns().turn():
            return super().verify(*args)
