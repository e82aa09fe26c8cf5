"""Check that the user entered their password recently.

A session lasts for weeks, and a browser may be left open. A token, which outlives the session, can be created only
shortly after the user has entered the password.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from assay.core.errors import Waits

KEY = "password_at"
RECENT = timedelta(minutes=10)


class LogInAgain(Waits):
    """The last login is too long ago for this action."""

    code = "log_in_again"


def note(request: HttpRequest) -> None:
    """Record in the session that the password was entered now."""
    request.session[KEY] = timezone.now().timestamp()


def on_login(sender: Any, request: HttpRequest, **more: Any) -> None:
    """Receive Django's ``user_logged_in``."""
    note(request)


def is_recent(request: HttpRequest) -> bool:
    """Return whether the password was entered within the last minutes."""
    at = request.session.get(KEY)
    return at is not None and 0 <= timezone.now().timestamp() - at <= RECENT.total_seconds()


def check(request: HttpRequest) -> None:
    """Refuse a session whose login is too long ago."""
    if not is_recent(request):
        minutes = int(RECENT.total_seconds() // 60)
        raise LogInAgain(f"Your login is older than {minutes} minutes. Log in again, or use HTTP Basic authentication.")
