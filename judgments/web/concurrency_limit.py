"""Limits on concurrent expensive work in one process, such as password hashes, and on the time that others wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher

from assay.core.errors import Busy


class Turns:
    """A limit on concurrent work. Further callers wait for a turn and are refused after a time limit."""

    def __init__(self, at_once: int, *, waiting: int, seconds: float) -> None:
        self.at_once, self.waiting, self.seconds = at_once, waiting, seconds
        self._changed = threading.Condition()
        self._working = self._queued = 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn and hold it inside the ``with`` block."""
        self._take()
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify()

    def _take(self) -> None:
        until = time.monotonic() + self.seconds
        with self._changed:
            if self._working >= self.at_once and self._queued >= self.waiting:
                raise self._busy()
            self._queued += 1
            try:
                free = self._changed.wait_for(lambda: self._working < self.at_once, until - time.monotonic())
            finally:
                self._queued -= 1
            if not free:
                raise self._busy()
            self._working += 1

    def _busy(self) -> Busy:
        return Busy("The server is busy. Try again in 5 seconds.", 5)


@cache
def outside_turns() -> Turns:
    """Return this process's limit on tests of engines and models; a test holds a thread until the service responds."""
    return Turns(4, waiting=4, seconds=5.0)


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
